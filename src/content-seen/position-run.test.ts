// A run gives back the positions that were written, reads one block for a look-up, opens without reading its blocks, and
// knows when it is damaged: every part is flipped, swapped and cut, and none of that is ever read as positions.

import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { Random } from '../base/index.ts'
import { BLOCK_BYTES, POSITION_MAX, PositionRun } from './position-run.ts'
import { PositionRunWriter } from './position-run-writer.ts'

type Entry = readonly [high: number, low: number, position: number]

const directory = mkdtempSync(join(tmpdir(), 'portolan-positions-'))
let made = 0
let open: PositionRun[] = []

afterEach(() => {
  for (const run of open) run.close()
  open = []
})
afterAll(() => rmSync(directory, { recursive: true }))

function write(entries: readonly Entry[], savedFilterBytes = 64): PositionRun {
  const number = ++made
  const path = join(directory, `${number}.run`)
  const writer = new PositionRunWriter({ path, number, pages: entries.length, savedFilterBytes })
  for (const [high, low, position] of entries) writer.add(high, low, position)
  for (const done of writer.finish()) expect(done).toBeGreaterThan(0)
  writer.syncNow()
  const run = writer.toRun()
  open.push(run)
  return run
}

async function reopen(run: PositionRun, filterBytes = 64): Promise<PositionRun> {
  const again = await PositionRun.open(run.facts, filterBytes)
  open.push(again)
  return again
}

const ascending = (a: Entry, b: Entry): number => a[0] - b[0] || a[1] - b[1]

function entriesOf(seed: string, count: number): Entry[] {
  const random = new Random(seed)
  return Array.from({ length: count }, (): Entry => [
    random.next32(),
    random.next32(),
    Math.floor(random.fraction() * 2 ** 48),
  ]).sort(ascending)
}

function find(run: PositionRun, high: number, low: number): number[] {
  const found: number[] = []
  run.find(high, low, found)
  return found
}

function listOf(run: PositionRun): Entry[] {
  const found: Entry[] = []
  for (const cursor = run.cursor(); cursor.next();) found.push([cursor.high, cursor.low, cursor.position])
  return found
}

test.for([0, 16, 64])(
  'every key is found with its position, written or read again, saved with %d bytes of filter',
  async (filterBytes) => {
    // More blocks than a piece of the index, than a window of the writer, and than one of a cursor.
    const entries = entriesOf('found', 80_000)
    const written = write(entries, filterBytes)
    for (const run of [written, await reopen(written), await reopen(written, 16), await reopen(written, 0)]) {
      const sample = entries.filter((_, i) => i % 11 === 0)
      expect(sample.filter(([high, low, position]) => find(run, high, low)[0] !== position)).toEqual([])
      expect(listOf(run)).toEqual(entries)
    }
  },
)

test.for([
  [64, 64, 1 / 16],
  [64, 32, 1 / 4],
  [32, 32, 1 / 4],
] as const)(
  'an absent key is not found, and a filter of %d bytes that is opened with %d lets few of them cost a read',
  async ([saved, opened, share]) => {
    const run = await reopen(write(entriesOf('absent', 20_000), saved), opened)
    const random = new Random('others')
    for (let asked = 0; asked < 10_000; asked++) expect(find(run, random.next32(), random.next32())).toEqual([])
    expect(run.blocksRead).toBeLessThan(10_000 * share)
  },
)

test('an empty run holds nothing', async () => {
  const run = await reopen(write([]))
  expect([find(run, 1, 1), listOf(run)]).toEqual([[], []])
})

test('a page costs less than 16 bytes, its filter included, and a look-up one read, rarely two', () => {
  const entries = entriesOf('small', 100_000)
  const run = write(entries)
  expect(run.bytes).toBe(readFileSync(run.facts.path).length)
  expect(run.bytes / entries.length).toBeLessThan(15.3)
  for (let i = 0; i < 1_000; i++) find(run, ...(entries[i * 97]!.slice(0, 2) as [number, number]))
  // Two where the key is the first of its block: another of the same key might stand before it.
  expect(run.blocksRead).toBeLessThanOrEqual(1_050)
})

