// Keeps documents. One interface, three ways: WARC files (`WarcWriter`), the plain twin in memory
// for tests (`MemoryArchive`), and nothing at all for `--warc off` (`NullArchive`).

import type { Original } from '../content-seen/index.ts'
import type { Document } from '../document/index.ts'
import type { WarcLocation } from './records.ts'

/** What the walk knows of a document beside the document. */
export interface ArchiveFacts {
  /** `sha256:` and hex of `document.wire`: the same as the page's digest where there is no content coding. */
  readonly payloadDigest: string
  /** The page that had the content first, or null. */
  readonly revisitOf: Original | null
  /** The server says that `revisitOf`, an earlier capture of this URL, still holds: status 304. */
  readonly isNotModified?: true
  readonly via: string | null
  /** Links from the nearest seed. */
  readonly depth: number
  /** More fields for the metadata record, e.g. `charset`. */
  readonly metadata?: Readonly<Record<string, string>>
}

/** A file of the archive and how much of it counts, both as JSON for the ledger. */
export interface ArchiveFile {
  /** Final name, relative to the crawl's directory. */
  readonly file: string
  readonly length: number
}

/**
 * What a resumed archive needs to go on: everything up to here is kept, everything beyond is cut.
 * Taken by state(), durable after the sync() that follows, valid for ever.
 */
export interface ArchiveState {
  /** Number of the next file. */
  readonly serial: number
  /** The file being written; null before the first record. */
  readonly open: ArchiveFile | null
  /** Full files that still bear `.open`, because their last records may not be committed. */
  readonly full: readonly ArchiveFile[]
}

export type OnPlace = (location: WarcLocation) => void

export interface Archive {
  /**
   * Keeps a document. Gives the place of its response or revisit record once that is certain, mostly at once;
   * durable after the next sync(). Resolves later when more is offered than the disk takes. `onPlace` is told the place in
   * the very moment state() begins to speak of the record, so that whoever notes it is never behind a state.
   */
  write(document: Document, facts: ArchiveFacts, onPlace?: OnPlace): Promise<WarcLocation | null> | WarcLocation | null
  state(): ArchiveState | null
  /** All records whose write() has resolved are durable. */
  sync(): Promise<void>
  /** The ledger has committed this state: files that are full and wholly in it get their final names. */
  committed(state: ArchiveState | null): Promise<void>
  /** Finishes all files. Harmless twice. */
  close(): Promise<void>
}

/**
 * Whether there is anything to keep: an answer of HTTP always, also one that only points elsewhere. Of other protocols that
 * is our own reading (a directory without its slash), and nothing came.
 */
export function isKept(document: Document): boolean {
  return document.httpVersion !== null || document.status < 300
}

/**
 * Whether a document is kept as a revisit of an earlier one: its payload *as archived* must be the
 * same (the same page may come gzipped once and plain another time), whole, and not empty. Or the server
 * says that the earlier one holds, and it is in the archive.
 */
export function isRevisit(document: Document, facts: ArchiveFacts): boolean {
  if (facts.isNotModified === true) return facts.revisitOf !== null && facts.revisitOf.payloadDigest !== null
  return (
    facts.revisitOf !== null &&
    facts.revisitOf.payloadDigest === facts.payloadDigest &&
    document.wireTruncated === null &&
    document.wire.length > 0
  )
}
