// A run gives back what was written, reads at most one block for a look-up, and knows when it is damaged: every
// block is flipped, swapped and cut, and none of that is ever read as keys.

import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, expect, test } from 'vitest'
import { Random } from '../base/index.ts'
import { mergeRuns } from './merge-runs.ts'
import { RUN_WINDOW_BLOCKS } from './run-block.ts'
import { RunWriter } from './run-writer.ts'
import { SortedRun } from './sorted-run.ts'

type Entry = readonly [high: number, low: number, count: number]

const directory = mkdtempSync(join(tmpdir(), 'portolan-run-'))
let made = 0
let open: SortedRun[] = []

function closeAll(): void {
  for (const run of open) run.close()
  open = []
}

afterEach(closeAll)
afterAll(() => rmSync(directory, { recursive: true }))

function write(entries: readonly Entry[], filterBytes = 128): SortedRun {
  const writer = new RunWriter(join(directory, `${++made}.run`), entries.length, filterBytes)
  for (const [high, low, count] of entries) writer.add(high, low, count)
  writer.finish()
  writer.syncNow()
  const run = writer.toRun()
  open.push(run)
  return run
}

async function reopen({ path, blocks, keys }: SortedRun, filterBytes = 128): Promise<SortedRun> {
  const run = await SortedRun.open(path, { blocks, keys, filterBytes })
  open.push(run)
  return run
}

function entriesOf(seed: string, count: number): Entry[] {
  const random = new Random(seed)
  const keys = new Map<string, Entry>()
  while (keys.size < count) {
    // Few different upper halves, so that blocks begin within one; counts small and large.
    const entry: Entry = [random.below(8) * 0x20000000, random.next32(), random.pick([1, 2, 254, 255, 256, 65_535])]
    keys.set(`${entry[0]}:${entry[1]}`, entry)
  }
  return [...keys.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1])
}

function find(run: SortedRun, high: number, low: number): number {
  const block = run.locate(high, low)
  return block === -1 ? 0 : run.loadCount(block, high, low)
}

function listOf(runs: readonly SortedRun[]): Entry[] {
  const found: Entry[] = []
  for (const read of mergeRuns(runs, (...entry) => void found.push(entry))) expect(read).toBeGreaterThan(0)
  return found
}

test.for([0, 32, 52, 128])(
  'every key is found with its count, written or read again, with %d bytes of filter',
  async (filterBytes) => {
    const entries = entriesOf('found', 20_000)
    const written = write(entries, filterBytes)
    const read = await reopen(written, filterBytes)
    for (const run of [written, read]) {
      expect(entries.filter(([high, low, count]) => find(run, high, low) !== count)).toEqual([])
      expect(listOf([run])).toEqual(entries)
    }
  },
)

test('an absent key is not found, and seldom costs a read', () => {
  const entries = entriesOf('absent', 20_000)
  const run = write(entries)
  const random = new Random('others')
  const present = new Set(entries.map(([high, low]) => `${high}:${low}`))
  let asked = 0
  while (asked < 10_000) {
    const high = random.below(8) * 0x20000000
    const low = random.next32()
    if (present.has(`${high}:${low}`)) continue
    asked++
    expect(find(run, high, low)).toBe(0)
  }
  expect(run.blocksRead).toBeLessThan(asked / 20)
  expect(find(write([]), 1, 1)).toBe(0)
})

test('keys are located in any order of asking: near the last one, far from it, before it', () => {
  const entries = entriesOf('order', 8_000)
  const run = write(entries, 0)
  // Asked in ascending order: every block in turn, and each key is truly there.
  const blocks = entries.map(([high, low]) => run.locate(high, low))
  expect(blocks).toEqual(blocks.toSorted((a, b) => a - b))
  expect(new Set(blocks).size).toBe(run.blocks)
  expect(entries.filter(([high, low, count]) => find(run, high, low) !== count)).toEqual([])
  const place = fc.integer({ min: 0, max: entries.length - 1 })
  fc.assert(
    fc.property(fc.array(place, { minLength: 1, maxLength: 200 }), (places) => {
      for (const i of places) {
        const [high, low] = entries[i] as Entry
        expect(run.locate(high, low)).toBe(blocks[i])
      }
    }),
  )
})

test.for([
  [32, 0.42],
  [52, 0.2],
  [64, 0.14],
  [128, 0.04],
] as const)('a filter of %d bytes a block lets at most %d of absent keys pass', ([filterBytes, share]) => {
  const entries = entriesOf('filter', 40_000)
  const run = write(entries, filterBytes)
  const present = new Set(entries.map(([high, low]) => `${high}:${low}`))
  const random = new Random('absent')
  let passed = 0
  for (let i = 0; i < 20_000; i++) {
    const [high, low] = [random.below(8) * 0x20000000, random.next32()]
    if (!present.has(`${high}:${low}`) && run.locate(high, low) !== -1) passed++
  }
  expect(passed / 20_000).toBeLessThan(share)
  // And not far below: what a filter costs is what it is for.
  expect(passed / 20_000).toBeGreaterThan(share / 3)
})

test('a key costs 9.15 bytes when counts are small, and one read', () => {
  const entries = entriesOf('small', 100_000).map(([high, low]): Entry => [high, low, 3])
  const run = write(entries)
  expect(run.bytes / entries.length).toBeLessThan(9.15)
  for (let i = 0; i < 1_000; i++) find(run, ...(entries[i * 97] as unknown as [number, number]))
  expect(run.blocksRead).toBeLessThanOrEqual(1_000)
})

