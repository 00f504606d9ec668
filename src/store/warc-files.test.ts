import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { finishLeftFile, isWarcName, WarcFiles, writerOf } from './warc-files.ts'

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'portolan-warc-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  mkdirSync(join(directory, 'archive'))
  return directory
}

const AT = Date.UTC(2026, 0, 2, 3, 4, 5)

test('files of different nodes have different names, and each knows its own', async () => {
  const directory = folder()
  const place = { directory, crawlName: 'my-crawl', agent: 3 }
  const alone = new WarcFiles(place)
  const one = new WarcFiles({ ...place, node: 'node-1' })
  const two = new WarcFiles({ ...place, node: 'node-2' })
  const names = [alone, one, two].map((files) => files.name(7, AT, '.gz'))
  expect(names).toEqual([
    'archive/portolan-my_crawl-20260102030405-3-00007.warc.gz',
    'archive/portolan-my_crawl-20260102030405-node.1-3-00007.warc.gz',
    'archive/portolan-my_crawl-20260102030405-node.2-3-00007.warc.gz',
  ])
  expect(names.every(isWarcName)).toBe(true)
  expect(names.map(writerOf)).toEqual([null, { node: 'node-1', agent: 3 }, { node: 'node-2', agent: 3 }])
  const similar = new WarcFiles({ ...place, node: 'node_1' }).name(7, AT, '')
  expect([similar === names[1], writerOf(`${similar}.open`)?.node]).toEqual([false, 'node_1'])
  writeFileSync(join(directory, names[1] as string), 'x')
  expect([await alone.begin(), await one.begin(), await two.begin()]).toEqual([0, 8, 0])
})

test('a share that comes from another node goes on in a file of its own; what that one wrote is its to finish', async () => {
  const directory = folder()
  const from = new WarcFiles({ directory: '/nowhere', crawlName: 'x', agent: 0, node: 'a' })
  const open = { file: from.name(4, AT, ''), length: 100 }
  const state = { serial: 5, open, full: [] }
  expect(await new WarcFiles({ directory, crawlName: 'x', agent: 0, node: 'b' }).recover(state)).toBeNull()
  await expect(new WarcFiles({ directory, crawlName: 'x', agent: 0, node: 'a' }).recover(state)).rejects.toThrow(
    'missing',
  )
})

test('a file that is missing here is no fault where it is kept elsewhere in its whole length', async () => {
  const directory = folder()
  const place = { directory, crawlName: 'x', agent: 0 }
  const file = new WarcFiles(place).name(0, AT, '')
  const state = { serial: 1, open: { file, length: 100 }, full: [] }
  expect(await new WarcFiles({ ...place, elsewhere: async () => 100 }).recover(state)).toBeNull()
  await expect(new WarcFiles({ ...place, elsewhere: async () => 99 }).recover(state)).rejects.toThrow('--lost-archives')
})

test('a file that was left is cut back to what was committed, and finished', async () => {
  const directory = folder()
  const file = 'archive/portolan-x-20260102030405-a-0-00000.warc'
  const path = join(directory, file)
  expect(await finishLeftFile(directory, { file, length: 5 })).toBe(false)
  writeFileSync(`${path}.open`, '1234567')
  expect(await finishLeftFile(directory, { file, length: 9 })).toBe(false)
  expect(await finishLeftFile(directory, { file, length: 5 })).toBe(true)
  expect([existsSync(`${path}.open`), statSync(path).size]).toEqual([false, 5])
  expect(await finishLeftFile(directory, { file, length: 5 })).toBe(true)
  expect(readdirSync(join(directory, 'archive'))).toHaveLength(1)
})
