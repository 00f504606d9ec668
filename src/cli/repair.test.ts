// What the command says of a crawl that is whole, of one that can be saved, and of one that cannot.

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { crawl, FAST, temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { startTestWeb, type TestWeb } from '../../testweb/index.ts'
import { runRepair } from './repair.ts'

let web: TestWeb
let original = ''
const cleanups: (() => void)[] = []
beforeAll(async () => {
  web = await startTestWeb({ hosts: 2, pages: 30 })
  original = temporaryDirectory((fn) => cleanups.push(fn))
  await crawl({ seeds: web.seeds(), dir: original, flags: { ...FAST, 'max-pages': '20' } })
})
afterAll(async () => {
  for (const fn of cleanups) fn()
  await web.stop()
})

function copyOfCrawl(): string {
  const dir = temporaryDirectory(onTestFinished)
  rmSync(dir, { recursive: true })
  cpSync(original, dir, { recursive: true })
  return dir
}

async function repair(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = ''
  let err = ''
  const code = await runRepair(args, {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
  })
  return { code, out, err }
}

test('everything whole: a table, and 0', async () => {
  const { code, out } = await repair(copyOfCrawl())
  expect(code).toBe(0)
  expect(out).toMatch(/^ {2}journal +whole +up to batch \d+$/m)
  expect(out).toMatch(/^ {2}frontier +whole +\d+ URLs wait, as of batch \d+$/m)
  expect(out).toMatch(/^ {2}pages\.jsonl +whole +20 lines$/m)
  expect(out).toMatch(/Everything is whole\.\n$/)
})

test('damage that can be mended: first said, then with --apply done, then whole', async () => {
  const dir = copyOfCrawl()
  for (const run of readdirSync(join(dir, 'state/seen'))) truncateSync(join(dir, 'state/seen', run), 100)
  const looked = await repair(dir)
  expect(looked.code).toBe(1)
  expect(looked.out).toMatch(
    /^ {2}seen set +DAMAGED {2}\S+\.run is damaged: it is 100 bytes long, but \d+ were committed$/m,
  )
  expect(looked.out).toMatch(
    /^ +→ made anew from pages\.jsonl, failures\.jsonl and what waits; how often each URL was met is lost$/m,
  )
  expect(looked.out).toContain(`\`portolan repair ${dir} --apply\` does`)
  const { code, out } = await repair(dir, '--apply', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ sound: false, repaired: true, obstacles: [], lost: 0, again: 0 })
  expect((await repair(dir)).out).toContain('Everything is whole.')
  const { pages } = await crawl({ seeds: [], dir })
  expect(pages).toHaveLength(web.truth().pages.size)
})

test('damage that cannot be mended: said, with 1, also with --apply', async () => {
  const dir = copyOfCrawl()
  truncateSync(join(dir, 'pages.jsonl'), 100)
  const { code, out } = await repair(dir, '--apply')
  expect(code).toBe(1)
  expect(out).toContain('This cannot be repaired:\n  pages.jsonl: it is 100 bytes long')
  expect(out).toMatch(/Nothing was changed\. It has no checkpoints: a copy made by `portolan checkpoint`, or a backup/)
  for (const name of ['2026-11-16T05-20-00Z', '2026-11-17T05-20-00Z', '2026-11-18T05-20-00Z.partial']) {
    mkdirSync(join(dir, 'checkpoints', name), { recursive: true })
  }
  expect((await repair(dir)).out).toContain(
    'Nothing was changed. To go on from a checkpoint, the newest first:\n' +
      `  portolan crawl --dir ${dir}/checkpoints/2026-11-17T05-20-00Z\n` +
      `  portolan crawl --dir ${dir}/checkpoints/2026-11-16T05-20-00Z\n`,
  )
})

test('what is wrong is told where it lies, once, without advice that is being followed', async () => {
  const dir = copyOfCrawl()
  const frontier = join(dir, 'state/frontier')
  for (const name of readdirSync(frontier)) if (/^(?:\d|MANIFEST|CURRENT)/.test(name)) rmSync(join(frontier, name))
  const { out } = await repair(dir)
  expect(out).toContain(frontier)
  expect(out).not.toMatch(/repair-scratch|portolan repair` can save/)
})

test('a line of pages.jsonl that is no JSON is found', async () => {
  const dir = copyOfCrawl()
  const path = join(dir, 'pages.jsonl')
  writeFileSync(path, readFileSync(path, 'utf8').replace('"status"', '=status='))
  expect((await repair(dir)).out).toMatch(/pages\.jsonl +DAMAGED +\S+ has no JSON at byte \d+/)
})

test('no directory, no crawl', async () => {
  expect((await repair('--aply')).err).toMatch(/did you mean --apply\?[^]*of which crawl\?/)
  await expect(repair(temporaryDirectory(onTestFinished))).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})
