// Commands that look after a crawl, as processes beside the one that crawls.

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type PageRecord, readJsonLines } from '../../src/store/index.ts'
import { startTestWeb, type TestWeb } from '../../testweb/index.ts'
import { checkArchive } from '../archive-check.ts'
import { temporaryDirectory } from '../crawl/run-crawl.ts'
import { portolan, startPortolan } from './portolan.ts'

const LOCAL = ['--allow-private', '--delay', '0ms', '--agents', '1', '--warc-size', '100kB']

async function expectWhole(dir: string, web: TestWeb): Promise<void> {
  const pages = await Array.fromAsync(readJsonLines<PageRecord>(join(dir, 'pages.jsonl')))
  expect(pages.map(({ url }) => url).toSorted()).toEqual([...web.truth().pages.keys()].toSorted())
  expect(checkArchive(dir).problems).toEqual([])
}

test('while a crawl runs: status names it, requeue refuses, checkpoint copies it; both go on to the truth', async () => {
  const web = await startTestWeb({ hosts: 4, pages: 80, latencyMs: 40 })
  onTestFinished(() => web.stop())
  const dir = join(temporaryDirectory(onTestFinished), 'crawl')
  const { child, finished } = startPortolan(['crawl', ...web.seeds(), '--dir', dir, ...LOCAL, '--json'])
  while (web.log.length < 60) await new Promise((resolve) => setImmediate(resolve))

  const [status, requeued, checkpoint] = await Promise.all([
    portolan(['status', dir, '--json']),
    portolan(['requeue', dir, '--failed']),
    portolan(['checkpoint', dir, '--json']),
  ])
  expect(status.code, status.stderr).toBe(0)
  expect(JSON.parse(status.stdout)).toMatchObject({ running: true, pid: child.pid, state: 'running', hosts: 4 })
  expect(requeued.code).toBe(6)
  expect(requeued.stderr).toContain(`process ${child.pid}`)
  expect(checkpoint.code, checkpoint.stderr).toBe(0)
  const { to } = JSON.parse(checkpoint.stdout) as { to: string }
  expect(to.startsWith(join(dir, 'checkpoints/'))).toBe(true)
  expect(checkpoint.stderr).toContain(`Process ${child.pid} crawls`)

  const { code, stderr } = await finished
  expect(code, stderr).toBe(0)
  await expectWhole(dir, web)
  expect(readdirSync(join(dir, 'state')).filter((name) => name.startsWith('checkpoint-'))).toEqual([])
  const went = await portolan(['crawl', '--dir', to, '--json'])
  expect(went.code, went.stderr).toBe(0)
  expect((JSON.parse(went.stdout) as { run: { pages: number } }).run.pages).toBeGreaterThan(0)
  await expectWhole(to, web)
})

test('of a crawl that is not running the copy is made at once; a target that exists is refused', async () => {
  const web = await startTestWeb({ hosts: 1, pages: 10 })
  onTestFinished(() => web.stop())
  const dir = join(temporaryDirectory(onTestFinished), 'crawl')
  await portolan(['crawl', ...web.seeds(), '--dir', dir, ...LOCAL, '--max-pages', '4'])
  const to = `${dir}-copy`
  const made = await portolan(['checkpoint', dir, '--to', to])
  expect(made.code, made.stderr).toBe(0)
  expect(made.stdout).toMatch(/\d+ files? linked, \d+ files copied .*commits were held for/)
  expect(made.stdout).toContain(`\`portolan crawl --dir ${to}\` goes on from it.`)
  const again = await portolan(['checkpoint', dir, '--to', to])
  expect(again.code).toBe(2)
  expect(again.stderr).toContain('exists already')
  await portolan(['crawl', '--dir', to])
  await expectWhole(to, web)
  expect(existsSync(join(dir, 'state/lock'))).toBe(false)
})
