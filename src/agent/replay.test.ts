// What the parts on disk do not hold is told to them again: each from where it stands, nothing twice.

import { expect, test } from 'vitest'
import type { FrontierEntry } from '../frontier/index.ts'
import { emptyBatch, type LedgerBatch, MemoryJournal } from '../ledger/index.ts'
import { type CanonicalUrl, defaultKey, Fingerprinter, type HostKey } from '../url/index.ts'
import { MemoryUrlSeen } from '../url-seen/index.ts'
import { replay } from './replay.ts'

const url = (path: string): CanonicalUrl => `http://a.test/${path}` as CanonicalUrl
const entry = (path: string): FrontierEntry => ({
  url: url(path),
  host: 'a.test' as HostKey,
  via: null,
  depth: 1,
  hops: 0,
  band: 4,
  isSeed: false,
  tries: 0,
  pauses: 0,
})

async function replayed(
  holds: { seen: number; frontier: number },
  ...batches: Partial<LedgerBatch>[]
): Promise<{ told: string[]; seen: MemoryUrlSeen }> {
  const journal = new MemoryJournal({ name: 'test', key: '00', startedAtMs: 0 })
  for (const batch of batches) await journal.commit({ ...emptyBatch(), ...batch })
  const told: string[] = []
  const seen = new MemoryUrlSeen()
  await replay(journal, {
    seen,
    seenHolds: holds.seen,
    fingerprinter: new Fingerprinter(defaultKey),
    frontier: {
      replayFrom: holds.frontier,
      offer: (one) => void told.push(`+ ${one.url}`),
      omit: (host, one, isPage) => void told.push(`${isPage ? '✓' : '-'} ${one} of ${host}`),
      rest: (host, ms) => void told.push(`${host} rests ${ms}`),
      endReplay: async () => void told.push('end'),
    },
  })
  return { told, seen }
}

test('the frontier hears of what began and what ceased to wait, in order', async () => {
  const { told, seen } = await replayed(
    { seen: 0, frontier: 0 },
    { admitted: [entry('1'), entry('2')] },
    { pages: [url('2')], ended: [url('1')], admitted: [entry('3')] },
  )
  expect(told).toEqual([
    '+ http://a.test/1',
    '+ http://a.test/2',
    '+ http://a.test/3',
    '✓ http://a.test/2 of a.test',
    '- http://a.test/1 of a.test',
    'end',
  ])
  expect(seen.size).toBe(3)
})

test('each part is told only what it does not hold', async () => {
  const batches = [{ admitted: [entry('1')] }, { admitted: [entry('2')] }, { admitted: [entry('3')] }]
  const ahead = await replayed({ seen: 1, frontier: 2 }, ...batches)
  expect(ahead.told).toEqual(['+ http://a.test/3', 'end'])
  expect(ahead.seen.size).toBe(2)
  const behind = await replayed({ seen: 3, frontier: 1 }, ...batches)
  expect(behind.told).toEqual(['+ http://a.test/2', '+ http://a.test/3', 'end'])
  expect(behind.seen.size).toBe(0)
})

test('a page ends the rests asked for before it, not the one it asked for itself', async () => {
  const rest = { host: 'a.test' as HostKey, restMs: 60_000, why: '503' }
  const before = await replayed({ seen: 0, frontier: 0 }, { rests: [rest] }, { pages: [url('1')] })
  expect(before.told).not.toContain('a.test rests 60000')
  const itself = await replayed({ seen: 0, frontier: 0 }, { pages: [url('1')], rests: [rest] })
  expect(itself.told.slice(-2)).toEqual(['a.test rests 60000', 'end'])
})

test('a journal that ends before what one part holds is refused, however little the other holds', async () => {
  for (const holds of [
    { seen: 0, frontier: 2 },
    { seen: 2, frontier: 0 },
  ]) {
    await expect(replayed(holds, { admitted: [entry('1')] })).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
  }
})

test('so does one that was returned to, and a failure does not', async () => {
  const rest = { host: 'a.test' as HostKey, restMs: 3_600_000, why: 'Retry-After' }
  const waiting = { admitted: [entry('1')], rests: [rest] }
  const from = { seen: 0, frontier: 0 }
  const visited = ['+ http://a.test/1', '- http://a.test/1 of a.test']
  expect((await replayed(from, waiting, { returned: [url('1')] })).told).toEqual([...visited, 'end'])
  expect((await replayed(from, waiting, { ended: [url('1')] })).told).toEqual([
    ...visited,
    'a.test rests 3600000',
    'end',
  ])
})
