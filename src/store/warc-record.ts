// WARC 1.1 records from documents. Hot: a record is planned as two strings and a body, its size is
// known before a byte is written, and it is built in place; no piece is copied twice.
//
//    WARC/1.1 CRLF fields… WARC-Block-Digest: sha256: │ 64 hex │ CRLF CRLF │ block │ body │ CRLF CRLF
//    └────────────────── head ───────────────────────┘   └ filled in once block and body stand
//
// The HTTP response is its head as it came (or, where the document lacks it, rebuilt from the raw header
// pairs in their order) and the payload as it came with the transfer coding undone. A `Transfer-Encoding` header would make readers
// undo it again, so it is kept as `X-Orig-Transfer-Encoding` (Browsertrix does the same; docs/formats.md).
// Digests are `sha256:` with hex, as warcio writes them.

import { createHash, hash } from 'node:crypto'
import { assert } from '../base/index.ts'
import type { Body, Document } from '../document/index.ts'
import { type ArchiveFacts, isRevisit } from './archive.ts'

const CRLF = '\r\n'
const DIGEST_HEX = 64
/** Keeps the place of the digest until it is known. */
const NO_DIGEST = `${'0'.repeat(DIGEST_HEX)}${CRLF}${CRLF}`
const CR = 13
const LF = 10
/** Behind the head: digest, end of the header, end of the record. */
const FRAMING_BYTES = DIGEST_HEX + 4 + 4
const REVISIT_PROFILE = 'http://netpreserve.org/warc/1.1/revisit/identical-payload-digest'
/** Longer hop paths are written as Heritrix does: how many came before, a plus sign, the last 50. */
const HOPS_MAX = 50

/** A record ready to be written. `head` and `block` hold one byte per character. */
export interface PlannedRecord {
  readonly head: string
  readonly block: string
  readonly body: Body | null
  /** Bytes of the whole record, uncompressed. */
  readonly bytes: number
}

export interface RecordSettings {
  readonly uuid: () => string
  readonly requests: boolean
  readonly metadata: boolean
}

/** The records of one document; the first is its response or revisit. */
export function planRecords(document: Document, facts: ArchiveFacts, settings: RecordSettings): PlannedRecord[] {
  const id = settings.uuid()
  const date = new Date(document.fetchedAtMs).toISOString()
  // Fields that all records of the capture share.
  const capture = `WARC-Date: ${date}${CRLF}WARC-Target-URI: ${document.url}${CRLF}`
  const address = `WARC-IP-Address: ${document.ip}${CRLF}`
  const concurrent = `WARC-Concurrent-To: <urn:uuid:${id}>${CRLF}`
  const records = [planResponse(document, facts, id, `${capture}${address}`)]
  if (settings.requests) {
    const fields = `${capture}${address}${concurrent}Content-Type: application/http; msgtype=request${CRLF}`
    records.push(plan('request', settings.uuid(), fields, document.requestHead, null))
  }
  if (settings.metadata) {
    const fields = `${capture}${concurrent}Content-Type: application/warc-fields${CRLF}`
    records.push(plan('metadata', settings.uuid(), fields, metadataBlock(document, facts), null))
  }
  return records
}

/** The record that opens a file. Fields without a value are left out. */
export function planWarcinfo(
  info: Readonly<Record<string, string>>,
  file: string,
  wallMs: number,
  uuid: () => string,
): PlannedRecord {
  const fields = [
    `WARC-Date: ${new Date(wallMs).toISOString()}${CRLF}`,
    `WARC-Filename: ${file}${CRLF}`,
    `Content-Type: application/warc-fields${CRLF}`,
  ].join('')
  const block = warcFields({
    ...info,
    format: 'WARC File Format 1.1',
    conformsTo: 'https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/',
  })
  return plan('warcinfo', uuid(), fields, block, null)
}

function planResponse(document: Document, facts: ArchiveFacts, id: string, shared: string): PlannedRecord {
  const { revisitOf, payloadDigest } = facts
  const isHttp2 = document.httpVersion === '2'
  let fields = `${shared}WARC-Payload-Digest: ${payloadDigest}${CRLF}Content-Type: application/http; msgtype=response${CRLF}`
  // There is no HTTP/2 status line: the message is written as HTTP/1.1 and its real protocol named.
  if (isHttp2) fields += `WARC-Protocol: h2${CRLF}`
  const block = responseHead(document, isHttp2 ? '1.1' : document.httpVersion)
  if (revisitOf !== null && isRevisit(document, facts)) {
    fields += `WARC-Profile: ${REVISIT_PROFILE}${CRLF}WARC-Refers-To-Target-URI: ${revisitOf.url}${CRLF}`
    fields += `WARC-Refers-To-Date: ${new Date(revisitOf.fetchedAtMs).toISOString()}${CRLF}`
    // The standard wants it said that the block lacks its payload.
    fields += `WARC-Truncated: length${CRLF}`
    return plan('revisit', id, fields, block, null)
  }
  if (document.wireTruncated !== null) fields += `WARC-Truncated: ${document.wireTruncated}${CRLF}`
  return plan('response', id, fields, block, document.wire)
}

