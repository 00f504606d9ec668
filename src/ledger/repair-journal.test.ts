// Repair keeps the longest good prefix, throws nothing away, and what it leaves opens and goes on.

import { copyFile, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { commitSamples, IDENTITY, journalOf, numbersIn, openJournal, upTo } from '../../test/journal-samples.ts'
import { inspectJournal, repairJournal } from './repair-journal.ts'

/** Segments 1–3, 4–6, 7–9, 10–11. */
const LAST = 11
const NAMES = [1, 4, 7, 10].map((first) => `batches-${String(first).padStart(10, '0')}.log`)
const [FIRST = '', SECOND = '', THIRD = '', CURRENT = ''] = NAMES
const WALL_MS = Date.UTC(2026, 10, 16, 5, 30)
const ASIDE = 'damaged-2026-11-16T05-30-00.000Z'
const LOG_HEADER_BYTES = 24
const FRAME_HEAD_BYTES = 20

async function flip(path: string, at: number): Promise<Buffer> {
  const bytes = await readFile(path)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  await writeFile(path, bytes)
  return bytes
}

/** Where each frame of a segment begins: its head, its batches, its seal. */
function frameStarts(bytes: Buffer): number[] {
  const starts: number[] = []
  for (
    let at = LOG_HEADER_BYTES;
    at + FRAME_HEAD_BYTES <= bytes.length;
    at += FRAME_HEAD_BYTES + bytes.readUInt32LE(at + 8)
  )
    starts.push(at)
  return starts
}

async function frameStart(path: string, index: number): Promise<number> {
  return frameStarts(await readFile(path)).at(index) ?? 0
}

/** What repair left opens, hands out these batches, and takes more. */
async function expectGoesOn(directory: string, numbers: readonly number[]): Promise<void> {
  expect((await inspectJournal(directory)).isSound).toBe(true)
  expect(await numbersIn(directory)).toEqual(numbers)
  const journal = await openJournal(directory)
  await commitSamples(journal, 4)
  await journal.close()
  const last = numbers.at(-1) ?? 0
  expect(await numbersIn(directory)).toEqual([...numbers, ...upTo(last + 4, last + 1)])
}

describe('inspecting', () => {
  test('a whole journal says what each segment holds', async () => {
    const directory = await journalOf(LAST)
    const found = await inspectJournal(directory)
    expect(found.isSound).toBe(true)
    expect(
      found.segments.map(({ file, firstNumber, lastNumber, state }) => [file, firstNumber, lastNumber, state]),
    ).toEqual([
      [FIRST, 1, 3, 'whole'],
      [SECOND, 4, 6, 'whole'],
      [THIRD, 7, 9, 'whole'],
      [CURRENT, 10, 11, 'whole'],
    ])
    expect(found.segments[0]?.bytes).toBe((await readFile(join(directory, FIRST))).length)
  })

  test('a torn tail is told, and is no damage', async () => {
    const directory = await journalOf(LAST)
    const path = join(directory, CURRENT)
    await truncate(path, (await readFile(path)).length - 1)
    const found = await inspectJournal(directory)
    expect(found.isSound).toBe(true)
    expect(found.segments.at(-1)).toMatchObject({ state: 'torn-tail', lastNumber: 10, damage: null, lost: null })
  })

  test('damage is told with its byte and the batches that are lost, in every segment', async () => {
    const directory = await journalOf(LAST)
    const inSecond = await frameStart(join(directory, SECOND), 2)
    const inCurrent = await frameStart(join(directory, CURRENT), 1)
    await flip(join(directory, SECOND), inSecond + 30)
    await flip(join(directory, CURRENT), inCurrent + 30)
    const before = await readFile(join(directory, SECOND))
    const found = await inspectJournal(directory)
    expect(found.isSound).toBe(false)
    expect(found.segments[1]).toMatchObject({
      state: 'damaged',
      lastNumber: 4,
      damage: { code: 'LEDGER_CORRUPT', at: inSecond },
      lost: { from: 5, to: 6 },
    })
    expect(found.segments[2]).toMatchObject({ state: 'whole', lastNumber: 9 })
    expect(found.segments[3]).toMatchObject({ state: 'damaged', lastNumber: 9, lost: { from: 10, to: null } })
    expect(await readFile(join(directory, SECOND))).toEqual(before)
  })

  test('a directory without a journal has nothing to tell', async () => {
    expect(await inspectJournal(join(await journalOf(0), 'nothing'))).toEqual({
      segments: [],
      misnamed: [],
      isSound: true,
    })
  })
})

describe('repairing', () => {
  test('a sound journal changes nothing, a torn tail included', async () => {
    const directory = await journalOf(LAST)
    const path = join(directory, CURRENT)
    await truncate(path, (await readFile(path)).length - 1)
    const before = await readFile(path)
    const { kept, movedTo } = await repairJournal(directory, { wallMs: WALL_MS })
    expect([kept, movedTo]).toEqual([{ firstNumber: 1, lastNumber: 10 }, null])
    expect(await readFile(path)).toEqual(before)
    expect(await readdir(dirname(directory))).toEqual(['journal'])
  })

  test('cuts the damaged segment at its last good batch and moves aside all that follows', async () => {
    const directory = await journalOf(LAST)
    const path = join(directory, SECOND)
    const damaged = await flip(path, (await frameStart(path, 2)) + 30)
    const third = await readFile(join(directory, THIRD))
    const repair = await repairJournal(directory, { wallMs: WALL_MS })
    const aside = join(dirname(directory), ASIDE)
    expect(repair).toMatchObject({
      kept: { firstNumber: 1, lastNumber: 4 },
      movedTo: aside,
      moved: [CURRENT, THIRD],
      copied: [SECOND],
    })
    expect((await readdir(directory)).sort()).toEqual([FIRST, SECOND])
    expect(await readFile(join(aside, SECOND))).toEqual(damaged)
    expect(await readFile(join(aside, THIRD))).toEqual(third)
    await expectGoesOn(directory, upTo(4))
  })

  test('a missing segment ends the journal before it', async () => {
    const directory = await journalOf(LAST)
    await rm(join(directory, SECOND))
    const repair = await repairJournal(directory, { wallMs: WALL_MS })
    expect(repair).toMatchObject({ kept: { firstNumber: 1, lastNumber: 3 }, moved: [CURRENT, THIRD], copied: [] })
    await expectGoesOn(directory, upTo(3))
  })

  test('a missing last segment costs its own batches only', async () => {
    const directory = await journalOf(LAST)
    await rm(join(directory, CURRENT))
    const repair = await repairJournal(directory, { wallMs: WALL_MS })
    expect(repair).toMatchObject({ kept: { firstNumber: 1, lastNumber: 9 }, moved: [], copied: [], movedTo: null })
    await expectGoesOn(directory, upTo(9))
  })

  test('a damaged seal costs no batch', async () => {
    const directory = await journalOf(LAST)
    const path = join(directory, SECOND)
    await flip(path, (await frameStart(path, -1)) + 25)
    const repair = await repairJournal(directory, { wallMs: WALL_MS })
    expect(repair).toMatchObject({ kept: { firstNumber: 1, lastNumber: LAST }, moved: [], copied: [SECOND] })
    await expectGoesOn(directory, upTo(LAST))
  })

  test('a foreign, an exchanged and a misnamed file are moved aside', async () => {
    const directory = await journalOf(LAST)
    const other = await journalOf(LAST, { ...IDENTITY, name: 'other' })
    await copyFile(join(other, THIRD), join(directory, THIRD))
    await copyFile(join(directory, FIRST), join(directory, 'batches-1.log'))
    const repair = await repairJournal(directory, { wallMs: WALL_MS })
    expect(repair).toMatchObject({ kept: { lastNumber: 6 }, moved: ['batches-1.log', CURRENT, THIRD], copied: [] })
    await expectGoesOn(directory, upTo(6))

    const swapped = await journalOf(LAST)
    await rename(join(swapped, SECOND), join(swapped, 'aside'))
    await rename(join(swapped, THIRD), join(swapped, SECOND))
    await rename(join(swapped, 'aside'), join(swapped, THIRD))
    expect(await repairJournal(swapped, { wallMs: WALL_MS })).toMatchObject({ kept: { lastNumber: 3 } })
    await expectGoesOn(swapped, upTo(3))
  })

  test('a journal whose first head is gone keeps nothing, and deletes nothing', async () => {
    const directory = await journalOf(LAST)
    await truncate(join(directory, FIRST), 0)
    const repair = await repairJournal(directory, { wallMs: WALL_MS })
    expect(repair.kept).toBeNull()
    expect((await readdir(join(dirname(directory), ASIDE))).sort()).toEqual(NAMES)
    expect(await readdir(directory)).toEqual([])
  })

  test('damage among batches that the state on disk holds costs nothing', async () => {
    const directory = await journalOf(LAST)
    await flip(join(directory, FIRST), 300)
    const repair = await repairJournal(directory, { wallMs: WALL_MS, heldUpTo: 4 })
    expect(repair).toMatchObject({ kept: { firstNumber: 4, lastNumber: LAST }, moved: [FIRST], copied: [] })
    await expectGoesOn(directory, upTo(LAST, 4))
  })

  test('damage behind what the state on disk holds keeps also what lies before', async () => {
    const directory = await journalOf(LAST)
    const path = join(directory, THIRD)
    await flip(path, (await frameStart(path, 3)) + 30)
    const repair = await repairJournal(directory, { wallMs: WALL_MS, heldUpTo: 4 })
    expect(repair).toMatchObject({ kept: { firstNumber: 1, lastNumber: 8 }, moved: [CURRENT], copied: [THIRD] })
    await expectGoesOn(directory, upTo(8))
  })

  test('a segment of another version is left to the version that wrote it', async () => {
    const directory = await journalOf(LAST)
    const path = join(directory, THIRD)
    const bytes = await readFile(path)
    bytes.writeUInt32LE(99, 8)
    bytes.writeUInt32LE(crc32(bytes.subarray(0, 20)), 20)
    await writeFile(path, bytes)
    await expect(repairJournal(directory, { wallMs: WALL_MS })).rejects.toMatchObject({ code: 'LEDGER_VERSION' })
    expect((await readdir(directory)).sort()).toEqual(NAMES)
  })

  test('whatever was flipped, cut or removed, what is left opens, and holds all before the first harm', async () => {
    const harm = fc.record({ file: fc.nat(3), at: fc.nat(), how: fc.constantFrom('flip', 'cut', 'remove') })
    await fc.assert(
      fc.asyncProperty(fc.array(harm, { minLength: 1, maxLength: 3 }), async (harms) => {
        const directory = await journalOf(LAST)
        let unharmed = LAST
        for (const { file, at, how } of harms) {
          const path = join(directory, NAMES[file] ?? '')
          const bytes = await readFile(path).catch(() => Buffer.alloc(0))
          if (bytes.length === 0) continue
          const where = how === 'remove' ? 0 : at % bytes.length
          // Frames that begin up to there, the head and the one that is hit not counted.
          const before = Math.max(0, frameStarts(bytes).filter((start) => start <= where).length - 2)
          unharmed = Math.min(unharmed, 3 * file + before)
          if (how === 'remove') await rm(path)
          else if (how === 'cut') await truncate(path, where)
          else await flip(path, where)
        }
        const { kept } = await repairJournal(directory, { wallMs: WALL_MS })
        expect(kept?.lastNumber ?? 0).toBeGreaterThanOrEqual(unharmed)
        if (kept !== null) expect(await numbersIn(directory)).toEqual(upTo(kept.lastNumber, kept.firstNumber))
      }),
      { numRuns: 25 },
    )
  })
})
