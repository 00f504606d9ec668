// Proves that bytes reach the disk in order and at the offset told, whatever the sizes of buffers and
// writes; and that a disk that fails is told once and for all. The failing disks are handles that
// write short or throw, and Linux's /dev/full.

import { existsSync } from 'node:fs'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Fault } from '../base/index.ts'
import { AppendFile } from './append-file.ts'
import type { AppendHandle } from './append-handle.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portolan-disk-'))
  path = join(folder, 'file')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const small = { bufferBytes: 64, waitingBytesMax: 256 }

async function faultOf(doing: Promise<unknown>): Promise<Fault> {
  return await doing.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(Fault)
      return error as Fault
    },
  )
}

/** A real handle whose writes are bent by `bend`: how many bytes the next write takes, or an errno. */
function bentHandle(bend: (length: number) => number | string): (path: string) => Promise<AppendHandle> {
  return async (file) => {
    const handle = await open(file, 'w+')
    const write = async (buffer: Buffer, offset: number, length: number, position: number): Promise<unknown> => {
      const answer = bend(length)
      if (typeof answer === 'string') throw Object.assign(new Error(answer), { code: answer })
      return await handle.write(buffer, offset, answer, position)
    }
    return {
      write: write as unknown as AppendHandle['write'],
      datasync: () => handle.datasync(),
      truncate: (length) => handle.truncate(length),
      stat: handle.stat.bind(handle),
      close: () => handle.close(),
    }
  }
}

describe('what is appended', () => {
  test('stands in the file at the offset append() returned, in order', async () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.string({ unit: 'binary', maxLength: 100 }),
      fc.constant('flush' as const).map((step) => ({ step })),
      fc.constant('sync' as const).map((step) => ({ step })),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
        const file = await AppendFile.open(path, { ...small, committedLength: 0 })
        const expected: Buffer[] = []
        let length = 0
        for (const part of pieces) {
          if (typeof part === 'object' && 'step' in part) {
            await (part.step === 'flush' ? file.flush() : file.sync())
            expect((await readFile(path)).length).toBe(length)
            continue
          }
          const bytes = Buffer.from(part as string)
          expect(file.append(part)).toBe(length)
          length += bytes.length
          expected.push(bytes)
        }
        expect(file.length).toBe(length)
        await file.close()
        expect(await readFile(path)).toEqual(Buffer.concat(expected))
      }),
      { numRuns: 60 },
    )
  })

  test('was copied: the caller may use its memory again at once', async () => {
    const file = await AppendFile.open(path, small)
    const memory = Buffer.from('first')
    file.append(memory)
    memory.fill('x')
    await file.close()
    expect(await readFile(path, 'latin1')).toBe('first')
  })

  test('may be built in place, also in the last bytes of a buffer', async () => {
    const file = await AppendFile.open(path, small)
    file.append('0123456789')
    expect(file.advance(file.reserve(54).write('a'.repeat(54), file.fill))).toBe(10)
    // More may be reserved than is needed in the end.
    expect(file.advance(file.reserve(60).write('b', file.fill))).toBe(64)
    expect(file.append('c')).toBe(65)
    await file.close()
    expect(await readFile(path, 'latin1')).toBe(`0123456789${'a'.repeat(54)}bc`)
  })

  test('may be a line, whatever its length', async () => {
    const file = await AppendFile.open(path, small)
    const lines = ['', 'é', 'a'.repeat(20), 'é'.repeat(22), 'a'.repeat(21), 'b'.repeat(300), 'c']
    let length = 0
    for (const line of lines) {
      expect(file.appendLine(line)).toBe(length)
      length += Buffer.byteLength(line) + 1
    }
    await file.close()
    expect(await readFile(path, 'utf8')).toBe(lines.map((line) => `${line}\n`).join(''))
  })

  test('in latin-1 takes one byte per character', async () => {
    const file = await AppendFile.open(path, small)
    file.append('é', 'latin1')
    file.append('é')
    await file.close()
    expect([...(await readFile(path))]).toEqual([0xe9, 0xc3, 0xa9])
  })

  test('goes on where the file ended when it is opened again', async () => {
    await writeFile(path, 'before ')
    const file = await AppendFile.open(path)
    expect(file.append('after')).toBe(7)
    await file.close()
    expect(await readFile(path, 'utf8')).toBe('before after')
  })

  test('beyond the committed length is cut off by the next open', async () => {
    await writeFile(path, 'committed, not committed')
    const file = await AppendFile.open(path, { committedLength: 9 })
    expect(file.append('!')).toBe(9)
    await file.close()
    expect(await readFile(path, 'utf8')).toBe('committed!')
  })
})

