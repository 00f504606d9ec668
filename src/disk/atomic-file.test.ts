import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeAtomically } from './atomic-file.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portolan-disk-'))
})
afterEach(async () => {
  await chmod(folder, 0o755)
  await rm(folder, { recursive: true, force: true })
})

test('a file is replaced whole and nothing is left beside it', async () => {
  const path = join(folder, 'crawl.json')
  await writeFile(path, 'a long old text')
  await writeFile(`${path}.new`, 'left by a crash, longer than what comes now')
  await writeAtomically(path, 'new')
  expect(await readFile(path, 'utf8')).toBe('new')
  await writeAtomically(path, Buffer.from([0, 1, 2]))
  expect([...(await readFile(path))]).toEqual([0, 1, 2])
  expect(await readdir(folder)).toEqual(['crawl.json'])
})

test('a write that fails leaves the old file and nothing beside it', async () => {
  const path = join(folder, 'missing', 'crawl.json')
  await expect(writeAtomically(path, 'x')).rejects.toMatchObject({ code: 'DISK_FAILED' })
  expect(await readdir(folder)).toEqual([])
})

// Root may write everywhere, so there the disk cannot be made to refuse.
test.skipIf(process.getuid?.() === 0)('a read-only directory is named as such', async () => {
  await chmod(folder, 0o555)
  await expect(writeAtomically(join(folder, 'crawl.json'), 'x')).rejects.toMatchObject({ code: 'DISK_READ_ONLY' })
})
