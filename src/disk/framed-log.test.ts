// Proves the one law of the log: what open() hands out is always a prefix of what was appended.
// Every byte of a small log is flipped, every length cut, frames are dropped and swapped: the log
// either opens to a prefix or refuses, and refuses whenever a good frame stands after the damage.

import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Fault, Random } from '../base/index.ts'
import { FramedLog, readFrames, scanFrames } from './framed-log.ts'

const HEADER_BYTES = 24
const FRAME_HEAD_BYTES = 20
const options = { version: 1, random: new Random('framed-log') }

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portolan-disk-'))
  path = join(folder, 'log')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function write(payloads: readonly Uint8Array[]): Promise<Buffer> {
  const log = await FramedLog.open(path, options)
  for (const payload of payloads) {
    log.append(payload)
    await log.sync()
  }
  await log.close()
  return await readFile(path)
}

async function framesOf(log: FramedLog): Promise<Buffer[]> {
  const payloads: Buffer[] = []
  for await (const payload of log.frames()) payloads.push(payload)
  return payloads
}

async function read(): Promise<{ payloads: Buffer[]; tornTailBytes: number }> {
  const log = await FramedLog.open(path, options)
  try {
    return { payloads: await framesOf(log), tornTailBytes: log.tornTailBytes }
  } finally {
    await log.close()
  }
}

/** What open() made of the bytes: the frames it gave out, or the fault. */
async function openBytes(bytes: Uint8Array): Promise<{ payloads: Buffer[]; tornTailBytes: number } | Fault> {
  await writeFile(path, bytes)
  try {
    return await read()
  } catch (error) {
    expect(error).toBeInstanceOf(Fault)
    return error as Fault
  }
}

const texts = ['first', '', 'the third frame is longer', 'four'].map((text) => Buffer.from(text))
/** Where each frame begins, and where the last one ends. */
const borders = [HEADER_BYTES]
for (const text of texts) borders.push(borders.at(-1)! + FRAME_HEAD_BYTES + text.length)

describe('a whole log', () => {
  test('gives back its frames in order, over several sittings', async () => {
    await write(texts.slice(0, 2))
    await write(texts.slice(2))
    expect(await read()).toEqual({ payloads: texts, tornTailBytes: 0 })
  })

  test('of no frames is empty', async () => {
    expect(await write([])).toHaveLength(HEADER_BYTES)
    expect(await read()).toEqual({ payloads: [], tornTailBytes: 0 })
  })

  test('shows frames not yet synced to its own reader', async () => {
    const log = await FramedLog.open(path, options)
    log.append(Buffer.from('a'))
    expect(await framesOf(log)).toEqual([Buffer.from('a')])
    await log.close()
  })

  test('of another version is refused by name', async () => {
    await write(texts)
    await expect(FramedLog.open(path, { ...options, version: 2 })).rejects.toMatchObject({ code: 'LEDGER_VERSION' })
  })
})

test('a new log with a first frame is never seen without it', async () => {
  const log = await FramedLog.open(path, { ...options, first: Buffer.from('first') })
  expect((await readFile(path)).length).toBe(HEADER_BYTES + FRAME_HEAD_BYTES + 'first'.length)
  log.append(Buffer.from('second'))
  await log.close()
  // Where the log is there already, nothing is put in front of it.
  const again = await FramedLog.open(path, { ...options, first: Buffer.from('other') })
  expect(await framesOf(again)).toEqual([Buffer.from('first'), Buffer.from('second')])
  await again.close()
})

test('a scan hands on every frame with its end, says what stands behind the last, and changes nothing', async () => {
  await write(texts)
  await appendFile(path, 'torn')
  const before = await readFile(path)
  const found: [string, number][] = []
  const scan = await scanFrames(path, 1, (payload, end) => found.push([payload.toString(), end]))
  expect(found).toEqual(texts.map((text, i) => [text.toString(), borders[i + 1]]))
  expect(scan).toMatchObject({ end: borders.at(-1), size: before.length, damage: null })
  expect(await readFile(path)).toEqual(before)

  const log = await FramedLog.goOn(scan)
  expect(log.tornTailBytes).toBe(4)
  log.append(Buffer.from('next'))
  await log.close()
  expect((await read()).payloads).toEqual([...texts, Buffer.from('next')])
})

