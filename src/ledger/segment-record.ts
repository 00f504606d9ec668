// What stands in the frames of a segment, and how its file is called.
//
//   batches-0000000051.log    [ head ][ batch 51 ][ batch 52 ] … [ batch 80 ][ seal ]
//   batches-0000000081.log    [ head ][ batch 81 ] …
//
//   record   kind u8 | number u48 | digest 16 | body                       (23 bytes + body)
//
// A batch carries its own number and the digest of the batch before it. A head carries number and
// digest of the batch its segment follows, and whose crawl it is; a seal those of the last batch, and says that a
// segment follows. So a segment that is missing, exchanged or of another crawl breaks the chain, at the
// end as well: the last segment is the one without a seal.
//
// A digest is the SHA-256 of the whole record, cut to 16 bytes: the digest of its predecessor is in it, so
// it stands for everything before. A checksum of 32 bits would do against accidents, but not against a
// segment of an older copy of the same crawl put beside thousands of others for years.

import { hash } from 'node:crypto'
import type { CrawlIdentity } from './ledger.ts'

/** Changes whenever an older Portolan could not read what we write, or we not what it wrote. */
export const SEGMENT_FORMAT_VERSION = 3

const KINDS = ['head', 'batch', 'seal'] as const
export type RecordKind = (typeof KINDS)[number]

const DIGEST_BYTES = 16
const RECORD_HEAD_BYTES = 1 + 6 + DIGEST_BYTES

export interface SegmentRecord {
  readonly kind: RecordKind
  readonly number: number
  readonly digest: Buffer
  readonly body: Buffer
}

export function encodeRecord(
  kind: RecordKind,
  number: number,
  digest: Buffer,
  body: Uint8Array = new Uint8Array(),
): Buffer {
  const record = Buffer.allocUnsafe(RECORD_HEAD_BYTES + body.length)
  record.writeUInt8(KINDS.indexOf(kind), 0)
  record.writeUIntLE(number, 1, 6)
  digest.copy(record, 7)
  record.set(body, RECORD_HEAD_BYTES)
  return record
}

/** Null for bytes that are no record: their checksum was right, so somebody else wrote them. */
export function decodeRecord(payload: Buffer): SegmentRecord | null {
  const kind = payload.length < RECORD_HEAD_BYTES ? undefined : KINDS[payload.readUInt8(0)]
  if (kind === undefined) return null
  const number = payload.readUIntLE(1, 6)
  return { kind, number, digest: payload.subarray(7, RECORD_HEAD_BYTES), body: payload.subarray(RECORD_HEAD_BYTES) }
}

/** What the next batch carries of this record. */
export function digestOf(record: Uint8Array): Buffer {
  return hash('sha256', record, 'buffer').subarray(0, DIGEST_BYTES)
}

/** What the batch after this one carries, and with it everything before: `follows` is what this one carries. */
export function chainDigest(number: number, follows: Buffer, body: Uint8Array): Buffer {
  return digestOf(encodeRecord('batch', number, follows, body))
}

/** What the first batch of a crawl follows. */
export function originDigest(identity: CrawlIdentity): Buffer {
  return digestOf(encodeIdentity(identity))
}

export function encodeIdentity(identity: CrawlIdentity): Buffer {
  return Buffer.from(JSON.stringify(identity))
}

export function decodeIdentity(body: Buffer): CrawlIdentity | null {
  try {
    return JSON.parse(body.toString()) as CrawlIdentity
  } catch {
    return null
  }
}

const NAME = /^batches-(\d{10,15})\.log$/

export function segmentName(firstNumber: number): string {
  return `batches-${String(firstNumber).padStart(10, '0')}.log`
}

/** The number of the first batch in a segment of this name; null where it is not one. */
export function firstNumberOf(name: string): number | null {
  const digits = NAME.exec(name)?.[1]
  if (digits === undefined) return null
  const first = Number(digits)
  return first >= 1 && segmentName(first) === name ? first : null
}
