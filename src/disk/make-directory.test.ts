// A directory is made with all it lies in, or a fault says why not; it never hangs.

import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeDirectory } from './make-directory.ts'

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portolan-disk-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

test('all missing parents are made, and making it twice is harmless', async () => {
  const path = join(await temporary(), 'a/b/c')
  await makeDirectory(path)
  await makeDirectory(path)
  expect((await stat(path)).isDirectory()).toBe(true)
})

test('several at once do not stand in each other’s way', async () => {
  const path = join(await temporary(), 'a/b/c')
  await Promise.all(Array.from({ length: 8 }, () => makeDirectory(path)))
  expect((await stat(path)).isDirectory()).toBe(true)
})

test('below a file there can be none', async () => {
  const folder = await temporary()
  await writeFile(join(folder, 'file'), '')
  const refusal = { code: 'CONFIG_INVALID', message: expect.stringContaining('is a file') }
  await expect(makeDirectory(join(folder, 'file/below'))).rejects.toMatchObject(refusal)
  await expect(makeDirectory(join(folder, 'file'))).rejects.toMatchObject(refusal)
})

test.runIf(process.platform === 'linux')('where the system refuses, a fault comes at once', async () => {
  await expect(makeDirectory('/proc/portolan/x')).rejects.toMatchObject({ code: 'DISK_FAILED' })
})
