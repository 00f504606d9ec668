// Proves that a file written past the page cache has the same bytes as any other, whatever the sizes of what is appended, where it
// went on, and what the file system refuses; and that most of it really goes that way.

import { constants } from 'node:fs'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Random } from '../base/index.ts'
import { AppendFile } from './append-file.ts'
import type { AppendHandle } from './append-handle.ts'
import { BLOCK_BYTES, BlockBuffers, type OpenDirect, readPastCache } from './past-cache.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portolan-past-cache-'))
  path = join(folder, 'file')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const BUFFER_BYTES = 2 ** 17

/** No two places alike, so that nothing can stand at a wrong one. */
const noise = Buffer.from(Uint32Array.from({ length: 2 ** 19 }, (_, i) => Math.imul(i + 1, 2_654_435_761)).buffer)

/** How the writes of a handle are counted: calls and bytes. */
interface Count {
  calls: number
  bytes: number
  closes?: number
}

type Write = (buffer: Buffer, offset: number, length: number, position: number) => Promise<{ bytesWritten: number }>

function counted(
  handle: AppendHandle,
  count: Count,
  bend: (length: number) => number = (length) => length,
): AppendHandle {
  const write: Write = async (buffer, offset, length, position) => {
    const taken = bend(length)
    count.calls++
    count.bytes += taken
    return await handle.write(buffer, offset, taken, position)
  }
  return {
    write: write as unknown as AppendHandle['write'],
    datasync: () => handle.datasync(),
    truncate: (length) => handle.truncate(length),
    stat: handle.stat.bind(handle),
    close: () => {
      count.closes = (count.closes ?? 0) + 1
      return handle.close()
    },
  }
}

const newFile = (): Promise<AppendHandle> => open(path, 'wx+')
/** A second handle like the first: what is asked of it is what would go past the cache. */
const second = (): Promise<AppendHandle> => open(path, 'r+')

/** Asked without any code of ours. */
async function canWriteDirect(): Promise<boolean> {
  const { WebAssembly } = globalThis as unknown as {
    WebAssembly: { Memory: new (limits: { initial: number }) => { buffer: ArrayBuffer } }
  }
  const memory = new Uint8Array(new WebAssembly.Memory({ initial: 1 }).buffer, 0, BLOCK_BYTES)
  try {
    const handle = await open(join(folder, 'probe'), constants.O_WRONLY | constants.O_CREAT | constants.O_DIRECT)
    try {
      await handle.write(memory, 0, BLOCK_BYTES, 0)
    } finally {
      await handle.close()
    }
    return true
  } catch {
    return false
  }
}

