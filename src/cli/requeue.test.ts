// What was given up can be asked for again, by reason and by host; the next run then asks exactly that.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { crawl, temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { startTestWeb, type TestWeb, type TestWebOptions } from '../../testweb/index.ts'
import { lockDirectory } from '../disk/index.ts'
import { type FailureRecord, readJsonLines } from '../store/index.ts'
import { runRequeue } from './requeue.ts'

async function startWeb(options: TestWebOptions): Promise<TestWeb> {
  const web = await startTestWeb(options)
  onTestFinished(() => web.stop())
  return web
}

async function requeue(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = ''
  let err = ''
  const code = await runRequeue(args, {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
  })
  return { code, out, err }
}

const NOWHERE = ['http://127.9.9.9:9/', 'http://127.9.9.8:9/'] as const

/** A crawl with pages, two hosts that refuse connections, and URLs that robots.txt forbids. */
async function crawlWithFailures(): Promise<{ web: TestWeb; dir: string; failures: readonly FailureRecord[] }> {
  const web = await startWeb({ hosts: 1, pages: 12, robots: { some: 1 } })
  const dir = temporaryDirectory(onTestFinished)
  const [seed = ''] = web.seeds()
  const { failures } = await crawl({ seeds: [seed, `${seed}private/x`, ...NOWHERE], dir })
  writeFileSync(
    join(dir, 'state/settings.json'),
    JSON.stringify({
      fetch: { allowPrivate: true },
      frontier: { delay: '0ms', backoff: '5ms', backoffMax: '20ms', retryAfterMax: '50ms' },
      store: { warc: 'none' },
    }),
  )
  return { web, dir, failures }
}

async function standing(dir: string): Promise<FailureRecord[]> {
  return Array.fromAsync(readJsonLines<FailureRecord>(join(dir, 'failures.jsonl')))
}

test('without a selection it says what there is, and changes nothing', async () => {
  const { dir, failures } = await crawlWithFailures()
  const { code, out, err } = await requeue(dir)
  expect(code).toBe(0)
  expect(err).toBe('')
  expect(out).toContain('2  --reason FETCH_CONNECT_REFUSED')
  expect(out).toMatch(/\d {2}--skipped robots\n/)
  const robots = failures.filter(({ reason }) => reason === 'robots').length
  expect(JSON.parse((await requeue(dir, '--json')).out)).toEqual({
    dir,
    failures: { FETCH_CONNECT_REFUSED: 2 },
    skipped: { robots },
  })
  expect((await requeue(dir, '--host', '127.9.9.9')).out).toBe(
    `These URLs of host 127.9.9.9 in ${dir} could be asked for again:\n  1  --reason FETCH_CONNECT_REFUSED\n` +
      'Say one or more of these, --failed for all that failed, or --skipped all; or --pages for what was had.\n',
  )
  expect(await standing(dir)).toEqual(failures)
})

test('a host that nothing is known of is said to be one', async () => {
  const { dir } = await crawlWithFailures()
  const nothing = `Nothing of host other.test in ${dir} was given up or skipped.\n`
  expect((await requeue(dir, '--host', 'other.test')).out).toBe(nothing)
  expect((await requeue(dir, '--failed', '--host', 'other.test')).out).toBe(nothing)
  expect((await requeue(dir, '--reason', 'FETCH_TLS_FAILED', '--host', '127.9.9.9')).out).toBe(
    `Nothing of host 127.9.9.9 in ${dir} was given up or skipped for such a reason.\n`,
  )
  const { code, err } = await requeue(dir, '--failed', '--host', 'a b')
  expect(code).toBe(2)
  expect(err).toContain("--host: 'a b' is not a host")
})

test.for([
  ['EXAMPLE.org', 'example.org'],
  ['example.org:8080', 'example.org'],
  ['https://Example.org:8443/x?y', 'example.org'],
  ['example.org/x', 'example.org'],
  ['::1', '[::1]'],
  ['[::1]:80', '[::1]'],
  ['b\u00fccher.test', 'xn--bcher-kva.test'],
] as const)('--host %s is the host %s', async ([said, host]) => {
  const { dir } = await crawl({ seeds: [NOWHERE[0]], dir: temporaryDirectory(onTestFinished) })
  expect((await requeue(dir, '--host', said)).out).toContain(`of host ${host} in `)
})

test('--failed: counted by reason, waiting again, and asked for by the next run', async () => {
  const { dir, failures } = await crawlWithFailures()
  const { code, out } = await requeue(dir, '--failed', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(out)).toEqual({ dir, requeued: 2, reasons: { FETCH_CONNECT_REFUSED: 2 } })
  expect(await standing(dir)).toEqual(failures.filter(({ kind }) => kind === 'skipped'))
  const after = await crawl({ seeds: [], dir })
  expect(after.snapshot.figures.failures).toEqual({ FETCH_CONNECT_REFUSED: 2 })
  expect(after.snapshot.figures.settled).toBe(after.snapshot.figures.admitted)
  expect(new Set(after.failures.map(({ url }) => url))).toEqual(new Set(failures.map(({ url }) => url)))
})

test('--host and --reason take back no more than they say', async () => {
  const { dir } = await crawlWithFailures()
  expect((await requeue(dir, '--failed', '--host', '127.9.9.9')).out).toMatch(
    /^1 URL waits again in .*:\n {2}1 {2}FETCH_CONNECT_REFUSED\n`portolan crawl --dir .*` goes on with them\.\n$/,
  )
  expect((await standing(dir)).filter(({ kind }) => kind === 'failed').map(({ url }) => url)).toEqual([NOWHERE[1]])
  expect((await requeue(dir, '--reason', 'FETCH_TLS_FAILED')).out).toContain('Nothing in')
  expect((await requeue(dir, '--reason', 'FETCH_CONNECT_REFUSED', '--json')).out).toContain('"requeued":1')
})

test('--skipped takes back what was skipped; judged again, it is skipped again', async () => {
  const { dir, failures } = await crawlWithFailures()
  const skipped = failures.filter(({ kind }) => kind === 'skipped').length
  expect(JSON.parse((await requeue(dir, '--skipped', 'robots', '--json')).out)).toMatchObject({ requeued: skipped })
  expect((await standing(dir)).every(({ kind }) => kind === 'failed')).toBe(true)
  const after = await crawl({ seeds: [], dir })
  expect(after.snapshot.figures.skipped).toEqual({ robots: skipped })
})

test('a reason that is none is named, with the one that was meant', async () => {
  const { dir } = await crawlWithFailures()
  const { code, err } = await requeue(dir, '--reason', 'FETCH_TIMEOU', '--skipped', 'robot', '--reason', 'robots')
  expect(code).toBe(2)
  expect(err).toContain('did you mean FETCH_TIMEOUT?')
  expect(err).toContain('did you mean robots?')
  expect(err).toContain('robots is said as --skipped robots')
})

test('refused while somebody works in the directory, and where there is no crawl', async () => {
  const { dir } = await crawlWithFailures()
  const lock = await lockDirectory(join(dir, 'state'))
  await expect(requeue(dir, '--failed')).rejects.toMatchObject({
    code: 'LEDGER_LOCKED',
    message: expect.stringContaining(String(process.pid)) as string,
  })
  await lock.release()
  const empty = temporaryDirectory(onTestFinished)
  await expect(requeue(empty, '--failed')).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})
