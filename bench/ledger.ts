// What does a page cost in the journal, written and read back, and what does opening a journal cost?
//
//   node bench/ledger.ts
//
// Batches of pages from a fixed seed, each page with its verdict, its content and the new links found on it, 100 pages a
// batch as at a thousand pages a second, 10 and 2 as in slower crawls. CPU time of this process, best of seven rounds for the codec;
// plain JSON of the batch as it is stands beside it. Then a journal of 64 MiB segments: commit, open (everything is read
// and checked), history (read again and made into batches).

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Random } from '../src/base/index.ts'
import { decodeBatch, encodeBatch } from '../src/ledger/batch-codec.ts'
import { emptyBatch, type LedgerBatch, SegmentedJournal } from '../src/ledger/index.ts'
import { type CanonicalUrl, hostKeyOf } from '../src/url/index.ts'

const SEED = 'bench-ledger'
const ROUNDS = 7
const PAGES = 3_000
const FOREIGN_SHARE = 1 / 7
const JOURNAL_BATCHES = 6_000

const random = new Random(SEED)
const consonants = 'bcdfghklmnprst'
const vowels = 'aeiou'
const words = Array.from({ length: 5_000 }, () => {
  let word = ''
  for (let left = 2 + random.below(3); left > 0; left--) {
    word += `${consonants[random.below(consonants.length)]}${vowels[random.below(vowels.length)]}`
  }
  return word
})
/** From 0 to count - 1, the n-th about 1/n as often as the first. */
const skewed = (count: number): number => Math.floor(count ** random.fraction()) - 1
const word = (): string => words[skewed(words.length)] as string
const hosts = Array.from({ length: 500 }, (_, i) => `https://www.${words[i]}-${word()}.${['com', 'org', 'de'][i % 3]}`)
const pageOn = (host: string): CanonicalUrl =>
  `${host}/${word()}/${word()}-${word()}-${word()}/${random.below(1e6)}.html` as CanonicalUrl

function batchOf(pages: number, linksMean: number): LedgerBatch {
  const batch = emptyBatch()
  for (let page = 0; page < pages; page++) {
    const host = hosts[skewed(hosts.length)] as string
    const url = pageOn(host)
    batch.pages.push(url)
    const depth = 1 + random.below(6)
    for (let left = random.below(2 * linksMean + 1); left > 0; left--) {
      const link = pageOn(random.fraction() < FOREIGN_SHARE ? (hosts[skewed(hosts.length)] as string) : host)
      const shared = { via: url, depth, hops: 0, band: Math.min(7, depth), isSeed: false, tries: 0, pauses: 0 }
      batch.admitted.push({ url: link, host: hostKeyOf(link), ...shared })
    }
  }
  batch.files = {
    pages: 12_345_678,
    failures: 12_345,
    links: 1_234_567,
    archive: { file: 'archive/00001.warc.gz', length: 123_456_789 },
  }
  batch.totals = { admitted: 123_456, pages: 23_456, bytes: 3.4e9, refused: { 'out-of-scope': 3 * pages }, ms: 123_456 }
  return batch
}

function cpuUsOf({ user, system }: NodeJS.CpuUsage): number {
  return user + system
}

/** Microseconds of CPU per item. */
function measure(items: number, work: () => void): number {
  let best = Infinity
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    work()
    best = Math.min(best, cpuUsOf(process.cpuUsage(before)) / items)
  }
  return Number(best.toFixed(2))
}

/** Whatever is computed flows in here, so that nothing is optimised away. */
let sink = 0
for (const [pages, links] of [
  [100, 1],
  [100, 6],
  [10, 6],
  [2, 3],
] as const) {
  const batches = Array.from({ length: Math.ceil(PAGES / pages) }, () => batchOf(pages, links))
  const count = batches.length * pages
  const encoded = batches.map(encodeBatch)
  const plain = batches.map((batch) => Buffer.from(JSON.stringify(batch)))
  for (const [i, bytes] of encoded.entries()) {
    if (!isDeepStrictEqual(decodeBatch(bytes), batches[i])) throw new Error('a batch is not read as it was written')
  }
  const perPage = (all: readonly Buffer[]): number =>
    Math.round(all.reduce((sum, { length }) => sum + length, 0) / count)
  const row = {
    bench: 'ledger',
    seed: SEED,
    pagesPerBatch: pages,
    newLinksPerPage: Number((batches.reduce((sum, { admitted }) => sum + admitted.length, 0) / count).toFixed(1)),
    bytesPerPage: perPage(encoded),
    plainBytesPerPage: perPage(plain),
    encodeUs: measure(count, () => {
      for (const batch of batches) sink += encodeBatch(batch).length
    }),
    plainEncodeUs: measure(count, () => {
      for (const batch of batches) sink += Buffer.from(JSON.stringify(batch)).length
    }),
    decodeUs: measure(count, () => {
      for (const bytes of encoded) sink += decodeBatch(bytes).pages.length
    }),
    plainDecodeUs: measure(count, () => {
      for (const bytes of plain) sink += (JSON.parse(bytes.toString()) as LedgerBatch).pages.length
    }),
  }
  console.log(
    `${pages} pages a batch, ${row.newLinksPerPage} new links each: ${row.bytesPerPage} bytes a page, written in ${row.encodeUs} µs, read in ${row.decodeUs} µs ` +
      `(plain JSON ${row.plainBytesPerPage} bytes, ${row.plainEncodeUs} µs, ${row.plainDecodeUs} µs)`,
  )
  console.log(JSON.stringify(row))
}

const folder = mkdtempSync(join(tmpdir(), 'portolan-bench-ledger-'))
try {
  const identity = { name: 'bench', key: '00'.repeat(16), startedAtMs: 0 }
  const open = (): Promise<SegmentedJournal> =>
    SegmentedJournal.open({ directory: join(folder, 'journal'), random, create: () => identity })
  const batches = Array.from({ length: 50 }, () => batchOf(100, 6))
  const journal = await open()
  const beforeCommits = process.cpuUsage()
  for (let i = 0; i < JOURNAL_BATCHES; i++) await journal.commit(batches[i % batches.length] as LedgerBatch)
  const commitUs = cpuUsOf(process.cpuUsage(beforeCommits))
  const { bytes } = journal
  await journal.close()

  const beforeOpen = process.cpuUsage()
  const opened = await open()
  const openUs = cpuUsOf(process.cpuUsage(beforeOpen))
  const beforeHistory = process.cpuUsage()
  for await (const { batch } of opened.history(0)) sink += batch.pages.length
  const historyUs = cpuUsOf(process.cpuUsage(beforeHistory))
  await opened.close()
  const megabytes = bytes / 1e6
  const row = {
    bench: 'ledger-journal',
    seed: SEED,
    batches: JOURNAL_BATCHES,
    megabytes: Math.round(megabytes),
    commitUsPerBatch: Math.round(commitUs / JOURNAL_BATCHES),
    openMs: Math.round(openUs / 1e3),
    openMsPer64MiB: Math.round((openUs / 1e3) * (67.1 / megabytes)),
    historyMs: Math.round(historyUs / 1e3),
  }
  console.log(
    `journal of ${row.batches} batches, ${row.megabytes} MB: commit ${row.commitUsPerBatch} µs a batch, open ${row.openMs} ms, history ${row.historyMs} ms (CPU)`,
  )
  console.log(JSON.stringify(row))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
if (!Number.isFinite(sink)) process.exitCode = 1
