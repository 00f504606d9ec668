// The law of every seen set on one that holds some hundred URLs in memory, so that nearly all is on disk; then what
// only this one promises: durable states, files that go and stay, and damage that is seen.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { Random } from '../base/index.ts'
import { DiskUrlSeen } from './disk-url-seen.ts'
import type { SeenState } from './seen-keeper.ts'
import { urlSeenConformance } from './url-seen.conformance.ts'
import { newBatch } from './url-seen.ts'

/** Generations of 192 URLs. */
const SMALL = 16 * 1024

const parent = mkdtempSync(join(tmpdir(), 'portolan-seen-'))
let made = 0
let open: DiskUrlSeen[] = []

afterEach(async () => {
  for (const seen of open) await seen.close()
  open = []
})
afterAll(() => rmSync(parent, { recursive: true }))

const newDirectory = (): string => join(parent, String(++made))

async function openSeen(directory: string, state: SeenState | null = null, memoryBytes = SMALL): Promise<DiskUrlSeen> {
  const seen = await DiskUrlSeen.open({ directory, memoryBytes, state })
  open.push(seen)
  return seen
}

/** Meets URLs from..to of one endless list; how many are new. */
async function meet(seen: DiskUrlSeen, from: number, to: number): Promise<number> {
  const batch = newBatch(to - from)
  for (let i = from; i < to; i++) {
    batch.high[i - from] = Math.imul(i, 0x9e3779b1)
    batch.low[i - from] = i
  }
  batch.count = to - from
  await seen.meet(batch)
  return batch.isNew.reduce((sum, flag) => sum + flag, 0)
}

const filesIn = (directory: string): string[] => readdirSync(directory).sort()
const namesOf = (state: SeenState): string[] => state.runs.map((run) => run.name).sort()

urlSeenConformance('DiskUrlSeen, nearly all on disk', () => openSeen(newDirectory()))
urlSeenConformance('DiskUrlSeen, all in memory', () => openSeen(newDirectory(), null, 2 ** 22))

test('what is in memory is answered at once', async () => {
  const seen = await openSeen(newDirectory())
  const batch = newBatch(100)
  batch.low.forEach((_, i) => (batch.low[i] = i))
  batch.count = 100
  expect(seen.meet(batch)).toBeUndefined()
  expect(seen.state().runs).toEqual([])
})

test('there are few runs however many URLs were met, and never more than some batches wait to be written', async () => {
  const seen = await openSeen(newDirectory())
  let most = 0
  for (let i = 0; i < 60_000; i += 50) {
    expect(await meet(seen, i, i + 50)).toBe(50)
    most = Math.max(most, seen.state().runs.length)
  }
  expect(most).toBeLessThanOrEqual(8)
  expect(seen.state().urls).toBeGreaterThan(seen.size - 2 * 192 - 50)
  await seen.compact()
  expect(seen.state().runs).toHaveLength(1)
  expect(seen.diskBytes / seen.size).toBeLessThan(10)
})

test('batches met at the same time are answered as if one after the other', async () => {
  const seen = await openSeen(newDirectory())
  const news = await Promise.all(Array.from({ length: 20 }, (_, i) => meet(seen, i * 100, i * 100 + 1_000)))
  expect(news.reduce((sum, count) => sum + count, 0)).toBe(2_900)
  expect(seen.size).toBe(2_900)
})

test('a set opened from a committed state knows what the state holds, and says from where to replay', async () => {
  const directory = newDirectory()
  const seen = await openSeen(directory)
  seen.mark(1)
  await meet(seen, 0, 1_000)
  seen.mark(2)
  await seen.flush()
  const state = JSON.parse(JSON.stringify(seen.state())) as SeenState
  seen.committed(state)
  seen.mark(3)
  await meet(seen, 1_000, 1_100)
  // Nothing was met between the flush and the mark.
  expect(seen.state()).toEqual({ ...state, replayFrom: 3 })
  seen.mark(4)
  expect(seen.state()).toEqual({ ...state, replayFrom: 3 })
  await seen.close()
  const again = await openSeen(directory, state)
  expect(state).toMatchObject({ urls: 1_000, replayFrom: 2 })
  expect(again.size).toBe(1_000)
  expect(await meet(again, 0, 1_100)).toBe(100)
  expect(again.meetings(Math.imul(7, 0x9e3779b1) >>> 0, 7)).toBe(2)
})

test('replaying what the runs hold already loses nothing and makes nothing new', async () => {
  const directory = newDirectory()
  const seen = await openSeen(directory)
  await meet(seen, 0, 500)
  await seen.flush()
  const state = seen.state()
  await seen.close()
  const again = await openSeen(directory, state)
  for (let i = 300; i < 900; i++) again.restore(Math.imul(i, 0x9e3779b1) >>> 0, i, 1)
  expect(again.size).toBe(900)
  expect(await meet(again, 0, 900)).toBe(0)
})

