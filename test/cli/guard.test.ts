// A crawl under guard survives what kills its process; whoever runs it sees one crawl: one result, one exit code, one thing to stop.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startTestWeb, type TestWeb } from '../../testweb/index.ts'
import { temporaryDirectory } from '../crawl/run-crawl.ts'
import { type Running, startPortolan } from './portolan.ts'

/** Processes start several times here, on machines that may be busy. */
const TIMEOUT_MS = 300_000

interface Guarded extends Running {
  readonly web: TestWeb
  readonly dir: string
  /** The process that crawls, once it is another one than `before` and has asked for some pages. */
  readonly crawling: (before?: number) => Promise<number>
}

async function startGuarded(extra: readonly string[] = []): Promise<Guarded> {
  // Slow answers: it must last until it is killed.
  const web = await startTestWeb({ seed: 'guard', hosts: 4, pages: 60, latencyMs: 20 })
  onTestFinished(() => web.stop())
  const dir = join(temporaryDirectory(onTestFinished), 'out')
  const flags = ['--allow-private', '--delay', '0ms', '--agents', '2', '--guard', '--json', '--progress', 'none']
  const running = startPortolan(['crawl', '--seeds', '-', '--dir', dir, ...flags, ...extra], {
    input: web.seeds().join('\n'),
  })
  onTestFinished(() => void running.child.kill('SIGKILL'))
  const pidFile = join(dir, 'state/pid')
  const pid = (): number => (existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : 0)
  const crawling = async (before = 0): Promise<number> => {
    while (pid() === 0 || pid() === before) await sleep(5)
    const asked = web.log.length
    while (web.log.length < asked + 10) await sleep(5)
    return pid()
  }
  return { ...running, web, dir, crawling }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('killed and aborted, it goes on by itself and tells one result', { timeout: TIMEOUT_MS }, async () => {
  const { child, finished, web, dir, crawling } = await startGuarded()
  const first = await crawling()
  expect(first).not.toBe(child.pid)
  process.kill(first, 'SIGKILL')
  const second = await crawling(first)
  process.kill(second, 'SIGABRT')
  const { code, stdout, stderr } = await finished
  expect(code, stderr).toBe(0)
  expect(stderr).toMatch(/SIGKILL.*started again[^]*SIGABRT.*started again/)
  const truth = web.truth()
  expect(JSON.parse(stdout)).toMatchObject({ pages: truth.pages.size, stoppedBecause: 'finished', waiting: 0 })
  const lines = readFileSync(join(dir, 'pages.jsonl'), 'utf8').trim().split('\n')
  const urls = lines.map((line) => (JSON.parse(line) as { url: string }).url)
  expect(urls.sort()).toEqual([...truth.pages.keys()].sort())
  expect(existsSync(join(dir, 'state/pid'))).toBe(false)
})

test('Ctrl-C at the guard stops the crawl cleanly, once', { timeout: TIMEOUT_MS }, async () => {
  const { child, finished, crawling } = await startGuarded()
  const pid = await crawling()
  child.kill('SIGINT')
  const { code, stdout, stderr } = await finished
  expect(code, stderr).toBe(3)
  expect(JSON.parse(stdout)).toMatchObject({ stoppedBecause: 'interrupted' })
  expect(stderr).not.toMatch(/Cutting|started again/)
  expect(isAlive(pid)).toBe(false)
})

test('a crawl does not outlive its guard', { timeout: TIMEOUT_MS }, async () => {
  const { child, finished, crawling } = await startGuarded()
  const pid = await crawling()
  child.kill('SIGKILL')
  await finished
  while (isAlive(pid)) await sleep(5)
})

test('what is wrong with the arguments is said once', { timeout: TIMEOUT_MS }, async () => {
  const { finished } = await startGuarded(['--no-such-option'])
  const { code, stderr } = await finished
  expect(code).toBe(2)
  expect(stderr.match(/no-such-option/g)).toHaveLength(1)
})