test('a scan of a damaged log gives the frames before the damage, and where the good ones go on', async () => {
  const bytes = await write(texts)
  bytes[borders[1]! + 1]! ^= 1
  await writeFile(path, bytes)
  const found: string[] = []
  const scan = await scanFrames(path, 1, (payload) => found.push(payload.toString()))
  expect(found).toEqual(['first'])
  expect(scan).toMatchObject({ end: borders[1], damage: { nextFrame: borders[2] } })
  await expect(FramedLog.goOn(scan)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
})

test('reading can begin at any frame', async () => {
  await write(texts)
  for (const [i, border] of borders.entries()) {
    expect(await Array.fromAsync(readFrames(path, 1, border))).toEqual(texts.slice(i))
  }
})

test('frames across and beyond what is read at once come back equal', async () => {
  const large = [1, 2 ** 20 - 100, 60, 3 * 2 ** 20, 0, 2 ** 19, 2 ** 19].map((length, i) => Buffer.alloc(length, i))
  await write(large)
  const { payloads } = await read()
  expect(payloads.map((payload, i) => payload.equals(large[i]!))).toEqual(large.map(() => true))
})

test('a log cut at any length opens to the whole frames before the cut, and goes on from there', async () => {
  const bytes = await write(texts)
  for (let length = HEADER_BYTES; length < bytes.length; length++) {
    const whole = borders.filter((border) => border <= length).length - 1
    const found = await openBytes(bytes.subarray(0, length))
    expect(found, `cut at ${length}`).toEqual({
      payloads: texts.slice(0, whole),
      tornTailBytes: length - borders[whole]!,
    })
    await write([Buffer.from('next')])
    expect((await read()).payloads, `cut at ${length}, gone on`).toEqual([
      ...texts.slice(0, whole),
      Buffer.from('next'),
    ])
  }
})

test('a header that is not whole is refused', async () => {
  const bytes = await write(texts)
  for (let length = 0; length < HEADER_BYTES; length++) {
    expect(await openBytes(bytes.subarray(0, length)), `cut at ${length}`).toMatchObject({ code: 'LEDGER_CORRUPT' })
  }
})

test('any flipped bit is seen: before the last frame the log refuses, in the last it is cut there', async () => {
  const bytes = await write(texts)
  const lastFrame = borders.at(-2)!
  for (let at = 0; at < bytes.length; at++) {
    const flipped = Buffer.from(bytes)
    flipped[at]! ^= 1 << (at % 8)
    const found = await openBytes(flipped)
    if (at < lastFrame) {
      expect(found, `flipped ${at}`).toMatchObject({ code: 'LEDGER_CORRUPT' })
      expect(await readFile(path), 'nothing was changed').toEqual(flipped)
    } else {
      expect(found, `flipped ${at}`).toEqual({
        payloads: texts.slice(0, -1),
        tornTailBytes: bytes.length - lastFrame,
      })
    }
  }
})

test('a frame that is missing, doubled or out of place is seen', async () => {
  const bytes = await write(texts)
  const frames = texts.map((_, i) => bytes.subarray(borders[i], borders[i + 1]))
  const [a, b, c, d] = frames as [Buffer, Buffer, Buffer, Buffer]
  const header = bytes.subarray(0, HEADER_BYTES)
  for (const order of [[b, c, d], [a, c, d], [a, b, d], [a, c, b, d], [a, b, b, c, d], [d], [a, b, c, d, a]]) {
    expect(await openBytes(Buffer.concat([header, ...order]))).toMatchObject({ code: 'LEDGER_CORRUPT' })
  }
})

test('rubbish behind the last frame is a torn tail, zeros included', async () => {
  await write(texts)
  for (const rubbish of [Buffer.alloc(5_000), Buffer.from('rubbish'.repeat(99)), Buffer.alloc(3, 0xff)]) {
    await appendFile(path, rubbish)
    expect(await read()).toEqual({ payloads: texts, tornTailBytes: rubbish.length })
  }
})

test('a hole is found however far behind it the next good frame stands', async () => {
  const bytes = await write([Buffer.alloc(10, 1), Buffer.alloc(3 * 2 ** 20, 2), Buffer.from('end')])
  bytes[HEADER_BYTES + FRAME_HEAD_BYTES + 10 + FRAME_HEAD_BYTES + 5]! ^= 1
  expect(await openBytes(bytes)).toMatchObject({ code: 'LEDGER_CORRUPT' })
})

test('a payload that quotes another log does not pose as a frame', async () => {
  const quoted = await write(texts)
  await rm(path)
  const bytes = await write([Buffer.from('a'), quoted])
  // Torn inside the payload, whole frames of the other log before the cut.
  await truncate(path, bytes.length - 1)
  expect((await read()).payloads).toEqual([Buffer.from('a')])
})

test('after random cuts and flips the log opens to a prefix or refuses', async () => {
  const damage = fc.record({ at: fc.nat(), bit: fc.nat(7), cut: fc.option(fc.nat()) })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 8 }), damage, async (payloads, how) => {
      await rm(path, { force: true })
      const bytes = await write(payloads)
      const cut = how.cut === null ? bytes.length : HEADER_BYTES + (how.cut % (bytes.length - HEADER_BYTES + 1))
      const spoilt = Buffer.from(bytes.subarray(0, cut))
      spoilt[how.at % spoilt.length]! ^= 1 << how.bit
      const found = await openBytes(spoilt)
      if (found instanceof Fault) expect(found.code).toBe('LEDGER_CORRUPT')
      else
        expect(found.payloads).toEqual(payloads.slice(0, found.payloads.length).map((payload) => Buffer.from(payload)))
    }),
    { numRuns: 150 },
  )
})
