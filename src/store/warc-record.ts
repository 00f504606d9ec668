// WARC 1.1 records from documents. Hot: a record is planned as two strings and a body, its size is
// known before a byte is written, and it is built in place; no piece is copied twice.
//
//    WARC/1.1 CRLF fields… WARC-Block-Digest: sha256: │ 64 hex │ CRLF CRLF │ block │ body │ CRLF CRLF
//    └────────────────── head ───────────────────────┘   └ filled in once block and body stand
//
// The block digest is written only where `store.blockDigest` asks for it: it is a second pass over every body, beside the
// payload digest that is handed in (decision 0020). Without it the head ends before its field.
//
// The HTTP response is its head as it came (or, where the document lacks it, rebuilt from the raw header
// pairs in their order) and the payload as it came with the transfer coding undone. A `Transfer-Encoding` header would make readers
// undo it again, so it is kept as `X-Orig-Transfer-Encoding` (Browsertrix does the same; docs/formats.md).
// Digests are `sha256:` with hex, as warcio writes them.

import { createHash, hash } from 'node:crypto'
import { assert, isoDate } from '../base/index.ts'
import type { Body, Document } from '../document/index.ts'
import type { Original } from '../content-seen/index.ts'
import { type ArchiveFacts, isRevisit } from './archive.ts'
import { isPacked } from './packed-body.ts'

const CRLF = '\r\n'
const DIGEST_HEX = 64
/** Keeps the place of the digest until it is known. */
const NO_DIGEST = `${'0'.repeat(DIGEST_HEX)}${CRLF}${CRLF}`
/** The two line ends behind a block. */
const END_BYTES = 4
const CR = 13
const LF = 10
const DIGEST_FIELD = 'WARC-Block-Digest: sha256:'
const REVISIT_PROFILE = 'http://netpreserve.org/warc/1.1/revisit/identical-payload-digest'
const NOT_MODIFIED_PROFILE = 'http://netpreserve.org/warc/1.1/revisit/server-not-modified'
const HTTP2_FIELD = 'WARC-Protocol: h2\r\n'
/** A body up to here is copied in one piece. */
const ONE_PIECE_BYTES_MAX = 2 ** 16
/** Longer hop paths are written as Heritrix does: how many came before, a plus sign, the last 50. */
const HOPS_MAX = 50

/** A record ready to be written. `head` and `block` hold one byte per character. */
export interface PlannedRecord {
  readonly head: string
  readonly block: string
  readonly body: Body | null
  /** The head ends with the name of the block digest, which is filled in when block and body stand. */
  readonly hasDigest: boolean
  /** The body came compressed: doing it again would cost time and win nothing. */
  readonly isPacked: boolean
  /** Bytes of the whole record, uncompressed. */
  readonly bytes: number
}

/** Bytes before the body: those that are worth compressing whatever the body is. */
export function textBytes(record: PlannedRecord): number {
  return record.bytes - (record.body?.length ?? 0) - END_BYTES
}

export interface RecordSettings {
  readonly uuid: () => string
  readonly requests: boolean
  readonly metadata: boolean
  readonly blockDigest: boolean
}

/** The records of one document; the first is its response or revisit. */
export function planRecords(document: Document, facts: ArchiveFacts, settings: RecordSettings): PlannedRecord[] {
  const id = settings.uuid()
  const date = isoDate(document.fetchedAtMs)
  // Fields that all records of the capture share.
  const capture = `WARC-Date: ${date}\r\nWARC-Target-URI: ${document.url}\r\n`
  const address = `WARC-IP-Address: ${document.ip}\r\n`
  const concurrent = `WARC-Concurrent-To: <urn:uuid:${id}>\r\n`
  if (document.httpVersion === null) return planThing(document, facts, id, { capture, address, concurrent }, settings)
  const records = [planResponse(document, facts, id, `${capture}${address}`, settings.blockDigest)]
  if (settings.requests) {
    const protocol = document.httpVersion === '2' ? HTTP2_FIELD : ''
    const fields = `${capture}${address}${concurrent}Content-Type: application/http; msgtype=request\r\n${protocol}`
    records.push(plan('request', settings.uuid(), fields, document.requestHead, settings.blockDigest))
  }
  if (settings.metadata) {
    const fields = `${capture}${concurrent}Content-Type: application/warc-fields\r\n`
    records.push(plan('metadata', settings.uuid(), fields, metadataBlock(document, facts), settings.blockDigest))
  }
  return records
}

