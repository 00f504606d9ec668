// Numbers as LevelDB writes them: seven bits a byte, the lowest first, the eighth says that more follow.

/** Larger than anything that is counted here, and still a whole number. */
const UNIT_MAX = 2 ** 49

export class VarintReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  get hasOnlyZerosLeft(): boolean {
    return this.#bytes.subarray(this.#at).every((byte) => byte === 0)
  }

  /** NaN when there is none: no comparison with it holds, and bytes() of it is null. */
  number(): number {
    let value = 0
    for (let unit = 1; unit <= UNIT_MAX; unit *= 128) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) return Number.NaN
      value += (byte & 127) * unit
      if (byte < 128) return value
    }
    return Number.NaN
  }

  /** The next so many bytes; null when there are less. */
  bytes(count: number): Buffer | null {
    if (!(this.#at + count <= this.#bytes.length)) return null
    this.#at += count
    return this.#bytes.subarray(this.#at - count, this.#at)
  }
}

export function encodeVarint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  bytes.push(rest)
  return Buffer.from(bytes)
}
