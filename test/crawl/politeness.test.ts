// Polite in the servers' own log: never two requests at once on a host, never before its rest is
// over, never more on an address than allowed; whatever the web does.

import { expect, onTestFinished, test } from 'vitest'
import type { FlagValue } from '../../src/config/index.ts'
import { startTestWeb, type TestWeb, type TestWebOptions } from '../../testweb/index.ts'
import { crawl, dnsFlags, FAST, QUICK_BACKOFF, temporaryDirectory } from './run-crawl.ts'

async function startWeb(options: TestWebOptions): Promise<TestWeb> {
  const web = await startTestWeb({ latencyMs: 2, ...options })
  onTestFinished(() => web.stop())
  return web
}

const run = (web: TestWeb, flags: Record<string, FlagValue>) =>
  crawl({
    seeds: web.seeds(),
    dir: temporaryDirectory(onTestFinished),
    flags: { ...FAST, ...flags },
    config: QUICK_BACKOFF,
  })

test('a host rests for the delay after every answer, robots.txt, redirects and retries included', async () => {
  const web = await startWeb({ hosts: 12, pages: 12, faults: 'all', retryAfterS: 0.05, slowMs: 10, crawlDelayS: 0.02 })
  const result = await run(web, { delay: '25ms' })
  expect(result.reason).toBe('finished')
  expect(web.politeness({ delayMs: 25 })).toEqual([])
})

test('HEAD is a request like any other, and GET comes after a rest', async () => {
  const web = await startWeb({ hosts: 4, pages: 8 })
  const result = await run(web, { delay: '20ms', 'head-first': 'always' })
  expect(result.pages).toHaveLength(web.truth().pages.size)
  expect(web.politeness({ delayMs: 20 })).toEqual([])
})

test('without a delay a host is still asked one thing at a time', async () => {
  const web = await startWeb({ hosts: 3, pages: 60 })
  await run(web, {})
  expect(web.politeness({ delayMs: 0 })).toEqual([])
})

test('Crawl-delay is a rest of its own, also where no delay is configured', async () => {
  const web = await startWeb({ hosts: 4, pages: 6, robots: { delay: 1 }, crawlDelayS: 0.06 })
  await run(web, {})
  // The first page may follow robots.txt only after the delay that robots.txt asks for.
  expect(web.politeness({ delayMs: 60 })).toEqual([])
})

const BEHIND_ONE_ADDRESS: TestWebOptions = { hosts: 20, pages: 5, naming: 'names', hostsPerAddress: 20 }

test('many hosts behind one address share its connections', async () => {
  const web = await startWeb(BEHIND_ONE_ADDRESS)
  const result = await run(web, { ...dnsFlags(web), 'ip-connections': '3' })
  expect(result.pages).toHaveLength(web.truth().pages.size)
  expect(web.politeness({ delayMs: 0, ipConnections: 3 })).toEqual([])
})

test('an address rests after every answer, whichever host it was', async () => {
  const web = await startWeb(BEHIND_ONE_ADDRESS)
  const result = await run(web, { ...dnsFlags(web), 'ip-connections': '1', 'ip-delay': '4ms' })
  expect(result.pages).toHaveLength(web.truth().pages.size)
  expect(web.politeness({ delayMs: 0, ipDelayMs: 4, ipConnections: 1 })).toEqual([])
})

test('the rest holds across a stop and a new start', async () => {
  const web = await startWeb({ hosts: 5, pages: 20 })
  const dir = temporaryDirectory(onTestFinished)
  const flags = { ...FAST, delay: '30ms' }
  for (let round = 0; round < 4; round++) {
    const result = await crawl({
      seeds: web.seeds(),
      dir,
      flags,
      during: (job) => void setTimeout(() => job.stop('interrupted'), 150),
    })
    if (result.reason === 'finished') break
  }
  await crawl({ seeds: web.seeds(), dir, flags })
  expect(web.politeness({ delayMs: 30 })).toEqual([])
})
