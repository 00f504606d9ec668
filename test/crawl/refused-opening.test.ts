// A crawl that cannot go on is refused, and what is there stays as it is: a repair may still save it.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { startTestWeb, type TestWeb } from '../../testweb/index.ts'
import { crawl, FAST, temporaryDirectory } from './run-crawl.ts'

let web: TestWeb
let dir = ''
beforeEach(async () => {
  web = await startTestWeb({ hosts: 3, pages: 60 })
  onTestFinished(() => web.stop())
  dir = temporaryDirectory(onTestFinished)
  await crawl({ seeds: web.seeds(), dir, flags: { ...FAST, 'max-pages': '60' } })
  web.reset()
})

const goOn = (): Promise<unknown> => crawl({ seeds: web.seeds(), dir })

/** Every file that is worth something, by a digest of its bytes. LevelDB's own notes change with every opening. */
function contents(): Map<string, string> {
  const found = new Map<string, string>()
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || path.includes('/state/journal/') || path.includes('/state/frontier/')) continue
    found.set(path.slice(dir.length + 1), createHash('sha256').update(readFileSync(path)).digest('hex'))
  }
  return found
}

test('a journal that has lost its end: nothing is cut back to what is left of it', async () => {
  const [segment = ''] = readdirSync(join(dir, 'state/journal'))
  const path = join(dir, 'state/journal', segment)
  truncateSync(path, statSync(path).size - 1)
  const before = contents()
  await expect(goOn()).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
  expect(contents()).toEqual(before)
  expect(web.log.length).toBe(0)
})

test('a journal that is gone: the crawl is not begun anew over what is there', async () => {
  rmSync(join(dir, 'state/journal'), { recursive: true })
  const before = contents()
  await expect(goOn()).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
  expect(contents()).toEqual(before)
})

test('a state that is gone: pages of the former crawl are not overwritten', async () => {
  rmSync(join(dir, 'state'), { recursive: true })
  const before = contents()
  await expect(goOn()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  expect(contents()).toEqual(before)
})