/** The record that opens a file. Fields without a value are left out. */
export function planWarcinfo(
  info: Readonly<Record<string, string>>,
  file: string,
  wallMs: number,
  settings: Pick<RecordSettings, 'uuid' | 'blockDigest'>,
): PlannedRecord {
  const fields = [
    `WARC-Date: ${isoDate(wallMs)}\r\n`,
    `WARC-Filename: ${file}\r\n`,
    `Content-Type: application/warc-fields\r\n`,
  ].join('')
  const block = warcFields({
    ...info,
    format: 'WARC File Format 1.1',
    conformsTo: 'https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/',
  })
  return plan('warcinfo', settings.uuid(), fields, block, settings.blockDigest)
}

function planResponse(
  document: Document,
  facts: ArchiveFacts,
  id: string,
  shared: string,
  hasDigest: boolean,
): PlannedRecord {
  const { revisitOf, payloadDigest } = facts
  const isHttp2 = document.httpVersion === '2'
  let fields = `${shared}WARC-Payload-Digest: ${payloadDigest}\r\nContent-Type: application/http; msgtype=response\r\n`
  // There is no HTTP/2 status line: the message is written as HTTP/1.1 and its real protocol named.
  if (isHttp2) fields += HTTP2_FIELD
  const block = responseHead(document, isHttp2 ? '1.1' : (document.httpVersion ?? '1.1'))
  if (revisitOf !== null && isRevisit(document, facts)) {
    return plan('revisit', id, `${fields}${revisitFields(revisitOf, facts.isNotModified === true)}`, block, hasDigest)
  }
  if (document.wireTruncated !== null) fields += `WARC-Truncated: ${document.wireTruncated}\r\n`
  return plan('response', id, fields, block, hasDigest, document.wire, isPacked(document))
}

/**
 * What came by another protocol than HTTP has no head: it is kept as a `resource` of its own type, and what was said about
 * it over FTP as Heritrix keeps it, in a metadata record.
 */
function planThing(
  document: Document,
  facts: ArchiveFacts,
  id: string,
  { capture, address, concurrent }: { readonly capture: string; readonly address: string; readonly concurrent: string },
  { uuid, requests, metadata, blockDigest }: RecordSettings,
): PlannedRecord[] {
  const { revisitOf, payloadDigest } = facts
  const shared = `${capture}${address}WARC-Payload-Digest: ${payloadDigest}\r\n`
  const records: PlannedRecord[] = []
  if (revisitOf !== null && isRevisit(document, facts)) {
    records.push(plan('revisit', id, `${shared}${revisitFields(revisitOf, false)}`, '', blockDigest))
  } else {
    const cut = document.wireTruncated === null ? '' : `WARC-Truncated: ${document.wireTruncated}\r\n`
    const type = `Content-Type: ${document.mediaType ?? 'application/octet-stream'}\r\n`
    records.push(plan('resource', id, `${shared}${type}${cut}`, '', blockDigest, document.wire, isPacked(document)))
  }
  if (requests && document.requestHead !== '') {
    const fields = `${capture}${concurrent}Content-Type: text/x-ftp-control-conversation\r\n`
    records.push(plan('metadata', uuid(), fields, document.requestHead, blockDigest))
  }
  if (metadata) {
    const fields = `${capture}${concurrent}Content-Type: application/warc-fields\r\n`
    records.push(plan('metadata', uuid(), fields, metadataBlock(document, facts), blockDigest))
  }
  return records
}

function revisitFields({ url, fetchedAtMs }: Original, isNotModified: boolean): string {
  const profile = isNotModified ? NOT_MODIFIED_PROFILE : REVISIT_PROFILE
  return (
    `WARC-Profile: ${profile}\r\nWARC-Refers-To-Target-URI: ${url}\r\n` +
    `WARC-Refers-To-Date: ${isoDate(fetchedAtMs)}\r\n` +
    // The standard wants it said that the block lacks its payload; a 304 has none.
    (isNotModified ? '' : `WARC-Truncated: length\r\n`)
  )
}

