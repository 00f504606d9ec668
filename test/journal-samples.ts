// Journals to be looked at, damaged and repaired by tests: small segments, so that there are several.

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { Random } from '../src/base/index.ts'
import { type CrawlIdentity, emptyBatch, SegmentedJournal } from '../src/ledger/index.ts'

export const IDENTITY: CrawlIdentity = { name: 'test', key: '00'.repeat(8), startedAtMs: 5 }

/** Head and three sample batches are longer than this, head and two are not. */
const SAMPLE_SEGMENT_BYTES = 1_900

export function openJournal(
  directory: string,
  identity: () => CrawlIdentity = () => IDENTITY,
): Promise<SegmentedJournal> {
  const random = new Random(directory)
  return SegmentedJournal.open({ directory, random, create: identity, segmentBytes: SAMPLE_SEGMENT_BYTES })
}

/** Text that cannot be packed well. */
export function noise(length: number): string {
  const random = new Random(length)
  return Array.from({ length }, () => String.fromCharCode(0x20 + random.below(95))).join('')
}

/** A `state/journal` that is not there yet. */
export async function temporaryDirectory(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portolan-journal-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'state'))
  return join(folder, 'state', 'journal')
}

/** Batch n has `totals` n, so that order and completeness can be told by it. */
export async function commitSamples(journal: SegmentedJournal, count: number): Promise<void> {
  for (let left = count; left > 0; left--) {
    const number = journal.lastNumber + 1
    await journal.commit({ ...emptyBatch(), totals: number, files: { text: 'x'.repeat(500) } })
  }
}

export async function journalOf(count: number, identity: CrawlIdentity = IDENTITY): Promise<string> {
  const directory = await temporaryDirectory()
  const journal = await openJournal(directory, () => identity)
  await commitSamples(journal, count)
  await journal.close()
  return directory
}

/** The numbers an opened journal hands out, checked against what the batches say. */
export async function numbersIn(directory: string): Promise<number[]> {
  const journal = await openJournal(directory)
  try {
    const numbers: number[] = []
    for await (const { number, batch } of journal.history(journal.firstNumber - 1)) {
      if (batch.totals !== number) throw new Error(`batch ${number} is that of number ${String(batch.totals)}`)
      numbers.push(number)
    }
    return numbers
  } finally {
    await journal.close()
  }
}

export function upTo(last: number, first = 1): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i)
}