describe('what is appended past the cache', () => {
  test('stands in the file at its offset, in order, also where it goes on after others', async () => {
    const piece = fc.oneof(
      fc.integer({ min: 0, max: 5_000 }),
      fc.integer({ min: 0, max: 300_000 }),
      fc.constantFrom('flush' as const, 'sync' as const, 'open again' as const, 'drained' as const),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ max: 10_000, min: 0 }),
        fc.array(piece, { maxLength: 25 }),
        async (before, pieces) => {
          await writeFile(path, noise.subarray(0, before))
          const buffers = new BlockBuffers(2, BUFFER_BYTES)
          const options = { bufferBytes: BUFFER_BYTES, pastCache: buffers }
          let file = await AppendFile.open(path, options)
          let length = before
          for (const part of pieces) {
            if (part === 'open again') {
              await file.close()
              file = await AppendFile.open(path, { ...options, committedLength: length })
            } else if (typeof part === 'string') await file[part]()
            else {
              const from = length % 1_000_000
              expect(file.append(noise.subarray(from, from + part))).toBe(length)
              length += part
            }
          }
          await file.close()
          const expected = Buffer.alloc(length)
          for (let at = 0, i = -1; i < pieces.length; i++) {
            const bytes = i === -1 ? before : pieces[i]
            if (typeof bytes !== 'number') continue
            noise.copy(expected, at, at % 1_000_000, (at % 1_000_000) + bytes)
            at += bytes
          }
          expect((await readFile(path)).equals(expected)).toBe(true)
          // All of them are back: the next file has them.
          expect([buffers.take(), buffers.take(), buffers.take()].map((one) => one !== null)).toEqual([
            true,
            true,
            false,
          ])
        },
      ),
      { numRuns: 40 },
    )
  })

  test('goes there in whole blocks of file and memory, all but the ends', async () => {
    const cached: Count = { calls: 0, bytes: 0 }
    const direct: Count = { calls: 0, bytes: 0 }
    const buffers = new BlockBuffers(6, BUFFER_BYTES)
    const openDirect = async (): Promise<AppendHandle> => {
      const handle = await second()
      const write: Write = async (buffer, offset, length, position) => {
        expect([buffer.byteOffset + offset, length, position].map((number) => number % BLOCK_BYTES)).toEqual([0, 0, 0])
        expect(buffers.holds(buffer)).toBe(true)
        return await handle.write(buffer, offset, length, position)
      }
      return counted(
        { ...counted(handle, { calls: 0, bytes: 0 }), write: write as unknown as AppendHandle['write'] },
        direct,
      )
    }
    const openHandle = async (): Promise<AppendHandle> => counted(await newFile(), cached)
    const options = { bufferBytes: BUFFER_BYTES, pastCache: buffers, openHandle, openDirect }
    const file = await AppendFile.open(path, options)
    const random = new Random('records')
    while (file.length < 1_500_000) {
      // As a record is: built in place.
      const bytes = 1 + random.below(30_000)
      const at = file.length
      noise.copy(file.reserve(bytes), file.fill, at, at + bytes)
      file.advance(bytes)
      if (file.needsDrain) await file.drained()
      if (random.below(40) === 0) await file.sync()
    }
    await file.close()
    expect((await readFile(path)).equals(noise.subarray(0, file.length))).toBe(true)
    expect(direct.bytes + cached.bytes).toBe(file.length)
    expect([direct.closes, cached.closes]).toEqual([1, 1])
    expect(direct.bytes / file.length).toBeGreaterThan(0.7)
  })

  test('and is little goes through the cache', async () => {
    const direct: Count = { calls: 0, bytes: 0 }
    const buffers = new BlockBuffers(2, BUFFER_BYTES)
    const openDirect = async (): Promise<AppendHandle> => counted(await second(), direct)
    const file = await AppendFile.open(path, { bufferBytes: BUFFER_BYTES, pastCache: buffers, openDirect })
    for (let i = 0; i < 6; i++) {
      file.append(noise.subarray(i * 10_000, (i + 1) * 10_000))
      await file.sync()
    }
    await file.close()
    expect(direct.calls).toBe(0)
    expect((await readFile(path)).equals(noise.subarray(0, 60_000))).toBe(true)
  })
})

describe('a file system that', () => {
  async function appendAll(openDirect: OpenDirect): Promise<Count> {
    const cached: Count = { calls: 0, bytes: 0 }
    const buffers = new BlockBuffers(3, BUFFER_BYTES)
    const openHandle = async (): Promise<AppendHandle> => counted(await newFile(), cached)
    const options = { bufferBytes: BUFFER_BYTES, pastCache: buffers, openHandle, openDirect }
    const file = await AppendFile.open(path, options)
    file.append(noise.subarray(0, 1_000_000))
    await file.close()
    return cached
  }

  test('cannot open so is written through the cache', async () => {
    expect((await appendAll(async () => null)).bytes).toBe(1_000_000)
    expect((await readFile(path)).equals(noise.subarray(0, 1_000_000))).toBe(true)
  })

  test('refuses such a write is asked once, and written through the cache', async () => {
    let asked = 0
    let closed = 0
    const refuse = async (): Promise<never> => {
      asked++
      throw Object.assign(new Error('EINVAL'), { code: 'EINVAL' })
    }
    const close = async (): Promise<void> => {
      closed++
    }
    const cached = await appendAll(async () => ({ write: refuse as unknown as AppendHandle['write'], close }))
    expect([asked, closed, cached.bytes]).toEqual([1, 1, 1_000_000])
    expect((await readFile(path)).equals(noise.subarray(0, 1_000_000))).toBe(true)
  })

  test('takes fewer bytes than it is given, also no whole blocks, gets the rest', async () => {
    const direct: Count = { calls: 0, bytes: 0 }
    await appendAll(async () => counted(await second(), direct, (length) => Math.ceil(length / 2) + 7))
    expect(direct.calls).toBeGreaterThan(1)
    expect((await readFile(path)).equals(noise.subarray(0, 1_000_000))).toBe(true)
  })

  test('fails otherwise fails the file', async () => {
    const fail = async (): Promise<never> => {
      throw Object.assign(new Error('EIO'), { code: 'EIO' })
    }
    const failing = appendAll(async () => ({ write: fail as unknown as AppendHandle['write'], close: async () => {} }))
    await expect(failing).rejects.toMatchObject({ code: 'DISK_FAILED' })
  })

  test('has this folder is really asked to write so, if it can', async ({ skip }) => {
    if (!(await canWriteDirect())) skip('this file system has no direct writes')
    const cached: Count = { calls: 0, bytes: 0 }
    const buffers = new BlockBuffers(8, BUFFER_BYTES)
    const openHandle = async (): Promise<AppendHandle> => counted(await newFile(), cached)
    const file = await AppendFile.open(path, { bufferBytes: BUFFER_BYTES, pastCache: buffers, openHandle })
    file.append(noise.subarray(0, 1_000_000))
    await file.sync()
    expect((await readFile(path)).equals(noise.subarray(0, 1_000_000))).toBe(true)
    await file.close()
    expect(cached.bytes).toBeLessThan(20 * BLOCK_BYTES)
  })
})

