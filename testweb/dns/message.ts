// DNS messages as far as one question and a few answers need (RFC 1035).

export interface Question {
  readonly id: number
  /** Flags as sent, of which only RD is copied. */
  readonly flags: number
  /** Lower case, without the last dot. */
  readonly name: string
  readonly type: number
  /** The question section as it came: letter case must be given back as asked. */
  readonly section: Buffer
}

export const TYPE = { A: 1, CNAME: 5, SOA: 6, AAAA: 28 } as const
export const CODE = { ok: 0, formatError: 1, serverFailed: 2, noName: 3, notImplemented: 4, refused: 5 } as const

export type Data =
  | { readonly type: 'A' | 'AAAA'; readonly address: string }
  | { readonly type: 'CNAME'; readonly target: string }

export interface Record {
  readonly name: string
  readonly ttlS: number
  readonly data: Data
}

export interface Reply {
  readonly code: number
  readonly answers: readonly Record[]
  /** Only as much of the answer as says: come back over TCP. */
  readonly isTruncated: boolean
  /** Negative answers carry a SOA record whose TTL says how long they hold. */
  readonly negativeTtlS: number | null
}

const HEADER_BYTES = 12
const CLASS_INTERNET = 1
const FLAG_RESPONSE = 0x8000
const FLAG_AUTHORITATIVE = 0x0400
const FLAG_TRUNCATED = 0x0200
const FLAG_RECURSION_DESIRED = 0x0100
const FLAG_RECURSION_AVAILABLE = 0x0080

/** Null for what is not a question we could answer. */
export function readQuestion(message: Buffer): Question | null {
  if (message.length < HEADER_BYTES + 5 || message.readUInt16BE(4) !== 1) return null
  const labels: string[] = []
  let at = HEADER_BYTES
  for (;;) {
    const length = message[at]
    if (length === undefined || length > 63) return null
    at++
    if (length === 0) break
    labels.push(message.toString('latin1', at, at + length))
    at += length
  }
  if (at + 4 > message.length) return null
  return {
    id: message.readUInt16BE(0),
    flags: message.readUInt16BE(2),
    name: labels.join('.').toLowerCase(),
    type: message.readUInt16BE(at),
    section: message.subarray(HEADER_BYTES, at + 4),
  }
}

export function writeReply(question: Question, reply: Reply): Buffer {
  const answers = reply.isTruncated ? [] : reply.answers
  const authority = reply.negativeTtlS === null ? [] : [soa(question.name, reply.negativeTtlS)]
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt16BE(question.id, 0)
  const flags =
    FLAG_RESPONSE |
    FLAG_AUTHORITATIVE |
    FLAG_RECURSION_AVAILABLE |
    (question.flags & FLAG_RECURSION_DESIRED) |
    (reply.isTruncated ? FLAG_TRUNCATED : 0) |
    reply.code
  header.writeUInt16BE(flags, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(answers.length, 6)
  header.writeUInt16BE(authority.length, 8)
  return Buffer.concat([header, question.section, ...answers.map(writeRecord), ...authority])
}

function writeRecord({ name, ttlS, data }: Record): Buffer {
  if (data.type === 'CNAME') return record(name, TYPE.CNAME, ttlS, writeName(data.target))
  const bytes = data.type === 'A' ? Buffer.from(data.address.split('.').map(Number)) : ipv6Bytes(data.address)
  return record(name, TYPE[data.type], ttlS, bytes)
}

function soa(name: string, ttlS: number): Buffer {
  const zone = name.slice(name.lastIndexOf('.') + 1)
  const numbers = Buffer.alloc(20)
  ;[1, 3_600, 600, 86_400, ttlS].forEach((value, i) => numbers.writeUInt32BE(value, i * 4))
  return record(
    zone,
    TYPE.SOA,
    ttlS,
    Buffer.concat([writeName(`ns.${zone}`), writeName(`hostmaster.${zone}`), numbers]),
  )
}

function record(name: string, type: number, ttlS: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(CLASS_INTERNET, 2)
  fixed.writeUInt32BE(ttlS, 4)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([writeName(name), fixed, data])
}

function writeName(name: string): Buffer {
  const parts: Buffer[] = []
  for (const label of name.split('.')) {
    if (label !== '') parts.push(Buffer.from([label.length]), Buffer.from(label, 'latin1'))
  }
  return Buffer.concat([...parts, Buffer.from([0])])
}

/** Of an address with one `::` or none. */
function ipv6Bytes(address: string): Buffer {
  const [head = '', tail] = address.split('::')
  const before = groups(head)
  const after = groups(tail ?? '')
  const all = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after]
  const bytes = Buffer.alloc(16)
  all.forEach((group, i) => bytes.writeUInt16BE(group, i * 2))
  return bytes
}

function groups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}
