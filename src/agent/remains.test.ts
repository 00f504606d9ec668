import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { refuseRemains } from './remains.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'portolan-remains-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
})

function put(name: string, text: string): void {
  mkdirSync(dirname(join(dir, name)), { recursive: true })
  writeFileSync(join(dir, name), text)
}

test("a directory that is empty, or has what no crawl writes, is anybody's", async () => {
  put('notes.txt', 'mine')
  put('pages.jsonl', '')
  mkdirSync(join(dir, 'state/seen'), { recursive: true })
  await refuseRemains(dir)
  await refuseRemains(join(dir, 'not there'))
})

test.each(['state/frontier/CURRENT', 'state/seen/seen-1.run', 'state/contents/content-1.run'])(
  '%s without a journal is a crawl that has lost it',
  async (name) => {
    put(name, 'x')
    await expect(refuseRemains(dir)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
  },
)

test.each(['pages.jsonl', 'failures.jsonl', 'crawl.json', 'archive/index.cdxj'])(
  '%s of somebody else is not overwritten',
  async (name) => {
    put(name, 'x')
    await expect(refuseRemains(dir)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  },
)