test('a file that is closed twice gives its buffer back once', async () => {
  const buffers = new BlockBuffers(2, BUFFER_BYTES)
  const file = await AppendFile.open(path, { bufferBytes: BUFFER_BYTES, pastCache: buffers })
  file.append('x')
  await file.close()
  await expect(file.close()).rejects.toThrow()
  expect([buffers.take(), buffers.take(), buffers.take()].map((one) => one !== null)).toEqual([true, true, false])
})

test('buffers that are too small for a file are refused', async () => {
  const pastCache = new BlockBuffers(2, BUFFER_BYTES / 2)
  await expect(AppendFile.open(path, { bufferBytes: BUFFER_BYTES, pastCache })).rejects.toThrow(/smaller/)
})

test('buffers are lent once each, and what is not theirs is not taken', () => {
  const buffers = new BlockBuffers(2, 100_000)
  const [first, other] = [buffers.take(), buffers.take()]
  expect(buffers.take()).toBeNull()
  expect(first?.length).toBe(other?.length)
  // Room for what is asked, wherever in a block it begins.
  expect(first?.length).toBeGreaterThanOrEqual(100_000 + BLOCK_BYTES - 1)
  expect(first?.buffer).toBe(other?.buffer)
  expect(buffers.giveBack(Buffer.alloc(100))).toBe(false)
  expect(buffers.giveBack(first as Buffer)).toBe(true)
  expect(() => buffers.giveBack(first as Buffer)).toThrow(/twice/)
  expect(buffers.take()).toBe(first)
})

describe('reading a whole file past the cache', () => {
  const buffer = new BlockBuffers(1, BUFFER_BYTES).take() as Buffer

  test.each([0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, BUFFER_BYTES - 1, BUFFER_BYTES])(
    'a file of %i bytes is there, whole',
    async (length) => {
      await writeFile(path, noise.subarray(0, length))
      buffer.fill(0)
      const read = await readPastCache(path, buffer)
      // Null where the file system cannot: the caller reads it otherwise.
      if (read === null) return expect(await canReadDirectly()).toBe(false)
      expect(read).toBe(length)
      expect(buffer.subarray(0, length).equals(noise.subarray(0, length))).toBe(true)
    },
  )

  test('one that may not fit is left to others', async () => {
    await writeFile(path, noise.subarray(0, buffer.length))
    expect(await readPastCache(path, buffer)).toBeNull()
  })

  test('one that is not there is an error of the system', async () => {
    await expect(readPastCache(join(folder, 'absent'), buffer)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  async function canReadDirectly(): Promise<boolean> {
    if (constants.O_DIRECT === undefined) return false
    const handle = await open(path, constants.O_RDONLY | constants.O_DIRECT).catch(() => null)
    await handle?.close()
    return handle !== null
  }
})