test('blocks loaded together are read once', () => {
  const entries = entriesOf('window', 60_000)
  const run = write(entries)
  run.load(3, RUN_WINDOW_BLOCKS)
  const read = run.blocksRead
  const inside = entries.filter(([high, low]) => {
    const block = run.locate(high, low)
    return block >= 3 && block < 3 + RUN_WINDOW_BLOCKS
  })
  expect(inside.length).toBeGreaterThan(20_000)
  expect(inside.every(([high, low, count]) => find(run, high, low) === count)).toBe(true)
  expect(run.blocksRead).toBe(read)
})

test('keys at both ends of the numbers are keys like others', async () => {
  const ends: Entry[] = [
    [0, 0, 1],
    [0, 1, 2],
    [0x80000000, 0, 3],
    [0xffffffff, 0xfffffffe, 4],
    [0xffffffff, 0xffffffff, 65_535],
  ]
  const run = await reopen(write(ends))
  expect(ends.map(([high, low]) => find(run, high, low))).toEqual([1, 2, 3, 4, 65_535])
})

test('any runs merge as a map would add them up', () => {
  const key = fc.integer({ min: 0, max: 500 })
  const count = fc.constantFrom(1, 2, 254, 255, 256, 1_000)
  fc.assert(
    fc.property(fc.array(fc.array(fc.tuple(key, count), { maxLength: 400 }), { maxLength: 6 }), (parts) => {
      const sums = new Map<number, number>()
      const runs = parts.map((part) => {
        const entries = [...new Map(part)].sort(([a], [b]) => a - b)
        for (const [low, times] of entries) sums.set(low, (sums.get(low) ?? 0) + times)
        return write(entries.map(([low, times]): Entry => [low >>> 3, low, times]))
      })
      expect(listOf(runs)).toEqual([...sums].sort(([a], [b]) => a - b).map(([low, sum]) => [low >>> 3, low, sum]))
      closeAll()
    }),
    { numRuns: 60 },
  )
})

test('runs merge into one order, a key of several with the sum of its counts', () => {
  const entries = entriesOf('merge', 30_000)
  const parts = [3, 4, 5].map((modulo) => write(entries.filter((_, i) => i % modulo === 0)))
  const expected = entries.flatMap(([high, low, count], i): Entry[] => {
    const times = [3, 4, 5].filter((modulo) => i % modulo === 0).length
    return times === 0 ? [] : [[high, low, times * count]]
  })
  expect(listOf(parts)).toEqual(expected)
  expect(listOf([])).toEqual([])
})

test('a byte changed anywhere is damage, named by its file, when opened and when looked up', async () => {
  const entries = entriesOf('flip', 1_200)
  const run = write(entries)
  const whole = readFileSync(run.path)
  const random = new Random('flips')
  for (let i = 0; i < 60; i++) {
    const bytes = Buffer.from(whole)
    const at = i < 16 ? i : random.below(bytes.length)
    bytes[at] = (bytes[at] as number) ^ (1 << random.below(8))
    writeFileSync(run.path, bytes)
    await expect(reopen(run)).rejects.toMatchObject({
      code: 'LEDGER_CORRUPT',
      message: expect.stringContaining(run.path),
    })
    // The run that is open reads the same bytes.
    const block = Math.floor(at / 1024)
    const inBlock = entries.find(([high, low]) => run.locate(high, low) === block) as Entry
    run.load(block, 1)
    expect(() => find(run, inBlock[0], inBlock[1])).toThrow(expect.objectContaining({ code: 'LEDGER_CORRUPT' }))
    expect(() => listOf([run])).toThrow(expect.objectContaining({ code: 'LEDGER_CORRUPT' }))
  }
})

test('blocks that changed places, a cut, more bytes and a missing file are damage', async () => {
  const run = write(entriesOf('swap', 1_200))
  const whole = readFileSync(run.path)
  const corrupt = { code: 'LEDGER_CORRUPT', message: expect.stringContaining(run.path) }
  const [first, second, rest] = [whole.subarray(0, 1024), whole.subarray(1024, 2048), whole.subarray(2048)]
  writeFileSync(run.path, Buffer.concat([second, first, rest]))
  await expect(reopen(run)).rejects.toMatchObject(corrupt)
  writeFileSync(run.path, Buffer.concat([whole, first]))
  await expect(reopen(run)).rejects.toMatchObject(corrupt)
  writeFileSync(run.path, whole)
  await expect(SortedRun.open(run.path, { blocks: run.blocks, keys: 7, filterBytes: 0 })).rejects.toMatchObject(corrupt)
  truncateSync(run.path, 1024)
  await expect(reopen(run)).rejects.toMatchObject(corrupt)
  expect(() => run.load(1, 1)).toThrow(expect.objectContaining(corrupt))
  rmSync(run.path)
  await expect(reopen(run)).rejects.toMatchObject(corrupt)
})

test('a file that is there already is never written over', () => {
  const { path } = write(entriesOf('twice', 10))
  expect(() => new RunWriter(path, 1, 0)).toThrow(expect.objectContaining({ code: 'DISK_FAILED' }))
})
