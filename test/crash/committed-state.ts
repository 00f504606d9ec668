// What a crawl's directory promises in the moment its process is gone: the batches of its journal, and of each file the part
// that the last batch speaks of. Read from a copy, so that putting a torn end right stays the business of the next process.
// A crawl of several agents has a state for each, and shows all pages in one file, which may lag behind and never runs ahead.

import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Random } from '../../src/base/index.ts'
import { journalBegun, type RestNote, SegmentedJournal } from '../../src/ledger/index.ts'
import { loadLayout, sharesOf } from '../../src/view/index.ts'

export interface CommittedBatch {
  readonly number: number
  readonly pages: readonly string[]
  readonly rests: readonly RestNote[]
  /** When it was taken, in milliseconds of crawling over all lives. */
  readonly atMs: number
}

export interface CommittedState {
  /** Those the journal still has, oldest first. */
  readonly batches: readonly CommittedBatch[]
  readonly lastNumber: number
  /** URLs of the lines that count. */
  readonly pages: readonly string[]
  readonly failures: readonly string[]
}

export const NOTHING: CommittedState = { batches: [], lastNumber: 0, pages: [], failures: [] }

/** Of every agent, the first one's first. */
export async function readCommitted(dir: string): Promise<readonly CommittedState[]> {
  return Promise.all((await sharesOf(dir)).map((share) => readShare(share)))
}

/** URLs of the whole lines of the pages.jsonl that several agents have in common; null where there is one agent. */
export async function readShown(dir: string): Promise<readonly string[] | null> {
  if ((await loadLayout(dir)) === null) return null
  const path = join(dir, 'pages.jsonl')
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
  return urlsIn(path, bytes.lastIndexOf('\n') + 1)
}

/** Of one share, by its directory. */
export async function readShare(dir: string): Promise<CommittedState> {
  const directory = join(dir, 'state/journal')
  if (!(await journalBegun(directory))) return NOTHING
  const copy = mkdtempSync(join(tmpdir(), 'portolan-journal-'))
  try {
    cpSync(directory, copy, { recursive: true })
    return await readJournal(dir, copy)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

async function readJournal(dir: string, directory: string): Promise<CommittedState> {
  const journal = await SegmentedJournal.open({
    directory,
    random: new Random('copy'),
    create: () => {
      throw new Error('the copy has no journal')
    },
  })
  try {
    const batches: CommittedBatch[] = []
    let files: Readonly<Record<string, unknown>> = {}
    for await (const { number, batch } of journal.history(journal.firstNumber - 1)) {
      const { ms = 0 } = (batch.totals ?? {}) as { ms?: number }
      batches.push({ number, pages: batch.pages, rests: batch.rests, atMs: ms })
      files = batch.files
    }
    const failures = files['failures'] as { length: number; edition: number } | undefined
    return {
      batches,
      lastNumber: journal.lastNumber,
      pages: urlsIn(join(dir, 'pages.jsonl'), (files['pages'] as number | undefined) ?? 0),
      failures: urlsIn(failuresPath(dir, failures?.edition ?? 0), failures?.length ?? 0),
    }
  } finally {
    await journal.close()
  }
}

/** A new edition of the file that was named by a batch and has not got its own name yet. */
function failuresPath(dir: string, edition: number): string {
  const path = join(dir, `state/failures-${edition}.jsonl`)
  return existsSync(path) ? path : join(dir, 'failures.jsonl')
}

/** URLs of the lines in the first bytes of a file, which must be there and must be whole lines. */
function urlsIn(path: string, length: number): string[] {
  if (length === 0) return []
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
  if (bytes.length < length) throw new Error(`${path} has ${bytes.length} bytes, its crawl was promised ${length}`)
  const lines = bytes.toString('utf8', 0, length).split('\n')
  if (lines.pop() !== '') throw new Error(`${path}: what was promised of it ends inside a line`)
  return lines.map((line) => (JSON.parse(line) as { url: string }).url)
}
