// A journal never opens with a hole. Every byte of every segment is flipped, segments are deleted, renamed, copied,
// exchanged, cut and brought in from elsewhere: it refuses, says where and what to do, and has changed nothing. The one
// thing that cannot be told from a crash is the last batch spoilt: that one is cut off.

import { copyFile, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { commitSamples, IDENTITY, journalOf, numbersIn, openJournal, upTo } from '../../test/journal-samples.ts'
import { Fault, Random } from '../base/index.ts'
import { FramedLog } from '../disk/index.ts'
import { emptyBatch, encodeBatch } from './batch-codec.ts'
import { digestOf, encodeIdentity, encodeRecord, SEGMENT_FORMAT_VERSION } from './segment-record.ts'

/** Segments 1–3, 4–6, 7–9, 10–11. */
const LAST = 11
const NAMES = [1, 4, 7, 10].map((first) => `batches-${String(first).padStart(10, '0')}.log`)
const [FIRST = '', SECOND = '', THIRD = '', CURRENT = ''] = NAMES

const LOG_HEADER_BYTES = 24
const FRAME_HEAD_BYTES = 20
const SEAL_BYTES = FRAME_HEAD_BYTES + 23

async function sample(): Promise<string> {
  const directory = await journalOf(LAST)
  expect((await readdir(directory)).sort()).toEqual(NAMES)
  return directory
}

async function bytesOf(directory: string): Promise<Map<string, Buffer>> {
  const names = (await readdir(directory)).sort()
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name))] as const)))
}

/** Opening refuses, names the file and the way out, and touches nothing. */
async function expectRefused(directory: string, file: string, what: string | RegExp, how = ''): Promise<void> {
  const before = await bytesOf(directory)
  const fault = await numbersIn(directory).then(
    () => expect.unreachable(`it opened ${how}`),
    (error: unknown) => error,
  )
  expect(fault, how).toBeInstanceOf(Fault)
  const { code, message } = fault as Fault
  expect(code, how).toBe('LEDGER_CORRUPT')
  expect(message, how).toContain(join(directory, file))
  expect(message, how).toMatch(what)
  expect(message, how).toContain('portolan repair')
  expect(await bytesOf(directory), how).toEqual(before)
}

/** All that is not text of a batch: header, head, seal, frame and number of each batch; and of the text every 23rd byte. */
function bytesToFlip(segment: Buffer): number[] {
  const salt = segment.subarray(12, 20)
  const chosen = new Set<number>()
  for (let frame = segment.indexOf(salt, LOG_HEADER_BYTES); frame !== -1; frame = segment.indexOf(salt, frame + 1)) {
    for (let at = frame; at < frame + SEAL_BYTES; at++) chosen.add(at)
  }
  for (let at = 0; at < segment.length; at += at < 140 ? 1 : 23) chosen.add(at)
  return [...chosen]
}

test('a flipped bit anywhere is refused, but in the last batch, which is cut off', async () => {
  // A sealed segment and the current one, 1–3 and 4–5.
  const directory = await journalOf(5)
  const journal = await openJournal(directory)
  const lastBatchBytes = journal.bytesAfter(4)
  await journal.close()
  let refused = 0
  for (const name of [FIRST, SECOND]) {
    const path = join(directory, name)
    const bytes = await readFile(path)
    const promisedUpTo = name === SECOND ? bytes.length - lastBatchBytes : bytes.length
    for (const at of bytesToFlip(bytes)) {
      const flipped = Buffer.from(bytes)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8))
      await writeFile(path, flipped)
      const opened = await numbersIn(directory).catch((fault: unknown) => (fault as Fault).code)
      if (at < promisedUpTo) {
        expect(['LEDGER_CORRUPT', 'LEDGER_VERSION'], `${name} at ${at}`).toContain(opened)
        expect(await readFile(path)).toEqual(flipped)
        refused++
      } else expect(opened, `${name} at ${at}`).toEqual(upTo(4))
    }
    await writeFile(path, bytes)
  }
  expect(refused).toBeGreaterThan(500)
  expect(await numbersIn(directory)).toEqual(upTo(5))
})