test.for([1, 2, 71, 72, 73, 144, 145, 300])('a key that stands %d times is found as often', async (times) => {
  const others = entriesOf('others', 100)
  const middle = others[50]!
  const same = Array.from({ length: times }, (_, i): Entry => [middle[0], middle[1], i])
  const run = await reopen(write([...others.filter((one) => one !== middle), ...same].sort(ascending)))
  expect(find(run, middle[0], middle[1]).sort((a, b) => a - b)).toEqual(same.map(([, , position]) => position))
  for (const [high, low, position] of others) if (high !== middle[0]) expect(find(run, high, low)).toEqual([position])
})

test('keys and positions at both ends of the numbers are like others', async () => {
  const ends: Entry[] = [
    [0, 0, 0],
    [0, 1, 2 ** 32 - 1],
    [0x80000000, 0, 2 ** 32],
    [0xffffffff, 0xfffffffe, 5 * 2 ** 32 + 17],
    [0xffffffff, 0xffffffff, POSITION_MAX],
  ]
  const run = await reopen(write(ends))
  expect(ends.map(([high, low]) => find(run, high, low))).toEqual(ends.map(([, , position]) => [position]))
})

test('a byte changed anywhere is damage, named by its file: in a block when it is read, in the index when opened', async () => {
  const entries = entriesOf('flip', 1_000)
  const run = write(entries)
  const whole = readFileSync(run.facts.path)
  const blocks = Math.ceil(entries.length / 72)
  const random = new Random('flips')
  const corrupt = { code: 'LEDGER_CORRUPT', message: expect.stringContaining(run.facts.path) }
  for (let i = 0; i < 120; i++) {
    const bytes = Buffer.from(whole)
    const inIndex = i % 2 === 1
    const at = inIndex
      ? blocks * BLOCK_BYTES + (i < 32 ? i : random.below(whole.length - blocks * BLOCK_BYTES))
      : i < 32
        ? i
        : random.below(blocks * BLOCK_BYTES)
    bytes[at]! ^= 1 << random.below(8)
    writeFileSync(run.facts.path, bytes)
    if (inIndex) {
      await expect(reopen(run)).rejects.toMatchObject(corrupt)
      continue
    }
    const again = await reopen(run)
    const inBlock = entries[Math.floor(at / BLOCK_BYTES) * 72]!
    expect(() => find(again, inBlock[0], inBlock[1])).toThrow(expect.objectContaining(corrupt))
    expect(() => listOf(again)).toThrow(expect.objectContaining(corrupt))
  }
})

test('parts that changed places, a cut, more bytes, another run and a missing file are damage', async () => {
  const entries = entriesOf('swap', 1_200)
  const run = write(entries)
  const whole = readFileSync(run.facts.path)
  const corrupt = { code: 'LEDGER_CORRUPT', message: expect.stringContaining(run.facts.path) }
  const [first, second, rest] = [whole.subarray(0, 1024), whole.subarray(1024, 2048), whole.subarray(2048)]
  writeFileSync(run.facts.path, Buffer.concat([second, first, rest]))
  const swapped = await reopen(run)
  expect(() => find(swapped, entries[0]![0], entries[0]![1])).toThrow(expect.objectContaining(corrupt))
  writeFileSync(run.facts.path, readFileSync(write(entries).facts.path))
  await expect(reopen(run)).rejects.toMatchObject(corrupt)
  // The index of this run over the blocks of another.
  const other = readFileSync(write(entries).facts.path)
  other.set(whole.subarray(17 * 1024), 17 * 1024)
  writeFileSync(run.facts.path, other)
  const mixed = await reopen(run)
  expect(() => find(mixed, entries[0]![0], entries[0]![1])).toThrow(expect.objectContaining(corrupt))
  writeFileSync(run.facts.path, Buffer.concat([whole, first]))
  await expect(reopen(run)).rejects.toMatchObject(corrupt)
  writeFileSync(run.facts.path, whole)
  await expect(PositionRun.open({ ...run.facts, pages: 7 }, 64)).rejects.toMatchObject(corrupt)
  truncateSync(run.facts.path, 1024)
  await expect(reopen(run)).rejects.toMatchObject(corrupt)
  expect(() => find(run, entries[500]![0], entries[500]![1])).toThrow(expect.objectContaining(corrupt))
  rmSync(run.facts.path)
  await expect(reopen(run)).rejects.toMatchObject(corrupt)
})

test('a file that is there already is never written over', () => {
  const { facts } = write(entriesOf('twice', 10))
  expect(() => new PositionRunWriter(facts)).toThrow(expect.objectContaining({ code: 'DISK_FAILED' }))
})
