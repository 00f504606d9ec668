// Stores of LevelDB with any damage to any file: opening, reading and merging never end the process, damage to a table is always found,
// and what is rescued is what was there. LevelDB alone aborts: without the check before it, this file kills its process.
//
//   npm run fuzz:level                          5,000 cases
//   PORTOLAN_FUZZ_SEED=7 npm run fuzz:level     others

import { cp, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Fault, Random } from '../base/index.ts'
import { findDamage } from './level-check.ts'
import { LevelStore } from './level-store.ts'

const CASES = Number(process.env['PORTOLAN_FUZZ_DAMAGES'] ?? 200)
const SEED = process.env['PORTOLAN_FUZZ_SEED'] ?? 'portolan'
const LANES = 4
const ROUNDS = 5
const KEYS = 400
const VALUE_BYTES_MAX = 900
const LAST = '\uffff'
const UNTOUCHED = /^(?:LOCK|LOG|LOG\.old|lost)$/

interface Sample {
  readonly directory: string
  readonly names: readonly string[]
  readonly truth: ReadonlyMap<string, string>
  /** All that was ever written under a key. */
  readonly history: ReadonlyMap<string, ReadonlySet<string>>
}

let root = ''
const samples: Sample[] = []

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'portolan-level-'))
  for (const kind of ['loose', 'merged', 'rescued']) samples.push(await makeSample(kind))
})
afterAll(async () => {
  await rm(root, { recursive: true, force: true })
})

/** Each opening makes a table of what was written before it; the last round is in a log. */
async function makeSample(kind: string): Promise<Sample> {
  const directory = join(root, kind)
  const random = new Random(kind)
  const truth = new Map<string, string>()
  const history = new Map<string, Set<string>>()
  for (let round = 0; round < ROUNDS; round++) {
    const store = await LevelStore.open(directory)
    if (kind === 'merged' && round === ROUNDS - 1) await store.merge(2 ** 40)
    for (let part = 0; part < 3; part++) {
      const batch = store.batch()
      for (let i = 0; i < KEYS / 4; i++) {
        const key = `h${random.below(KEYS).toString(36).padStart(4, '0')}.example`
        if (random.fraction() < 0.2) {
          batch.delete(key)
          truth.delete(key)
          continue
        }
        const value = valueOf(random)
        batch.put(key, value)
        truth.set(key, value.toString('latin1'))
        history.set(key, (history.get(key) ?? new Set()).add(value.toString('latin1')))
      }
      await batch.write()
    }
    await store.close()
  }
  if (kind === 'rescued') await (await LevelStore.rescue(directory)).store.close()
  const names = (await readdir(directory)).filter((name) => !UNTOUCHED.test(name))
  return { directory, names, truth, history }
}

/** Some can be packed, some cannot. */
function valueOf(random: Random): Buffer {
  const length = random.below(VALUE_BYTES_MAX)
  if (random.fraction() < 0.5) return Buffer.alloc(length, `value ${random.below(100)} `)
  return Buffer.from(Array.from({ length }, () => random.below(256)))
}

async function damage(path: string, random: Random): Promise<string> {
  const bytes = await readFile(path)
  const at = random.below(Math.max(1, bytes.length))
  // Where everything hangs on: footer, index, filter.
  const place = random.fraction() < 0.4 ? Math.max(0, bytes.length - 1 - random.below(600)) : at
  switch (random.below(6)) {
    case 0:
      await rm(path)
      return 'missing'
    case 1:
      await truncate(path, at)
      return `cut at ${at}`
    case 2:
      await writeFile(path, Buffer.concat([bytes, Buffer.alloc(1 + random.below(100), random.below(256))]))
      return 'longer'
    case 3: {
      bytes.fill(
        random.fraction() < 0.5 ? 0 : random.below(256),
        place,
        Math.min(bytes.length, place + random.below(5_000)),
      )
      await writeFile(path, bytes)
      return `overwritten from ${place}`
    }
    default:
      bytes[place] = (bytes[place] ?? 0) ^ (1 << random.below(8))
      await writeFile(path, bytes)
      return `flipped at ${place}`
  }
}

