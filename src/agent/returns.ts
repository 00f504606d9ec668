// Pages that are visited again: what the visit asks with, and what its answer means beside the last one.
//
//   pages.jsonl     visit 1 ── put back in line (requeue.ts) ──▶ returns.jsonl: visit 1 counts no more, had this content
//                                                                       │ asked with its ETag, its Last-Modified
//                   visit 2 ◀── 304: the content of visit 1 ── 200: another content, or the same again
//
// Always true: a URL has one line more than notes, or as many while it waits or when the visit failed; the line of the last
// visit counts. Nothing of this is there in a crawl that never returns (docs/decisions/0024).

import { isoDate } from '../base/index.ts'
import type { Document } from '../document/index.ts'
import type { Validators } from '../fetch/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import { type Asked, noteWishes } from './page-wishes.ts'
import type { Capture, ContentFacts, PageRecord, ReturnedPages, ReturnNote, WarcLocation } from '../store/index.ts'

/** Longer validators are not worth a line of ours. */
const VALIDATOR_LENGTH_MAX = 1_024

export interface ReturnsRules {
  /** fetch.conditional. */
  readonly isConditional: boolean
  /** What is not in the archive must come again, not be called unchanged. */
  readonly isArchiving: boolean
}

/** A page with its fields still open. */
export type OpenPageRecord = { -readonly [field in keyof PageRecord]: PageRecord[field] }

/** Of a page that is in an archive. */
export type KeptNote = ReturnNote & { readonly capture: Capture }

export class Returns {
  readonly #pages: Pick<ReturnedPages, 'find'>
  readonly #rules: ReturnsRules

  constructor(pages: Pick<ReturnedPages, 'find'>, rules: ReturnsRules) {
    this.#pages = pages
    this.#rules = rules
  }

  has(url: string): boolean {
    return this.#pages.find(url) !== null
  }

  /** What to ask with, where the server may say that nothing has changed. */
  validatorsOf(url: string): Validators | undefined {
    const capture = this.#pages.find(url)?.capture ?? null
    if (capture === null || !this.#rules.isConditional) return undefined
    if (this.#rules.isArchiving && capture.payloadDigest === null) return undefined
    const { etag, lastModified } = capture
    return etag === undefined && lastModified === undefined ? undefined : { etag, lastModified }
  }

  /** The visit before, where the server says that its content still holds. */
  unchanged(url: string, document: Document): KeptNote | null {
    // A 304 to a question without validators says nothing of what we have.
    if (document.status !== 304 || this.validatorsOf(url) === undefined) return null
    const note = this.#pages.find(url)
    return note?.capture == null ? null : { ...note, capture: note.capture }
  }

  /** Says which visit it was, and whether it brought what the last one did. False where it was not visited before. */
  mark(record: OpenPageRecord): boolean {
    const note = this.#pages.find(record.url)
    if (note === null) return false
    record.visit = note.visit + 1
    if (record.status === 200 && note.capture?.digest === record.digest) record.revisitOf = note.capture.fetchedAt
    return true
  }
}

/** The line of a visit that brought nothing new: about the answer, and about the content it stands for. */
export function unchangedRecord(
  entry: FrontierEntry,
  document: Document,
  asked: Asked,
  { visit, capture }: KeptNote,
  warc: WarcLocation | null,
): PageRecord {
  const record: OpenPageRecord = {
    url: entry.url,
    status: document.status,
    type: capture.type,
    bytes: 0,
    wireBytes: 0,
    depth: entry.depth,
    digest: capture.digest,
    fetchedAt: isoDate(document.fetchedAtMs),
    via: entry.via,
    visit: visit + 1,
    revisitOf: capture.fetchedAt,
    firstByteMs: Math.round(document.firstByteMs * 10) / 10,
    durationMs: Math.round(document.durationMs * 10) / 10,
    ip: document.ip,
    warc,
    ...capture.facts,
  }
  if (capture.payloadDigest !== null && capture.payloadDigest !== capture.digest) {
    record.payloadDigest = capture.payloadDigest
  }
  const server = document.header('server')
  if (server !== null) record.server = server
  noteValidators(record, document)
  noteWishes(record, asked)
  // Who reserved something in the page itself has not taken it back.
  const { optOuts, optOutSource } = capture.facts ?? {}
  if (optOuts !== undefined && record.optOuts !== optOuts) {
    record.optOuts = [...new Set([...optOuts, ...(record.optOuts ?? [])])]
    record.optOutSource = [...new Set([optOutSource ?? '', record.optOutSource ?? ''])].join(', ')
  }
  // What the server did not say again stays as it was.
  if (record.etag === undefined && capture.etag !== undefined) record.etag = capture.etag
  if (record.lastModified === undefined && capture.lastModified !== undefined)
    record.lastModified = capture.lastModified
  return record
}

/** Of a whole answer with status 200, or of a 304. */
export function noteValidators(record: OpenPageRecord, document: Document): void {
  const etag = document.header('etag')
  const lastModified = document.header('last-modified')
  if (isUseful(etag)) record.etag = etag
  if (isUseful(lastModified)) record.lastModified = lastModified
}

function isUseful(validator: string | null): validator is string {
  return validator !== null && validator !== '' && validator.length <= VALIDATOR_LENGTH_MAX
}

/** What is noted of a page when it is put back in line. `before`: what was noted the last time, if there was one. */
export function returnNoteOf(page: PageRecord, before: Capture | null = null): ReturnNote {
  const { url, visit = 1, status, bytes, wireBytes, depth, via } = page
  return { url, visit, status, bytes, wireBytes, depth, via, capture: captureOf(page, before) }
}

function captureOf(page: PageRecord, before: Capture | null): Capture | null {
  const { status, truncated, type, digest, payloadDigest, fetchedAt, revisitOf, warc, etag, lastModified } = page
  const isWhole = (status === 200 && truncated === undefined) || (status === 304 && revisitOf !== undefined)
  if (!isWhole) return null
  const archived = warc === null ? null : (payloadDigest ?? digest)
  // The same content, but not as it is in the archive from before: it was written anew.
  const isOwn = status === 200 && before !== null && before.digest === digest && before.payloadDigest !== archived
  return {
    fetchedAt: isOwn ? fetchedAt : (revisitOf ?? fetchedAt),
    type,
    digest,
    payloadDigest: archived,
    facts: factsOf(page),
    ...(etag === undefined ? {} : { etag }),
    ...(lastModified === undefined ? {} : { lastModified }),
  }
}

/** Without what is not there. */
function factsOf(page: PageRecord): ContentFacts {
  const { title, charset, language, canonical, noindex, optOuts, optOutSource, tdmPolicy } = page
  const facts = { title, charset, language, canonical, noindex, optOuts, optOutSource, tdmPolicy }
  return Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined))
}
