// Just enough DER (X.690) to write a certificate. Node can sign and export keys, but not put a
// certificate together, and a certificate kept in the repository would expire one day.

export function der(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

export const sequence = (...parts: Uint8Array[]): Buffer => der(0x30, ...parts)
export const set = (...parts: Uint8Array[]): Buffer => der(0x31, ...parts)
export const octets = (bytes: Uint8Array): Buffer => der(0x04, bytes)
export const boolean = (value: boolean): Buffer => der(0x01, Buffer.from([value ? 0xff : 0]))
export const utf8 = (text: string): Buffer => der(0x0c, Buffer.from(text, 'utf8'))
/** A context tag around whole values. */
export const explicit = (tag: number, ...parts: Uint8Array[]): Buffer => der(0xa0 | tag, ...parts)
/** A context tag in place of a primitive's own. */
export const implicit = (tag: number, bytes: Uint8Array): Buffer => der(0x80 | tag, bytes)

/** A whole number that is not negative, big-endian. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start++
  const rest = bytes.subarray(start)
  // A leading one bit would make it negative.
  return ((rest[0] ?? 0) & 0x80) === 0 ? der(0x02, rest) : der(0x02, Buffer.from([0]), rest)
}

/** All bits of the bytes, or without the last few. */
export function bits(bytes: Uint8Array, unused = 0): Buffer {
  return der(0x03, Buffer.from([unused]), bytes)
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const part of rest) {
    const groups = [part & 0x7f]
    for (let left = part >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80)
    bytes.push(...groups)
  }
  return der(0x06, Buffer.from(bytes))
}

/** RFC 5280: two digits of the year until 2049, four from 2050 on. */
export function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+/g, '')
  return Number(digits.slice(0, 4)) < 2050 ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits))
}
