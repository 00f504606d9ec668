import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeSampleCrawl } from '../../test/sample-crawl.ts'
import type { CrawlReport } from '../report/index.ts'
import { EXIT } from './command.ts'
import { reportCommand, runReport } from './report.ts'

let root: string
let crawl: string

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'portolan-cli-report-'))
  crawl = join(root, 'crawl')
  await writeSampleCrawl(crawl, { pages: 60, hosts: 2 })
})

afterAll(async () => {
  await rm(root, { recursive: true })
})

async function run(...args: string[]): Promise<{ code: number; output: string }> {
  let output = ''
  const code = await runReport(args, { stdout: { write: (text) => (output += text) } })
  return { code, output }
}

test('writes report.html into the crawl and says where', async () => {
  const { code, output } = await run(crawl)
  expect(code).toBe(EXIT.ok.code)
  expect(output).toMatch(/^Complete: nothing is left to fetch\n {2}pages {5}60 from 2 hosts/)
  expect(output.trimEnd().endsWith(join(crawl, 'report.html'))).toBe(true)
  expect(await readFile(join(crawl, 'report.html'), 'utf8')).toMatch(/^<!doctype html>/)
})

test('a crawl that runs or was killed has figures too, and is said not to have ended', async () => {
  const dir = join(root, 'killed')
  await writeSampleCrawl(dir, { pages: 200, hosts: 2, waiting: 30 })
  await rm(join(dir, 'crawl.json'))
  const { output } = await run(dir)
  expect(output).toMatch(/^Not ended: the crawl still runs, or was killed\n {2}pages {5}200 from \d+ hosts, /)
  expect(output).toMatch(/\n {2}time {6}4\.8 s, 42 pages\/s\n {2}answers {3}\d+ ok, /)
  expect(output).toMatch(/\n {2}failed {4}2: /)
  expect(output).toContain(`\n  waiting   30\n  files     ${join(dir, 'pages.jsonl')}, failures.jsonl\n`)
  expect(output).toContain(`\n  portolan crawl --dir ${dir}\n`)
})

test('a crawl without a page says why, once', async () => {
  const dir = join(root, 'nothing-came')
  await mkdir(dir)
  const failure = { url: 'http://nowhere.example/', kind: 'failed', reason: 'DNS_NO_NAME', detail: '', depth: 0 }
  await writeFile(join(dir, 'failures.jsonl'), `${JSON.stringify({ ...failure, via: null, at: '' })}\n`)
  const summary = { stoppedBecause: 'finished', pages: 0, failed: 1, hosts: 1, seeds: [failure.url] }
  await writeFile(join(dir, 'crawl.json'), JSON.stringify(summary))
  const { output } = await run(dir)
  expect(output).toContain('\n\nNo page came of it:\n  DNS_NO_NAME 1: the name does not exist\n\n')
  expect(output.match(/No page/g)).toHaveLength(1)
})

test('--out writes it elsewhere', async () => {
  const path = join(root, 'elsewhere.html')
  await run(crawl, '--out', path)
  expect(await readFile(path, 'utf8')).toMatch(/^<!doctype html>/)
})

test('--json prints one object with every figure', async () => {
  const { output } = await run(crawl, '--json')
  expect(output.split('\n')).toHaveLength(2)
  expect(JSON.parse(output) as CrawlReport).toMatchObject({ pages: 60, summary: { pages: 60 } })
})

test.each([[[]], [['a', 'b']], [['a', '--jsn']], [['a', '--out']], [['a', '--json', '--out', 'b']]])(
  'the arguments %j are refused',
  async (args) => {
    expect((await run(...args)).code).toBe(EXIT.usage.code)
  },
)

test('a directory without a crawl is named', async () => {
  await expect(reportCommand.run([join(root, 'nothing')])).rejects.toThrow(/nothing is not the directory of a crawl/)
})
