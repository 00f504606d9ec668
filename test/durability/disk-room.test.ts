// The promises of the room `disk` against a disk that loses and tears whatever was not synced, cut at every moment: what
// was promised is there, what was not is gone or whole, and going on afterwards works as if nothing had been.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type FileHandle, open, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { Random } from '../../src/base/index.ts'
import {
  AppendFile,
  BlockBuffers,
  FramedLog,
  makeDirectory,
  moveDurably,
  writeAtomically,
} from '../../src/disk/index.ts'
import { SimulatedDisk } from './simulated-disk.ts'

vi.mock('node:fs', async (original) => (await import('./recorded-fs.ts')).recordedFs(await original()))
vi.mock('node:fs/promises', async (original) => (await import('./recorded-fs.ts')).recordedFsPromises(await original()))

const parent = mkdtempSync(join(tmpdir(), 'portolan-durable-'))
let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(parent, 'disk-'))
})
afterAll(() => rmSync(parent, { recursive: true }))

/** What was promised, and since when. */
class Promises<T> {
  readonly #disk: SimulatedDisk
  readonly #made: { readonly at: number; readonly what: T }[] = []

  constructor(disk: SimulatedDisk, first: T) {
    this.#disk = disk
    this.#made.push({ at: 0, what: first })
  }

  make(what: T): void {
    this.#made.push({ at: this.#disk.now, what })
  }

