// A crawl of the test web yields exactly what is true of it: every page once, every skip with its
// reason, nothing else, whatever the seed, the scope and the faults; and the servers' own log shows
// that it was polite.

import { describe, expect, onTestFinished, test } from 'vitest'
import { startTestWeb, type TestWeb, type TestWebOptions } from '../../testweb/index.ts'
import { crawl, type CrawlResult, dnsFlags, FAST, QUICK_BACKOFF, temporaryDirectory } from './run-crawl.ts'

async function web(options: TestWebOptions): Promise<TestWeb> {
  const started = await startTestWeb(options)
  onTestFinished(() => started.stop())
  return started
}

const directory = (): string => temporaryDirectory(onTestFinished)

const sorted = (urls: Iterable<string>): string[] => [...urls].sort()

/** Pages, skips and failures of a crawl against the truth, as sets and as counts. */
function expectTruth(result: CrawlResult, truth: ReturnType<TestWeb['truth']>): void {
  expect(sorted(result.pages.map((page) => page.url))).toEqual(sorted(truth.pages.keys()))
  const skipped = result.failures.filter((one) => one.kind === 'skipped').map((one) => `${one.url} ${one.reason}`)
  expect(sorted(skipped)).toEqual(sorted([...truth.skipped].map(([url, reason]) => `${url} ${reason}`)))
  const failed = result.failures.filter((one) => one.kind === 'failed').map((one) => `${one.url} ${one.reason}`)
  expect(sorted(failed)).toEqual(sorted([...truth.failed].map(([url, code]) => `${url} ${code}`)))
  const wrongStatus = result.pages.filter((page) => truth.pages.get(page.url)?.status !== page.status)
  expect(wrongStatus).toEqual([])
  expect(result.reason).toBe('finished')
  const { figures, frontier, urlsSeen } = result.snapshot
  expect(frontier.waiting).toBe(0)
  expect(figures.settled).toBe(urlsSeen)
}

describe('a plain web', () => {
  test.for([1, 2, 3, 4])('seed %d: all pages of all hosts, each once', async (seed) => {
    const site = await web({ seed, hosts: 8, pages: 40 })
    const result = await crawl({ seeds: site.seeds(), dir: directory() })
    expectTruth(result, site.truth())
    for (const page of result.pages) expect(site.requests(page.url), page.url).toBe(1)
    expect(site.politeness({ delayMs: 0 })).toEqual([])
  })
})