test('after several random flips and cuts it opens to a prefix that ends in the last segment, or refuses', async () => {
  const directory = await sample()
  const whole = await bytesOf(directory)
  const harm = fc.record({ file: fc.nat(NAMES.length - 1), at: fc.nat(), bit: fc.nat(7), isCut: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(harm, { minLength: 1, maxLength: 3 }), async (harms) => {
      for (const [name, bytes] of whole) await writeFile(join(directory, name), bytes)
      for (const { file, at, bit, isCut } of harms) {
        const path = join(directory, NAMES[file] ?? '')
        const bytes = await readFile(path)
        if (bytes.length === 0) continue
        const where = at % bytes.length
        if (isCut) await truncate(path, where)
        else {
          bytes[where] = (bytes[where] ?? 0) ^ (1 << bit)
          await writeFile(path, bytes)
        }
      }
      const opened = await numbersIn(directory).catch((fault: unknown) => fault)
      if (opened instanceof Fault) expect(['LEDGER_CORRUPT', 'LEDGER_VERSION']).toContain(opened.code)
      else {
        const numbers = opened as number[]
        expect(numbers).toEqual(upTo(numbers.length))
        // The end of the last segment can be cut by a crash or by anybody: that cannot be told apart.
        expect(numbers.length).toBeGreaterThanOrEqual(LAST - 2)
      }
    }),
    { numRuns: 150 },
  )
})

describe('a segment that is', () => {
  test('missing in the middle is named by the batches that went with it', async () => {
    const directory = await sample()
    await rm(join(directory, SECOND))
    await expectRefused(directory, THIRD, /batches 4 to 6 before it are missing/)
  })

  test('missing at the end is seen by the seal of the one before', async () => {
    const directory = await sample()
    await rm(join(directory, CURRENT))
    await expectRefused(directory, THIRD, /sealed, so a segment follows/)
    await rm(join(directory, THIRD))
    await expectRefused(directory, SECOND, /sealed, so a segment follows/)
  })

  test('missing at the front looks forgotten, and whoever needs its batches is refused', async () => {
    const directory = await sample()
    await rm(join(directory, FIRST))
    const journal = await openJournal(directory)
    expect(journal.firstNumber).toBe(4)
    await expect(Array.fromAsync(journal.history(2))).rejects.toMatchObject({
      code: 'LEDGER_CORRUPT',
      message: expect.stringMatching(/begins with batch 4.*from batch 3 on.*portolan repair/),
    })
    await journal.close()
  })

  test('renamed or copied is refused under its new name', async () => {
    for (const to of ['batches-0000000012.log', 'batches-12.log', `${CURRENT}.bak`, 'batches-0000000000.log']) {
      const directory = await sample()
      await copyFile(join(directory, CURRENT), join(directory, to))
      await expectRefused(directory, to, /name/, to)
      await rename(join(directory, to), join(directory, CURRENT))
      expect(await numbersIn(directory)).toEqual(upTo(LAST))
    }
  })

  test('exchanged for another of the same crawl is refused by its name', async () => {
    const directory = await sample()
    await rename(join(directory, SECOND), join(directory, 'aside'))
    await rename(join(directory, THIRD), join(directory, SECOND))
    await rename(join(directory, 'aside'), join(directory, THIRD))
    await expectRefused(directory, SECOND, /its name is that of a segment from batch 7 on/)
  })

  test('of another crawl is refused, with both names', async () => {
    const directory = await sample()
    const other = await journalOf(LAST, { ...IDENTITY, name: 'other', key: '11'.repeat(8) })
    await copyFile(join(other, SECOND), join(directory, SECOND))
    await expectRefused(directory, SECOND, /another crawl \(other\) than batches-0000000001.log \(test\)/)
  })

  test('of the same crawl, but of a copy that went on differently, is refused', async () => {
    // Two journals with the same numbers and the same crawl, of which only the fourth batch differs.
    const directory = await sample()
    const copy = await journalOf(3)
    const journal = await openJournal(copy)
    await journal.commit({ ...emptyBatch(), files: { text: 'y'.repeat(500) } })
    await commitSamples(journal, LAST - 4)
    await journal.close()
    await copyFile(join(copy, THIRD), join(directory, THIRD))
    await expectRefused(directory, THIRD, /does not follow/)
  })

  test('cut in the middle of the journal is refused, and only without its seal still whole', async () => {
    const directory = await sample()
    const path = join(directory, SECOND)
    const bytes = await readFile(path)
    const sealStart = bytes.length - SEAL_BYTES
    for (let length = 0; length < bytes.length; length += length < sealStart - 40 ? 11 : 1) {
      await writeFile(path, bytes.subarray(0, length))
      const opened = await numbersIn(directory).catch((fault: unknown) => (fault as Fault).code)
      expect(opened, `cut at ${length}`).toEqual(length === sealStart ? upTo(LAST) : 'LEDGER_CORRUPT')
    }
  })

  test('empty, or without a whole head, is damage wherever it stands: creating one cannot leave that', async () => {
    for (const name of NAMES) {
      const directory = await sample()
      const path = join(directory, name)
      const head = LOG_HEADER_BYTES + FRAME_HEAD_BYTES + (await readFile(path)).readUInt32LE(LOG_HEADER_BYTES + 8)
      for (const length of [head - 1, 60, 24, 23, 1, 0]) {
        await truncate(path, length)
        const what = length < LOG_HEADER_BYTES ? /header is not that of a segment/ : /head of the segment is unreadable/
        await expectRefused(directory, name, what, `${name} cut to ${length}`)
      }
    }
  })

  test('of another version of the format is refused as such, wherever it stands', async () => {
    for (const name of NAMES) {
      const directory = await sample()
      const path = join(directory, name)
      await rm(path)
      const former = await FramedLog.open(path, { version: 1, random: new Random(1), first: Buffer.from('{}') })
      await former.close()
      await expect(openJournal(directory)).rejects.toMatchObject({
        code: 'LEDGER_VERSION',
        message: expect.stringContaining(path),
      })
    }
  })
})