  by(at: number): T {
    return (this.#made.findLast((one) => one.at <= at) as { what: T }).what
  }
}

function bytesOf(seed: string, length: number): Buffer {
  const random = new Random(seed)
  return Buffer.from(Array.from({ length }, () => random.below(256)))
}

describe('a framed log', () => {
  const options = { version: 1, random: new Random('salt') }

  /** Small frames, empty ones, some of several sectors, and one larger than a buffer of the file below. */
  const frames = [0, 1, 30, 3_000, 0, 700, 1_300_000, 5].map((length, i) => bytesOf(`frame ${i}`, length))

  async function framesOf(log: FramedLog): Promise<Buffer[]> {
    const found: Buffer[] = []
    for await (const frame of log.frames()) found.push(frame)
    return found
  }

  test('opens after any cut with every frame that was synced, and with nothing but a beginning of all', async () => {
    const disk = SimulatedDisk.watch(directory)
    const promised = new Promises(disk, 0)
    const log = await FramedLog.open(join(directory, 'log'), options)
    for (const [i, frame] of frames.entries()) {
      log.append(frame)
      await log.sync()
      promised.make(i + 1)
    }
    await log.close()
    disk.stop()
    const found = new Set<number>()
    await disk.afterEachCut('framed', 6, async (copy, { at }) => {
      const again = await FramedLog.open(join(copy, 'log'), options)
      const kept = await framesOf(again)
      expect(kept.length).toBeGreaterThanOrEqual(promised.by(at))
      expect(kept.every((frame, i) => frame.equals(frames[i] as Buffer))).toBe(true)
      again.append(Buffer.from('one more'))
      await again.close()
      const more = await FramedLog.open(join(copy, 'log'), options)
      expect((await framesOf(more)).map((frame) => frame.length)).toEqual([...kept.map((one) => one.length), 8])
      await more.close()
      found.add(kept.length - promised.by(at))
    })
    // Some cuts kept a frame that was on its way: the test has seen both.
    expect(found).toEqual(new Set([0, 1]))
  })

  test('a second cut while the torn tail of the first is cut off, and while it goes on, loses nothing either', async () => {
    const log = await FramedLog.open(join(directory, 'log'), options)
    for (const frame of frames.slice(0, 4)) log.append(frame)
    await log.close()
    const whole = await readFile(join(directory, 'log'))
    // Half a frame, longer than what will be written in its place.
    const half = whole.subarray(whole.length - 3_020, whole.length - 1_500)
    writeFileSync(join(directory, 'log'), Buffer.concat([whole, half]))
    const disk = SimulatedDisk.watch(directory)
    const promised = new Promises(disk, 4)
    const again = await FramedLog.open(join(directory, 'log'), options)
    expect(again.tornTailBytes).toBe(half.length)
    for (const i of [4, 5]) {
      again.append(frames[i] as Buffer)
      await again.sync()
      promised.make(i + 1)
    }
    await again.close()
    disk.stop()
    await disk.afterEachCut('second', 6, async (copy, { at }) => {
      const last = await FramedLog.open(join(copy, 'log'), options)
      const kept = await framesOf(last)
      expect(kept.length).toBeGreaterThanOrEqual(promised.by(at))
      expect(kept.every((frame, i) => frame.equals(frames[i] as Buffer))).toBe(true)
      await last.close()
    })
  })
})

test.each([
  { way: 'through the cache', bytes: 20_000, options: { bufferBytes: 1_024 }, isDirect: false },
  {
    way: 'past the cache',
    bytes: 800_000,
    options: { bufferBytes: 2 ** 17, pastCache: new BlockBuffers(2, 2 ** 17) },
    isDirect: true,
  },
])('an append-only file, written $way, holds after any cut what was synced, and opens at that length', async (row) => {
  const disk = SimulatedDisk.watch(directory)
  const all = bytesOf('append', row.bytes)
  const promised = new Promises(disk, -1)
  let directWrites = 0
  // Any second handle does: what is written to it is what would go past the cache, also where the file system has no such way.
  const openDirect = async (path: string): Promise<FileHandle> => {
    const handle = await open(path, 'r+')
    return new Proxy(handle, {
      get: (target, name) => {
        if (name === 'write') directWrites++
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
  }
  const file = await AppendFile.open(join(directory, 'file'), { ...row.options, openDirect, committedLength: 0 })
  promised.make(0)
  const random = new Random('lengths')
  for (let at = 0; at < all.length;) {
    const end = Math.min(all.length, at + random.below(all.length / 7))
    file.append(all.subarray(at, end))
    at = end
    // Not every append is synced, and some are only on their way when the next is.
    if (random.below(3) === 0) await file.flush()
    if (random.below(2) !== 0) continue
    await file.sync()
    promised.make(end)
  }
  await file.close()
  promised.make(all.length)
  disk.stop()
  expect(directWrites > 0).toBe(row.isDirect)
  await disk.afterEachCut('append', 4, async (copy, { at }) => {
    const length = promised.by(at)
    if (length === -1) return
    const again = await AppendFile.open(join(copy, 'file'), { committedLength: length })
    expect(again.length).toBe(length)
    again.append('and more')
    await again.close()
    const bytes = await readFile(join(copy, 'file'))
    expect(bytes.equals(Buffer.concat([all.subarray(0, length), Buffer.from('and more')]))).toBe(true)
  })
})

test('a file written atomically is after any cut the old or the new one, and the new one once that was promised', async () => {
  const contents = [40, 5_000, 0, 900, 12_000].map((length, i) => bytesOf(`content ${i}`, length))
  const disk = SimulatedDisk.watch(directory)
  const promised = new Promises(disk, -1)
  for (const [i, content] of contents.entries()) {
    await writeAtomically(join(directory, 'settings'), content)
    promised.make(i)
  }
  disk.stop()
  await disk.afterEachCut('atomic', 6, async (copy, { at }) => {
    const isThere = (await readdir(copy)).includes('settings')
    const least = promised.by(at)
    if (!isThere && least === -1) return
    const bytes = await readFile(join(copy, 'settings'))
    expect([least, least + 1].some((i) => contents[i]?.equals(bytes) === true)).toBe(true)
  })
})

test('a file moved durably has after any cut one of both names with all its bytes, and the new one once that was promised', async () => {
  writeFileSync(join(directory, 'x.open'), 'all its bytes')
  const disk = SimulatedDisk.watch(directory)
  await moveDurably(join(directory, 'x.open'), join(directory, 'x'))
  const promisedAt = disk.now
  disk.stop()
  await disk.afterEachCut('move', 4, async (copy, { at }) => {
    const names = await readdir(copy)
    expect(names).toHaveLength(1)
    if (at >= promisedAt) expect(names).toEqual(['x'])
    expect(await readFile(join(copy, names[0] ?? ''), 'utf8')).toBe('all its bytes')
  })
})

test('a directory that was made is there after any cut once that was promised, and all it lies in', async () => {
  const disk = SimulatedDisk.watch(directory)
  await makeDirectory(join(directory, 'a', 'b'))
  const promisedAt = disk.now
  disk.stop()
  await disk.afterEachCut('directory', 4, async (copy, { at }) => {
    if (at >= promisedAt) expect(await readdir(copy, { recursive: true })).toEqual(['a', join('a', 'b')])
  })
})
