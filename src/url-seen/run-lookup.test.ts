// Whatever is asked, in whatever order, the lookup answers as the runs would one by one, and reads no block twice.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, expect, test } from 'vitest'
import { Random } from '../base/index.ts'
import { RunWriter, type SortedRun } from '../disk/index.ts'
import { RunLookup } from './run-lookup.ts'
import { type FingerprintBatch, newBatch } from './url-seen.ts'

type Key = readonly [high: number, low: number]

const directory = mkdtempSync(join(tmpdir(), 'portolan-lookup-'))
let made = 0
let open: SortedRun[] = []

afterEach(() => {
  for (const run of open) run.close()
  open = []
})
afterAll(() => rmSync(directory, { recursive: true }))

const nameOf = ([high, low]: Key): string => `${high}:${low}`

function runOf(keys: readonly Key[], filterBytes: number): SortedRun {
  const unique = [...new Map(keys.map((key) => [nameOf(key), key])).values()]
  const writer = new RunWriter(join(directory, `${++made}.run`), unique.length, filterBytes)
  for (const [high, low] of unique.sort((a, b) => a[0] - b[0] || a[1] - b[1])) writer.add(high, low, 1)
  writer.finish()
  const run = writer.toRun()
  open.push(run)
  return run
}

/** Every key of the batch waits; its place is its index plus a thousand. */
function lookUp(lookup: RunLookup, runs: readonly SortedRun[], keys: readonly Key[]) {
  const batch: FingerprintBatch = newBatch(keys.length)
  batch.count = keys.length
  lookup.begin(keys.length)
  for (const [i, [high, low]] of keys.entries()) {
    batch.high[i] = high
    batch.low[i] = low
    batch.isNew[i] = 1
    lookup.add(i, i + 1_000)
  }
  const places: number[] = []
  const absent = lookup.search(runs, batch, (place) => void places.push(place))
  return { isNew: [...batch.isNew], places: places.sort((a, b) => a - b), absent }
}

test('what some runs hold is found with its place, and the rest is new, in any order of asking', () => {
  // Few upper halves: blocks begin within one, and equal ones stand in the order they came.
  const key = fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 4_000 }))
  const lookup = new RunLookup()
  fc.assert(
    fc.property(
      fc.array(fc.array(key, { maxLength: 600 }), { maxLength: 4 }),
      fc.uniqueArray(key, { selector: nameOf, maxLength: 1_500 }),
      fc.constantFrom(0, 52),
      (parts, asked, filterBytes) => {
        const held = new Set(parts.flat().map(nameOf))
        const runs = parts.map((part) => runOf(part, filterBytes))
        const { isNew, places, absent } = lookUp(lookup, runs, asked)
        const expected = asked.map((one) => (held.has(nameOf(one)) ? 0 : 1))
        expect(isNew).toEqual(expected)
        expect(places).toEqual(asked.flatMap((one, i) => (held.has(nameOf(one)) ? [i + 1_000] : [])))
        expect(absent).toBe(expected.filter((flag) => flag === 1).length)
      },
    ),
    { numRuns: 60 },
  )
})

test('a batch of many reads each block of a run once, whatever the order it comes in', () => {
  const random = new Random('dense')
  const keys = Array.from({ length: 60_000 }, (): Key => [random.next32(), random.next32()])
  const run = runOf(keys, 128)
  expect(lookUp(new RunLookup(), [run], keys.slice(0, 20_000)).absent).toBe(0)
  expect(run.blocks).toBeGreaterThan(500)
  expect(run.blocksRead).toBeLessThanOrEqual(run.blocks)
})

test('a batch of few reads the blocks they stand in and no others', () => {
  const random = new Random('sparse')
  const keys = Array.from({ length: 60_000 }, (): Key => [random.next32(), random.next32()])
  const run = runOf(keys, 128)
  const sorted = keys.toSorted((a, b) => a[0] - b[0])
  // Some hundred blocks apart.
  const asked = [0, 20_000, 40_000].map((i) => sorted[i] as Key)
  expect(lookUp(new RunLookup(), [run], asked).absent).toBe(0)
  expect(run.blocksRead).toBe(3)
})

test('it takes memory for the largest batch it has met, and none before', () => {
  const lookup = new RunLookup()
  expect(lookup.memoryBytes).toBe(0)
  lookUp(lookup, [], [[1, 2]])
  const few = lookup.memoryBytes
  expect(few).toBeLessThan(2 ** 16)
  lookup.begin(2 ** 18)
  const many = lookup.memoryBytes
  expect(many).toBeLessThanOrEqual(2 ** 23)
  lookUp(lookup, [], [[1, 2]])
  expect(lookup.memoryBytes).toBe(many)
  expect(many).toBeGreaterThan(few)
})