function textOf(value: Uint8Array | undefined): string | undefined {
  return value === undefined ? undefined : Buffer.from(value).toString('latin1')
}

/** Reads everything in both ways, merges, and reads once more. */
async function contentsOf(store: LevelStore, keys: readonly string[]): Promise<Map<string, string>> {
  const read = async (): Promise<Map<string, string>> => {
    const found = new Map<string, string>()
    for await (const [key, value] of store.range('', LAST)) found.set(key, textOf(value) as string)
    const values = await store.getMany(keys)
    const other = keys.filter((key, i) => found.get(key) !== textOf(values[i]))
    expect(other).toEqual([])
    return found
  }
  try {
    const before = await read()
    await store.merge(2 ** 40)
    expect(await read()).toEqual(before)
    return before
  } finally {
    await store.close()
  }
}

async function openOrNull(directory: string): Promise<LevelStore | null> {
  try {
    return await LevelStore.open(directory)
  } catch (fault) {
    expect(fault).toBeInstanceOf(Fault)
    expect(fault).toMatchObject({ code: 'LEDGER_CORRUPT' })
    expect((fault as Fault).message).toContain(directory)
    return null
  }
}

/** Opens a damaged copy of a sample, and rescues it where that is refused. */
async function tryCase(i: number): Promise<'opened' | 'refused' | 'partly rescued'> {
  const random = new Random(`${SEED} ${i}`)
  const sample = random.pick(samples)
  const name = random.pick(sample.names)
  const isTable = name.endsWith('.ldb')
  const directory = join(root, `case-${i}`)
  await cp(sample.directory, directory, { recursive: true, filter: (path) => !UNTOUCHED.test(basename(path)) })
  const what = `case ${i}: ${name} of ${sample.directory} ${await damage(join(directory, name), random)}`
  const keys = [...sample.history.keys()]
  const expectWritten = (found: ReadonlyMap<string, string>): void => {
    const other = [...found].filter(([key, value]) => sample.history.get(key)?.has(value) !== true)
    expect(other, what).toEqual([])
  }
  // A large store is read past the page cache: it is the same to the letter.
  expect(await findDamage(directory, 0), what).toBe(await findDamage(directory))
  const store = await openOrNull(directory)
  if (store !== null) {
    const found = await contentsOf(store, keys)
    expectWritten(found)
    if (isTable) expect(found, what).toEqual(sample.truth)
    await rm(directory, { recursive: true })
    return 'opened'
  }
  const { store: rescued, lost } = await LevelStore.rescue(directory)
  const found = await contentsOf(rescued, keys)
  expectWritten(found)
  await rm(directory, { recursive: true })
  if (name.endsWith('.log')) return 'refused'
  // All tables are there: more may be feared for than is lost.
  if (!isTable) expect(found, what).toEqual(sample.truth)
  const isSure = (key: string): boolean => !lost.some(({ from, to }) => key >= from && key <= to)
  const sure = (all: ReadonlyMap<string, string>): [string, string][] =>
    [...all].filter(([key]) => isSure(key)).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const expected = sure(sample.truth)
  expect(sure(found), what).toEqual(expected)
  return isTable && expected.length > 0 ? 'partly rescued' : 'refused'
}

test('any damage to any file is found or harmless, and what is rescued was there', async () => {
  const outcomes = { opened: 0, refused: 0, 'partly rescued': 0 }
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < CASES) outcomes[await tryCase(next++)]++
  }
  // Most of the time is waiting for the disk.
  await Promise.all(Array.from({ length: LANES }, lane))
  for (const count of Object.values(outcomes)) expect(count).toBeGreaterThan(CASES / 20)
}, 3_600_000)