function plan(
  type: string,
  id: string,
  fields: string,
  block: string,
  hasDigest: boolean,
  body: Body | null = null,
  isPackedBody = false,
): PlannedRecord {
  const blockBytes = block.length + (body?.length ?? 0)
  const head = `WARC/1.1\r\nWARC-Type: ${type}\r\nWARC-Record-ID: <urn:uuid:${id}>\r\n${fields}Content-Length: ${blockBytes}\r\n${hasDigest ? DIGEST_FIELD : CRLF}`
  const bytes = head.length + (hasDigest ? NO_DIGEST.length : 0) + blockBytes + END_BYTES
  return { head, block, body, hasDigest, isPacked: isPackedBody, bytes }
}

/** The head as it came; where the document does not have it, from its parts. Only the name of a transfer coding, which is undone, is changed. */
function responseHead(document: Document, version: string): string {
  const { rawHeaders, responseHead: received } = document
  if (received !== null) {
    if (document.header('transfer-encoding') === null) return received
    return received.replaceAll(/(?<=\n\r*)transfer-encoding(?=[ \t\r]*:)/gi, 'X-Orig-$&')
  }
  let head = `HTTP/${version} ${document.status} ${document.statusText}\r\n`
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    const isTransferCoding = name.length === 17 && name.toLowerCase() === 'transfer-encoding'
    head += `${isTransferCoding ? 'X-Orig-' : ''}${name}: ${rawHeaders[i + 1] as string}\r\n`
  }
  return head + CRLF
}

function metadataBlock(document: Document, facts: ArchiveFacts): string {
  const { via, depth, metadata } = facts
  const hops = depth <= HOPS_MAX ? 'L'.repeat(depth) : `${depth - HOPS_MAX}+${'L'.repeat(HOPS_MAX)}`
  let block = ''
  if (via !== null) block += `via: ${via}\r\n`
  if (depth > 0) block += `hopsFromSeed: ${hops}\r\n`
  block += `fetchTimeMs: ${Math.round(document.durationMs)}\r\n`
  // HTTP's is in its head.
  const modified = document.httpVersion === null ? document.header('last-modified') : null
  if (modified !== null) block += `lastModified: ${modified}\r\n`
  return metadata === undefined ? block : block + warcFields(metadata)
}

/** `application/warc-fields`: UTF-8, carried as one character per byte. A line break in a value would end its field. */
function warcFields(fields: Readonly<Record<string, string>>): string {
  let text = ''
  for (const [name, value] of Object.entries(fields)) {
    if (value !== '') text += `${name}: ${value.replaceAll(/[\r\n]+/g, ' ')}\r\n`
  }
  return Buffer.from(text).toString('latin1')
}

/** Builds the record at `at` and returns its end. */
export function buildRecord(record: PlannedRecord, target: Buffer, at: number): number {
  const { head, block, body, hasDigest } = record
  // One write for all that is text: a call costs more than the copy of a few hundred bytes.
  target.write(hasDigest ? `${head}${NO_DIGEST}${block}` : head + block, at, 'latin1')
  let end = at + textBytes(record)
  const blockAt = end - block.length
  if (body !== null) end = copyBody(body, target, end)
  if (end + END_BYTES !== at + record.bytes)
    assert(false, `a body of ${body?.length ?? 0} bytes yielded another number`)
  if (hasDigest) target.write(hash('sha256', target.subarray(blockAt, end), 'hex'), at + head.length, 'latin1')
  target[end] = CR
  target[end + 1] = LF
  target[end + 2] = CR
  target[end + 3] = LF
  return end + END_BYTES
}

function copyBody(body: Body, target: Buffer, at: number): number {
  // Mostly it is in memory, in one piece: no iterator is made.
  if (body.length <= ONE_PIECE_BYTES_MAX) {
    const bytes = body.bytes()
    target.set(bytes, at)
    return at + bytes.length
  }
  let end = at
  for (const piece of body.chunks()) {
    target.set(piece, end)
    end += piece.length
  }
  return end
}

/** The record in pieces, for bodies too large to be held; each piece is valid until the next. The first is all its text. */
export function* recordPieces(record: PlannedRecord): Generator<Uint8Array> {
  yield Buffer.from(`${record.head}${record.hasDigest ? digestOf(record) : ''}${record.block}`, 'latin1')
  if (record.body !== null) yield* record.body.chunks()
  yield Buffer.from(`\r\n\r\n`)
}

/** The digest stands before what it covers: the body is read twice. */
function digestOf(record: PlannedRecord): string {
  const digest = createHash('sha256').update(Buffer.from(record.block, 'latin1'))
  if (record.body !== null) for (const piece of record.body.chunks()) digest.update(piece)
  return `${digest.digest('hex')}\r\n\r\n`
}
