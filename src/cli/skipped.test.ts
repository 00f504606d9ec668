// What was skipped can be listed: by reason, by host, so many, for people and for scripts.

import { expect, onTestFinished, test } from 'vitest'
import { crawl, temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { startTestWeb } from '../../testweb/index.ts'
import type { FailureRecord } from '../store/index.ts'
import { runSkipped } from './skipped.ts'

async function skipped(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = ''
  let err = ''
  const code = await runSkipped(args, {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
  })
  return { code, out, err }
}

async function trappedCrawl(): Promise<{ dir: string; failures: readonly FailureRecord[] }> {
  const web = await startTestWeb({ hosts: 2, pages: 5, traps: true })
  onTestFinished(() => web.stop())
  const dir = temporaryDirectory(onTestFinished)
  const flags = { 'allow-private': true, delay: '0ms', warc: 'none', include: ['/deeper/', '/session'] } as const
  const { failures } = await crawl({ seeds: web.seeds(), dir, flags })
  return { dir, failures }
}

test('it lists reason, URL and detail, of some reasons, of one host, so many', async () => {
  const { dir, failures } = await trappedCrawl()
  const all = await skipped(dir)
  expect(all.code).toBe(0)
  expect(all.out.trim().split('\n')).toHaveLength(failures.length)
  const loops = (await skipped(dir, '--reason', 'path-loop')).out.trim().split('\n')
  expect(loops.length).toBeGreaterThan(3)
  for (const line of loops)
    expect(line).toMatch(
      /^path-loop\thttp:\/\/127\.1\.0\.[12]:\d+\/deeper\/[ab/]+\t.+ (show the same text|again and again)$/,
    )
  const host = (await skipped(dir, '--host', '127.1.0.2')).out.trim().split('\n')
  expect(host).toHaveLength(failures.filter(({ url }) => url.includes('127.1.0.2')).length)
  expect((await skipped(dir, '--limit', '2')).out.trim().split('\n')).toHaveLength(2)
  const json = (await skipped(dir, '--reason', 'session-id', '--json')).out.trim().split('\n')
  expect(json.map((line) => JSON.parse(line) as FailureRecord)).toEqual(
    failures.filter(({ reason }) => reason === 'session-id'),
  )
  expect((await skipped(dir, '--reason', 'calendar')).out).toContain('Nothing like that')
})

test('a reason, a host or a limit that is none is said to be none', async () => {
  const { code, err } = await skipped('x', '--reason', 'calender', '--host', 'a b', '--limit', '0')
  expect(code).toBe(2)
  expect(err).toContain("--reason 'calender': unknown; did you mean calendar?")
  const { err: others } = await skipped('x', '--reason', 'nope', '--reason', 'FETCH_TIMEOUT')
  expect(others).toMatch(/--reason 'nope': unknown; reasons are robots, .*, calendar, /)
  expect(others).toMatch(/--reason 'FETCH_TIMEOUT': is of failures/)
  expect(err).toContain('is not a host')
  expect(err).toContain('whole number')
})
