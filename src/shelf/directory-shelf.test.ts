import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { mountSmallDisk, unmount } from '../../test/small-disk.ts'
import { DirectoryShelf } from './directory-shelf.ts'

const NAME = 'archive/x.warc.gz'

function stand(): { root: string; path: string; shelf: DirectoryShelf } {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-shelf-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const root = join(folder, 'root')
  mkdirSync(root)
  const path = join(folder, 'file')
  writeFileSync(path, Buffer.alloc(3_000_000, 'abc'))
  return { root, path, shelf: new DirectoryShelf(root, 'crawl-1') }
}

function putting(): { signal: AbortSignal; onBytes: () => void } {
  return { signal: new AbortController().signal, onBytes: () => {} }
}

test('a file is copied whole, below the folder of its crawl, and nothing else is left', async () => {
  const { root, path, shelf } = stand()
  expect(await shelf.put(NAME, path, putting())).toMatchObject({ bytes: 3_000_000 })
  expect(readFileSync(join(root, 'crawl-1', NAME)).equals(readFileSync(path))).toBe(true)
  expect(readdirSync(join(root, 'crawl-1/archive'))).toEqual(['x.warc.gz'])
  expect(shelf.where).toMatch(/^file:\/\/\/.*\/root\/crawl-1\/$/)
})

test('what is there in the same bytes stays as it is; in others it is replaced', async () => {
  const { root, path, shelf } = stand()
  await shelf.put(NAME, path, putting())
  const target = join(root, 'crawl-1', NAME)
  const { ino } = statSync(target)
  await shelf.put(NAME, path, putting())
  expect(statSync(target).ino).toBe(ino)
  writeFileSync(path, Buffer.alloc(3_000_000, 'xyz'))
  await shelf.put(NAME, path, putting())
  expect(readFileSync(target).equals(readFileSync(path))).toBe(true)
})

test('a directory that is not there is not made: its disk may not be mounted', async () => {
  const { root, path } = stand()
  const shelf = new DirectoryShelf(join(root, 'mnt'), 'crawl-1')
  await expect(shelf.put(NAME, path, putting())).rejects.toMatchObject({ code: 'SHELF_UNREACHABLE' })
  expect(existsSync(join(root, 'mnt'))).toBe(false)
})

test('whether a file is there is told by its whole copy alone, and is no answer where the directory is not', async () => {
  const { root, path, shelf } = stand()
  mkdirSync(join(root, 'crawl-1/archive'), { recursive: true })
  writeFileSync(join(root, 'crawl-1/archive/.x.warc.gz.part'), 'half')
  expect(await shelf.has(NAME)).toBe(false)
  await shelf.put(NAME, path, putting())
  expect([await shelf.has(NAME), await shelf.has('archive/y.warc.gz')]).toEqual([true, false])
  const unmounted = new DirectoryShelf(join(root, 'mnt'), 'crawl-1')
  await expect(unmounted.has(NAME)).rejects.toMatchObject({ code: 'SHELF_UNREACHABLE' })
})

test('a copy that is cut off leaves nothing under the name, and its remains are written over', async () => {
  const { root, path, shelf } = stand()
  const abort = new AbortController()
  const put = shelf.put(NAME, path, { signal: abort.signal, onBytes: () => abort.abort(new Error('killed')) })
  await expect(put).rejects.toThrow('killed')
  expect(existsSync(join(root, 'crawl-1', NAME))).toBe(false)
  writeFileSync(join(root, 'crawl-1/archive/.x.warc.gz.part'), 'remains of a process that was killed')
  await shelf.put(NAME, path, putting())
  expect(readdirSync(join(root, 'crawl-1/archive'))).toEqual(['x.warc.gz'])
})

const small = mountSmallDisk('1m')
test.skipIf(small === null)('a disk that is full there is told as such, and no half file is left', async () => {
  const root = small as string
  onTestFinished(() => unmount(root))
  const { path } = stand()
  const shelf = new DirectoryShelf(root, 'crawl-1')
  await expect(shelf.put(NAME, path, putting())).rejects.toMatchObject({ code: 'DISK_FULL' })
  expect(readdirSync(join(root, 'crawl-1/archive'))).toEqual([])
})