test('rubbish behind the seal of a segment is damage, behind the last batch it is a torn tail', async () => {
  for (const name of NAMES) {
    const directory = await sample()
    const path = join(directory, name)
    await writeFile(path, Buffer.concat([await readFile(path), Buffer.from('rubbish')]))
    if (name === CURRENT) expect(await numbersIn(directory)).toEqual(upTo(LAST))
    else await expectRefused(directory, name, /unreadable, although a segment follows/)
  }
})

describe('a record whose checksums are right is refused', () => {
  const body = encodeBatch(emptyBatch())
  const wrong = Buffer.alloc(16, 7)
  test.each([
    [
      'where the batch before it is another',
      (good: Buffer) => [encodeRecord('batch', 3, flippedCopy(good), body)],
      /does not follow/,
    ],
    [
      'where a batch was left out',
      (good: Buffer) => [encodeRecord('batch', 4, good, body)],
      /batch 4 stands where batch 3/,
    ],
    [
      'where a batch stands twice',
      (good: Buffer) => [encodeRecord('batch', 2, good, body)],
      /batch 2 stands where batch 3/,
    ],
    ['where a second head stands', () => [encodeRecord('head', 2, wrong, body)], /behind the end/],
    [
      'where it stands behind a seal',
      (good: Buffer) => [encodeRecord('seal', 2, good), encodeRecord('batch', 3, good, body)],
      /behind the end/,
    ],
    ['where a seal is that of another segment', () => [encodeRecord('seal', 2, wrong)], /does not follow/],
    ['where its kind is not known', () => [Buffer.alloc(40, 9)], /kind that is not known/],
    ['where it is too short for one', () => [Buffer.alloc(3)], /kind that is not known/],
  ])('%s', async (_, records, what) => {
    const directory = await journalOf(2)
    const path = join(directory, FIRST)
    const log = await FramedLog.open(path, { version: SEGMENT_FORMAT_VERSION, random: new Random(1) })
    const [, , second] = await Array.fromAsync(log.frames())
    for (const record of records(digestOf(second ?? wrong))) log.append(record)
    await log.close()
    await expectRefused(directory, FIRST, what)
  })

  test('where the first one belongs to another crawl than it says', async () => {
    const directory = await journalOf(0)
    const path = join(directory, FIRST)
    await rm(path)
    const first = encodeRecord('head', 0, wrong, encodeIdentity(IDENTITY))
    await (await FramedLog.open(path, { version: SEGMENT_FORMAT_VERSION, random: new Random(1), first })).close()
    await expectRefused(directory, FIRST, /not the one it names/)
  })
})

function flippedCopy(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  copy[0] = (copy[0] ?? 0) ^ 1
  return copy
}
