import { mkdtemp, readFile, rm } from 'node:fs/promises'
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
