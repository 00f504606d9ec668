// The ledger read from its start is the crawl as it was: what waits, what ended and how, and what every run took.

import { expect, test } from 'vitest'
import { MemoryContentSeen } from '../content-seen/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import { emptyBatch, type LedgerBatch, MemoryLedger } from '../ledger/index.ts'
import { type CanonicalUrl, defaultKey, Fingerprinter, type HostKey } from '../url/index.ts'
import { MemoryUrlSeen } from '../url-seen/index.ts'
import { CrawlFigures } from './figures.ts'
import { replay, type Replayed } from './replay.ts'

const url = (path: string): CanonicalUrl => `http://a.test/${path}` as CanonicalUrl
const entry = (path: string, more: Partial<FrontierEntry> = {}): FrontierEntry => ({
  url: url(path),
  host: 'a.test' as HostKey,
  via: null,
  depth: 1,
  hops: 0,
  band: 4,
  isSeed: false,
  tries: 0,
  pauses: 0,
  ...more,
})
const page = (path: string) => ({ url: url(path), kind: 'page', status: 200, bytes: 10, wireBytes: 5 }) as const
const skipped = (path: string) => ({ url: url(path), kind: 'skipped', reason: 'host-budget' }) as const

async function replayed(
  ...batches: Partial<LedgerBatch>[]
): Promise<{ past: Replayed; figures: CrawlFigures; seen: MemoryUrlSeen }> {
  const ledger = new MemoryLedger({ name: 'test', key: '00', startedAtMs: 0, agents: 1 })
  for (const batch of batches) await ledger.commit({ ...emptyBatch(), ...batch })
  const figures = new CrawlFigures()
  const seen = new MemoryUrlSeen()
  const into = { seen, fingerprinter: new Fingerprinter(defaultKey), contentSeen: new MemoryContentSeen(), figures }
  return { past: await replay(ledger, into), figures, seen }
}

test('what was admitted and has no verdict waits, in the order it was found', async () => {
  const { past, figures, seen } = await replayed(
    { admitted: [entry('1'), entry('2'), entry('3')] },
    { verdicts: [page('2')], admitted: [entry('4')] },
  )
  expect(past.waiting.map((one) => one.url)).toEqual([url('1'), url('3'), url('4')])
  expect(figures).toMatchObject({ admitted: 4, pages: 1, waiting: 3 })
  expect(seen.size).toBe(4)
})

test('every run counts once in time and CPU, however long the next one was; memory is the most of any', async () => {
  const { figures } = await replayed(
    { runStartedAtMs: 1, ranMs: 100, cpuMs: 10, peakRssBytes: 7 },
    { runStartedAtMs: 1, ranMs: 900, cpuMs: 90, peakRssBytes: 9 },
    { runStartedAtMs: 2, ranMs: 10_000, cpuMs: 1_000, peakRssBytes: 8 },
    { runStartedAtMs: 3, ranMs: 5, cpuMs: 1, peakRssBytes: 3 },
  )
  expect(figures).toMatchObject({ earlierMs: 10_905, earlierCpuMs: 1_091, earlierPeakRssBytes: 9 })
})

test('a verdict that was taken back waits again and is not counted', async () => {
  const { past, figures } = await replayed(
    { admitted: [entry('1'), entry('2')], verdicts: [skipped('1'), skipped('2')] },
    { requeued: [url('1')] },
    { verdicts: [page('1')] },
  )
  expect(past.waiting).toEqual([])
  expect([...past.ended.keys()]).toEqual([url('2')])
  expect(figures).toMatchObject({ pages: 1, skipped: { 'host-budget': 1 }, waiting: 0 })
})

test('a page ends the rests asked for before it, not the one it asked for itself', async () => {
  const rest = { host: 'a.test' as HostKey, restMs: 60_000, why: '503' }
  const before = await replayed({ admitted: [entry('1')], rests: [rest] }, { verdicts: [page('1')] })
  expect(before.past.rests.size).toBe(0)
  const itself = await replayed({ admitted: [entry('1')] }, { verdicts: [page('1')], rests: [rest] })
  expect(itself.past.rests.get(rest.host)).toBe(60_000)
})

test('what was held for its depth is held until it is admitted', async () => {
  const { past, figures } = await replayed(
    { held: [entry('deep', { depth: 3 }), entry('deeper', { depth: 3 })] },
    { admitted: [entry('deep')] },
  )
  expect(past.held.map((one) => one.url)).toEqual([url('deeper')])
  expect(figures.admitted).toBe(1)
})
