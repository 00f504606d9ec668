// pages.jsonl as the memory of contents: which page had a digest first stands in its line, and where the line stands
// is all that the set on disk keeps. An agent among several owns digests of others' pages, and none of some of its own:
// it keeps a file of its own for them, of notes.

import type { DiskContentSeen, FoundOriginal } from '../content-seen/index.ts'
import type { LineReader } from '../disk/index.ts'
import type { Original } from '../content-seen/index.ts'
import type { OriginalNote } from '../ledger/index.ts'
import { type PageRecord, readJsonLines, readPlacedLines } from '../store/index.ts'
import type { CanonicalUrl } from '../url/index.ts'

/** Those whose copy in the archive is lost are nobody's originals any more. */
export type Lost = { has(original: Pick<Original, 'url' | 'fetchedAtMs'>): boolean } | null

/** Reads the original whose line stands at a position of the file. */
export function originalsIn(pages: LineReader, lost: Lost): (position: number) => Promise<FoundOriginal> {
  return async (position) => unlessLost(foundIn(JSON.parse(await pages.readAt(position)) as PageRecord), lost)
}

/** One that is lost is found under no digest: whoever asks for its content holds the claim. */
function unlessLost(found: FoundOriginal, lost: Lost): FoundOriginal {
  return lost?.has(found.original) === true ? { ...found, digest: '' } : found
}

/** Tells the set of every page whose line stands at or behind `from`. */
export async function tellContents(contents: DiskContentSeen, path: string, from: number, lost: Lost): Promise<void> {
  for await (const { record, position } of readPlacedLines<PageRecord>(path, from)) {
    if (!isOriginal(record)) continue
    const { digest, original } = foundIn(record)
    if (lost?.has(original) === true) continue
    contents.keep(Buffer.from(digest.slice('sha256:'.length), 'hex'), original, position)
  }
}

/** The originals among pages, as notes. */
export async function* originalNotesIn(path: string, lost: Lost): AsyncGenerator<OriginalNote> {
  for await (const record of readJsonLines<PageRecord>(path)) {
    if (!isOriginal(record)) continue
    const { digest, original } = foundIn(record)
    if (lost?.has(original) === true) continue
    yield { digest: digest.slice('sha256:'.length), ...original }
  }
}

/** Those of notes whose loss is not noted yet. */
export async function* unlessKnown(notes: AsyncIterable<OriginalNote>, lost: Lost): AsyncGenerator<OriginalNote> {
  for await (const note of notes) if (lost?.has(note) !== true) yield note
}

/** The same for notes of originals. */
export function notedOriginalsIn(notes: LineReader, lost: Lost): (position: number) => Promise<FoundOriginal> {
  return async (position) => {
    const { digest, ...original } = JSON.parse(await notes.readAt(position)) as OriginalNote
    return unlessLost({ digest: `sha256:${digest}`, original }, lost)
  }
}

export async function tellNotedContents(
  contents: DiskContentSeen,
  path: string,
  from: number,
  lost: Lost,
): Promise<void> {
  for await (const { record, position } of readPlacedLines<OriginalNote>(path, from)) {
    const { digest, ...original } = record
    if (lost?.has(original) === true) continue
    contents.keep(Buffer.from(digest, 'hex'), original, position)
  }
}

/** As the page settler decides it: a whole answer, with a body, that is nobody's copy, nor its own. */
function isOriginal({ status, truncated, bytes, duplicateOf, revisitOf }: PageRecord): boolean {
  const isWhole = status >= 200 && status < 300 && truncated === undefined && bytes > 0
  return isWhole && duplicateOf === undefined && revisitOf === undefined
}

function foundIn({ url, digest, payloadDigest, fetchedAt, warc }: PageRecord): FoundOriginal {
  return {
    digest,
    original: {
      url: url as CanonicalUrl,
      fetchedAtMs: Date.parse(fetchedAt),
      payloadDigest: warc === null ? null : (payloadDigest ?? digest),
    },
  }
}
