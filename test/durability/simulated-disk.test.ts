// A test tool that finds nothing proves nothing: writers with the classical mistakes must be caught, and the right one
// must pass. Each is to replace or add bytes so that after any cut there is the old or the new, once promised the new.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { SimulatedDisk } from './simulated-disk.ts'

vi.mock('node:fs', async (original) => (await import('./recorded-fs.ts')).recordedFs(await original()))
vi.mock('node:fs/promises', async (original) => (await import('./recorded-fs.ts')).recordedFsPromises(await original()))

const parent = mkdtempSync(join(tmpdir(), 'portolan-simulated-'))
let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(parent, 'disk-'))
})
afterAll(() => rmSync(parent, { recursive: true }))

const OLD = 'old '.repeat(600)
const NEW = 'new bytes '.repeat(600)

interface Mistakes {
  readonly file?: boolean
  readonly directory?: boolean
  readonly order?: boolean
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync()
  await handle.close()
}

/** Replaces a file as it should be done, or with a mistake. */
async function replace(mistakes: Mistakes): Promise<void> {
  if (mistakes.order === true) await unlink(join(directory, 'facts'))
  const handle = await open(join(directory, 'facts.new'), 'w')
  await handle.writeFile(NEW)
  if (mistakes.file !== true) await handle.datasync()
  await handle.close()
  await rename(join(directory, 'facts.new'), join(directory, 'facts'))
  if (mistakes.directory !== true) await syncDirectory(directory)
}

/** The cuts after which the file is neither, or not the new one although that was promised. */
async function broken(disk: SimulatedDisk, promisedAt: number): Promise<string[]> {
  const found: string[] = []
  await disk.afterEachCut('broken', 3, async (copy, cut) => {
    const bytes = await readFile(join(copy, 'facts'), 'utf8').catch(() => 'missing')
    const isRight = bytes === NEW || (bytes === OLD && cut.at < promisedAt)
    if (!isRight) found.push(`${cut.name}: ${bytes.slice(0, 8)}`)
  })
  return found
}

describe('replacing a file', () => {
  const replaced = async (mistakes: Mistakes): Promise<string[]> => {
    writeFileSync(join(directory, 'facts'), OLD)
    const disk = SimulatedDisk.watch(directory)
    await replace(mistakes)
    const promisedAt = disk.now
    disk.stop()
    return broken(disk, promisedAt)
  }

  test('done as it should be, no cut is seen', async () => expect(await replaced({})).toEqual([]))

  test('a writer that forgets to sync the file is caught', async () =>
    expect(await replaced({ file: true })).not.toEqual([]))

  test('a writer that forgets to sync the directory is caught', async () =>
    expect((await replaced({ directory: true })).some((one) => one.endsWith('old old '))).toBe(true))

  test('a writer that removes the old before the new is named is caught', async () =>
    expect((await replaced({ order: true })).some((one) => one.endsWith('missing'))).toBe(true))
})

test('what was synced is always there, what was not may be kept, lost, cut, torn or zeros', async () => {
  const disk = SimulatedDisk.watch(directory)
  const handle = await open(join(directory, 'log'), 'w')
  await handle.write(Buffer.alloc(1_000, 'a'), 0, 1_000, 0)
  await handle.datasync()
  await syncDirectory(directory)
  const promisedAt = disk.now
  await handle.write(Buffer.alloc(1_000, 'b'), 0, 1_000, 1_000)
  await handle.write(Buffer.alloc(1_000, 'c'), 0, 1_000, 2_000)
  await handle.close()
  disk.stop()
  const seen = new Set<string>()
  await disk.afterEachCut('fates', 60, async (copy, cut) => {
    if (cut.at < promisedAt) return
    const bytes = await readFile(join(copy, 'log'), 'latin1')
    expect(bytes.startsWith('a'.repeat(1_000)), cut.name).toBe(true)
    seen.add(
      bytes
        .slice(1_000)
        .replaceAll(/(.)\1*/gs, '$1')
        .replaceAll('\0', '0'),
    )
  })
  // Both, none, the later without the earlier, the earlier without the later, lengths without bytes, torn at a sector.
  expect([...seen]).toEqual(expect.arrayContaining(['', 'b', 'bc', '0c', '0', '0b', 'b0']))
})

test('a sync promises nothing of a write that had not ended when it began, nor before it has ended', async () => {
  const disk = SimulatedDisk.watch(directory)
  const handle = await open(join(directory, 'log'), 'w')
  await syncDirectory(directory)
  const writing = handle.write(Buffer.from('bytes'), 0, 5, 0)
  const syncing = handle.datasync()
  await Promise.all([writing, syncing])
  const afterFirst = disk.now
  const second = handle.datasync()
  expect(disk.now).toBe(afterFirst)
  await second
  const afterSecond = disk.now
  await handle.close()
  disk.stop()
  const lost: boolean[] = []
  await disk.afterEachCut('times', 0, async (copy, cut) => {
    if (!cut.name.endsWith('lost') || (cut.at !== afterFirst && cut.at !== afterSecond)) return
    lost.push((await readFile(join(copy, 'log'), 'utf8')) === '')
  })
  expect(lost).toEqual([true, false])
})

test('a directory that was made is durable with its parent, and takes what lies in it along', async () => {
  const disk = SimulatedDisk.watch(directory)
  const inner = join(directory, 'inner')
  await mkdir(inner)
  const handle = await open(join(inner, 'file'), 'w')
  await handle.sync()
  await handle.close()
  await syncDirectory(inner)
  const before = disk.now
  await syncDirectory(directory)
  disk.stop()
  const left = new Map<number, string[]>()
  await disk.afterEachCut('directories', 0, async (copy, cut) => {
    if (cut.name.endsWith('lost')) left.set(cut.at, await readdir(copy, { recursive: true }))
  })
  expect(left.get(before)).toEqual([])
  expect(left.get(before + 1)).toEqual(['inner', join('inner', 'file')])
})

test('a removal without a sync may come back', async () => {
  writeFileSync(join(directory, 'file'), OLD)
  const disk = SimulatedDisk.watch(directory)
  await rm(join(directory, 'file'))
  disk.stop()
  const left = new Set<number>()
  await disk.afterEachCut('removal', 5, async (copy, cut) => {
    if (cut.at === 1) left.add((await readdir(copy)).length)
  })
  expect(left).toEqual(new Set([0, 1]))
})

test('told to refuse, it fails as a disk does', async () => {
  const disk = SimulatedDisk.watch(directory)
  disk.refuse = (operation, path) => (operation === 'write' && path === 'full' ? 'ENOSPC' : null)
  const handle = await open(join(directory, 'full'), 'w')
  await expect(handle.write(Buffer.from('bytes'), 0, 5, 0)).rejects.toMatchObject({ code: 'ENOSPC' })
  await handle.close()
  disk.stop()
})

test('what it does not know it refuses rather than overlooks', async () => {
  const disk = SimulatedDisk.watch(directory)
  const fs = await import('node:fs')
  expect(() => fs.createWriteStream(join(directory, 'stream'))).toThrow('does not know createWriteStream')
  expect(() => fs.appendFileSync(join(directory, 'file'), 'more')).toThrow('does not know appendFileSync')
  disk.stop()
  fs.appendFileSync(join(directory, 'file'), 'no longer watched')
})
