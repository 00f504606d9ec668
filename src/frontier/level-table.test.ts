import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Random } from '../base/index.ts'
import { LevelStore } from './level-store.ts'
import { readTable, tableOf } from './level-table.ts'
import { unpackSnappy } from './snappy.ts'

const KEYS = 1_500
let root = ''
/** As LevelDB has written them: one of values that can be packed, one of others. */
const tables: Buffer[] = []

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'portolan-table-'))
  const random = new Random('table')
  for (const kind of ['packed', 'plain']) {
    const directory = join(root, kind)
    const store = await LevelStore.open(directory)
    const batch = store.batch()
    for (let i = 0; i < KEYS; i++) {
      const value =
        kind === 'packed' ? Buffer.alloc(90, `${i} `) : Buffer.from(Array.from({ length: 90 }, () => random.below(256)))
      batch.put(`h${i}.example`, value)
    }
    await batch.write()
    await store.merge(2 ** 40)
    await store.close()
    for (const name of await readdir(directory))
      if (name.endsWith('.ldb')) tables.push(await readFile(join(directory, name)))
  }
})
afterAll(async () => {
  await rm(root, { recursive: true, force: true })
})

test('tables that LevelDB writes are sound, packed or not', () => {
  expect(tables.length).toBe(2)
  const [packed, plain] = tables.map((bytes) => readTable(bytes))
  expect([packed?.damage, plain?.damage]).toEqual([null, null])
  expect(packed?.blocks?.length).toBeGreaterThan(3)
  expect(plain?.blocks?.length).toBeGreaterThan(3)
  // Both kinds of blocks, or the test is worth less than it seems.
  const kinds = tables.map((bytes, i) => [packed, plain][i]?.blocks?.map(({ offset, size }) => bytes[offset + size]))
  expect(new Set(kinds[0])).toEqual(new Set([1]))
  expect(new Set(kinds[1])).toEqual(new Set([0]))
})

test('what LevelDB has packed can be unpacked', () => {
  const [packed] = tables
  const blocks = readTable(packed ?? Buffer.alloc(0)).blocks ?? []
  const unpacked = Buffer.concat(
    blocks.map(
      ({ offset, size }) => unpackSnappy(packed?.subarray(offset, offset + size) ?? Buffer.alloc(0)) ?? Buffer.alloc(0),
    ),
  ).toString('latin1')
  for (let i = 0; i < KEYS; i++) expect(unpacked).toContain(Buffer.alloc(90, `${i} `).toString('latin1'))
})

test('every bit of a table counts: whichever is flipped, it is damaged, or says the same', () => {
  const random = new Random('bits')
  for (const table of tables) {
    const places = Array.from({ length: 60 }, () => random.below(table.length))
    // All of what everything hangs on: the footer, and what stands before it.
    for (let at = table.length - 60; at < table.length; at++) places.push(at)
    const { blocks } = readTable(table)
    for (const at of places) {
      const bytes = Buffer.from(table)
      bytes[at] = (bytes[at] as number) ^ (1 << random.below(8))
      const reading = readTable(bytes)
      // A longer way to write the same number.
      if (reading.damage === null) expect({ at, blocks: reading.blocks }).toEqual({ at, blocks })
      if (at < table.length - 48) expect(reading.damage, `${at}`).not.toBe(null)
    }
  }
})

test('cut anywhere it is damaged', () => {
  const random = new Random('cuts')
  for (const table of tables) {
    for (let i = 0; i < 50; i++) expect(readTable(table.subarray(0, random.below(table.length))).damage).not.toBe(null)
    expect(readTable(Buffer.concat([table, Buffer.alloc(1)])).damage).not.toBe(null)
  }
})

test('of a damaged table one is made that has all blocks but the damaged, and is sound', () => {
  for (const table of tables) {
    const bytes = Buffer.from(table)
    const second = readTable(bytes).blocks?.[1]
    bytes[second?.offset ?? 0] = (bytes[second?.offset ?? 0] as number) ^ 1
    const reading = readTable(bytes)
    expect(reading.damage).toMatch(/^1 of its \d+ blocks are damaged, the first at byte \d+$/)
    expect(reading.blocks?.flatMap(({ isSound }, i) => (isSound ? [] : [i]))).toEqual([1])
    const left = readTable(tableOf(bytes, reading.blocks ?? []) ?? Buffer.alloc(0))
    expect(left.damage).toBe(null)
    const keys = reading.blocks?.filter(({ isSound }) => isSound).map(({ lastKey }) => lastKey.toString('latin1'))
    expect(left.blocks?.map(({ lastKey }) => lastKey.toString('latin1'))).toEqual(keys)
  }
})

test('of a table without a sound block nothing is left', () => {
  expect(tableOf(Buffer.alloc(0), [])).toBe(null)
})