test('files stay until a committed state does without them', async () => {
  const directory = newDirectory()
  const seen = await openSeen(directory)
  await meet(seen, 0, 1_000)
  await seen.flush()
  const before = seen.state()
  seen.committed(before)
  await meet(seen, 1_000, 2_000)
  await seen.compact()
  const after = seen.state()
  expect(filesIn(directory)).toEqual(expect.arrayContaining(namesOf(before)))
  seen.committed(before)
  expect(filesIn(directory)).toEqual(expect.arrayContaining(namesOf(before)))
  seen.committed(after)
  expect(filesIn(directory)).toEqual(namesOf(after))
  await seen.close()
})

test('opening removes files that no committed state names, and no others', async () => {
  const directory = newDirectory()
  const seen = await openSeen(directory)
  await meet(seen, 0, 1_000)
  await seen.compact()
  const state = seen.state()
  seen.committed(state)
  await meet(seen, 1_000, 3_000)
  await seen.close()
  writeFileSync(join(directory, 'notes.txt'), 'not ours')
  expect(filesIn(directory).length).toBeGreaterThan(2)
  const again = await openSeen(directory, state)
  expect(filesIn(directory)).toEqual(['notes.txt', ...namesOf(state)])
  expect(await meet(again, 0, 3_000)).toBe(2_000)
})

test('a damaged run is a fault that names the file, now and ever after', async () => {
  const directory = newDirectory()
  const seen = await openSeen(directory)
  await meet(seen, 0, 3_000)
  await seen.compact()
  const state = seen.state()
  const [name = ''] = namesOf(state)
  const bytes = readFileSync(join(directory, name))
  const random = new Random('damage')
  for (let at = 0; at < bytes.length; at += 1024) {
    const place = at + random.below(1024)
    bytes[place] = (bytes[place] as number) ^ 0x40
  }
  writeFileSync(join(directory, name), bytes)
  const corrupt = { code: 'LEDGER_CORRUPT', message: expect.stringContaining(name) }
  await expect(meet(seen, 0, 1)).rejects.toMatchObject(corrupt)
  await expect(meet(seen, 5_000, 5_001)).rejects.toMatchObject(corrupt)
  await expect(seen.flush()).rejects.toMatchObject(corrupt)
  await expect(openSeen(directory, state)).rejects.toMatchObject(corrupt)
  expect(filesIn(directory)).toContain(name)
})

test('a set that was closed says so', async () => {
  const seen = await openSeen(newDirectory())
  await meet(seen, 0, 1_000)
  await seen.close()
  await expect(meet(seen, 0, 1)).rejects.toMatchObject({ code: 'ASSERTION' })
})

test('a URL enters the state in a later turn of the event loop than its answer, whatever the batches', async () => {
  for (const sizes of [[50], [192], [193], [1_000], [40, 700, 30], [30, 90, 400, 192, 60]]) {
    const seen = await openSeen(newDirectory())
    let noted = 0
    let next = 0
    // All URLs are new, so the runs hold as many keys as URLs.
    const check = (): void => {
      const named = seen.state().runs.reduce((sum, run) => sum + run.keys, 0)
      if (named > noted) throw new Error(`${named} URLs are named, but only ${noted} were noted`)
    }
    const page = async (urls: number): Promise<void> => {
      const batch = newBatch(urls)
      for (let i = 0; i < urls; i++, next++) {
        batch.high[i] = Math.imul(next, 0x9e3779b1)
        batch.low[i] = next
      }
      batch.count = urls
      const answer = seen.meet(batch)
      check()
      if (answer !== undefined) await answer
      check()
      // What a caller does with an answer before it gives control away.
      for (let i = 0; i < 10; i++) await Promise.resolve()
      check()
      noted += urls
    }
    for (let round = 0; round < 6; round++) {
      const pages = sizes.map(page)
      for (let turns = 0; turns < 20; turns++) {
        await new Promise((resolve) => void setImmediate(resolve))
        check()
      }
      await Promise.all(pages)
    }
    await seen.flush()
    expect(seen.state().urls).toBe(noted)
  }
})

test('a state that is committed late takes no file from the one that is on its way', async () => {
  const directory = newDirectory()
  const seen = await openSeen(directory)
  await meet(seen, 0, 100)
  await seen.flush()
  const first = seen.state()
  await meet(seen, 100, 150)
  await seen.flush()
  const second = seen.state()
  await seen.compact()
  // The second is being committed, and only now does the caller say that the first is.
  seen.committed(first)
  expect(filesIn(directory)).toEqual(expect.arrayContaining(namesOf(second)))
  seen.committed(second)
  expect(filesIn(directory)).toEqual(expect.arrayContaining(namesOf(second)))
  seen.committed(seen.state())
  expect(filesIn(directory)).toEqual(namesOf(seen.state()))
})

test('a set may be flushed and compacted while batches wait', async () => {
  const seen = await openSeen(newDirectory())
  const work: Promise<unknown>[] = []
  for (let i = 0; i < 40; i++) {
    work.push(meet(seen, i * 150, i * 150 + 150))
    if (i % 3 === 0) work.push(seen.flush())
    if (i % 11 === 0) work.push(seen.compact())
  }
  await Promise.all(work)
  expect(seen.size).toBe(6_000)
  expect(await meet(seen, 0, 6_000)).toBe(0)
})