test('a file shorter than its committed length is refused, because durable bytes are gone', async () => {
  await writeFile(path, 'short')
  expect((await faultOf(AppendFile.open(path, { committedLength: 6 }))).code).toBe('LEDGER_CORRUPT')
})

test('a directory that is not there is a fault naming the path', async () => {
  const fault = await faultOf(AppendFile.open(join(folder, 'no', 'file')))
  expect(fault.code).toBe('DISK_FAILED')
  expect(fault.message).toContain('no/file')
})

test('a fast caller is asked to wait, and waiting frees memory', async () => {
  const file = await AppendFile.open(path, small)
  expect(file.needsDrain).toBe(false)
  for (let i = 0; i < 100; i++) file.append('0123456789')
  expect(file.needsDrain).toBe(true)
  await file.drained()
  expect(file.needsDrain).toBe(false)
  await file.close()
  expect((await readFile(path)).length).toBe(1_000)
})

test('writes the disk takes only in part are finished', async () => {
  const openHandle = bentHandle((length) => Math.max(1, Math.floor(length / 3)))
  const file = await AppendFile.open(path, { ...small, openHandle })
  const text = Array.from({ length: 200 }, (_, i) => `line ${i}\n`).join('')
  file.append(text)
  await file.close()
  expect(await readFile(path, 'utf8')).toBe(text)
})

describe('a disk that fails', () => {
  test('fails the append that waited, and every later call with the same fault', async () => {
    let left = 100
    const openHandle = bentHandle((length) => {
      if (left === 0) return 'ENOSPC'
      const taken = Math.min(length, left)
      left -= taken
      return taken
    })
    const file = await AppendFile.open(path, { ...small, openHandle })
    file.append('x'.repeat(50))
    await file.sync()
    file.append('y'.repeat(120))
    const fault = await faultOf(file.sync())
    expect(fault.code).toBe('DISK_FULL')
    expect(() => file.append('z')).toThrow(fault)
    expect(() => file.reserve(1)).toThrow(fault)
    expect(await faultOf(file.flush())).toBe(fault)
    expect(await faultOf(file.sync())).toBe(fault)
    expect(await faultOf(file.drained())).toBe(fault)
    expect(await faultOf(file.close())).toBe(fault)
    // Half of it is there; the next open cuts back to what was synced.
    expect((await readFile(path)).length).toBe(100)
    await (await AppendFile.open(path, { committedLength: 50 })).close()
    expect(await readFile(path, 'utf8')).toBe('x'.repeat(50))
  })

  test('that takes no bytes at all does not hang the writer', async () => {
    const file = await AppendFile.open(path, { ...small, openHandle: bentHandle(() => 0) })
    file.append('x')
    expect((await faultOf(file.flush())).code).toBe('DISK_FAILED')
    await faultOf(file.close())
  })

  test('in fsync is not tried again, because the kernel may have dropped the pages', async () => {
    let syncs = 0
    const openHandle = async (file: string): Promise<AppendHandle> => {
      const handle = await bentHandle((length) => length)(file)
      return {
        ...handle,
        datasync: async () => {
          if (syncs++ === 0) throw Object.assign(new Error('EIO'), { code: 'EIO' })
        },
      }
    }
    const file = await AppendFile.open(path, { ...small, openHandle })
    file.append('x')
    const fault = await faultOf(file.sync())
    expect(fault.code).toBe('DISK_FAILED')
    expect(await faultOf(file.sync())).toBe(fault)
    expect(syncs).toBe(1)
    await faultOf(file.close())
  })

  test.skipIf(!existsSync('/dev/full'))('because it is full says so (/dev/full)', async () => {
    const file = await AppendFile.open(path, { openHandle: () => open('/dev/full', 'r+') })
    file.append('x')
    const fault = await faultOf(file.sync())
    expect(fault.code).toBe('DISK_FULL')
    expect(fault.message).toContain('no space left')
    await faultOf(file.close())
  })
})

test('a closed file refuses to be used', async () => {
  const file = await AppendFile.open(path)
  await file.close()
  expect(() => file.append('x')).toThrow(/after it was closed/)
  expect((await faultOf(file.sync())).code).toBe('ASSERTION')
})