function plan(type: string, id: string, fields: string, block: string, body: Body | null): PlannedRecord {
  const blockBytes = block.length + (body?.length ?? 0)
  const head = `WARC/1.1${CRLF}WARC-Type: ${type}${CRLF}WARC-Record-ID: <urn:uuid:${id}>${CRLF}${fields}Content-Length: ${blockBytes}${CRLF}WARC-Block-Digest: sha256:`
  return { head, block, body, bytes: head.length + FRAMING_BYTES + blockBytes }
}

/** The head as it came; where the document does not have it, from its parts. Only the name of a transfer coding, which is undone, is changed. */
function responseHead(document: Document, version: string): string {
  const { rawHeaders, responseHead: received } = document
  if (received !== null) {
    if (document.header('transfer-encoding') === null) return received
    return received.replaceAll(/(?<=\n\r*)transfer-encoding(?=[ \t\r]*:)/gi, 'X-Orig-$&')
  }
  let head = `HTTP/${version} ${document.status} ${document.statusText}${CRLF}`
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    const isTransferCoding = name.length === 17 && name.toLowerCase() === 'transfer-encoding'
    head += `${isTransferCoding ? 'X-Orig-' : ''}${name}: ${rawHeaders[i + 1] as string}${CRLF}`
  }
  return head + CRLF
}

function metadataBlock(document: Document, facts: ArchiveFacts): string {
  const { via, depth, metadata } = facts
  const hops = depth <= HOPS_MAX ? 'L'.repeat(depth) : `${depth - HOPS_MAX}+${'L'.repeat(HOPS_MAX)}`
  let block = ''
  if (via !== null) block += `via: ${via}${CRLF}`
  if (depth > 0) block += `hopsFromSeed: ${hops}${CRLF}`
  block += `fetchTimeMs: ${Math.round(document.durationMs)}${CRLF}`
  return metadata === undefined ? block : block + warcFields(metadata)
}

/** `application/warc-fields`: UTF-8, carried as one character per byte. A line break in a value would end its field. */
function warcFields(fields: Readonly<Record<string, string>>): string {
  let text = ''
  for (const [name, value] of Object.entries(fields)) {
    if (value !== '') text += `${name}: ${value.replaceAll(/[\r\n]+/g, ' ')}${CRLF}`
  }
  return Buffer.from(text).toString('latin1')
}

/** Builds the record at `at` and returns its end. */
export function buildRecord(record: PlannedRecord, target: Buffer, at: number): number {
  const { head, block, body } = record
  const digestAt = at + head.length
  const blockAt = digestAt + DIGEST_HEX + 4
  // One write for all that is text: a call costs more than the copy of a few hundred bytes.
  target.write(`${head}${NO_DIGEST}${block}`, at, 'latin1')
  let end = blockAt + block.length
  if (body !== null) {
    for (const piece of body.chunks()) {
      target.set(piece, end)
      end += piece.length
    }
  }
  assert(end + 4 === at + record.bytes, `a body of ${body?.length ?? 0} bytes yielded another number`)
  const digest = hash('sha256', target.subarray(blockAt, end), 'hex')
  target.write(digest, digestAt, 'latin1')
  target[end] = CR
  target[end + 1] = LF
  target[end + 2] = CR
  target[end + 3] = LF
  return end + 4
}

/** The record in pieces, for bodies too large to be held; each piece is valid until the next. */
export function* recordPieces(record: PlannedRecord): Generator<Uint8Array> {
  const block = Buffer.from(record.block, 'latin1')
  const digest = createHash('sha256').update(block)
  // The digest stands before what it covers: the body is read twice.
  if (record.body !== null) for (const piece of record.body.chunks()) digest.update(piece)
  yield Buffer.from(`${record.head}${digest.digest('hex')}\r\n\r\n`, 'latin1')
  yield block
  if (record.body !== null) yield* record.body.chunks()
  yield Buffer.from('\r\n\r\n')
}
