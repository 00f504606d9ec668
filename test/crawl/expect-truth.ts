// What is true of the test web, as a crawl must find it.

import { expect, onTestFinished } from 'vitest'
import { startTestWeb, type TestWeb, type TestWebOptions } from '../../testweb/index.ts'
import { type CrawlResult, temporaryDirectory } from './run-crawl.ts'

export async function startWeb(options: TestWebOptions): Promise<TestWeb> {
  const web = await startTestWeb(options)
  onTestFinished(() => web.stop())
  return web
}

export const directory = (): string => temporaryDirectory(onTestFinished)
const sorted = (urls: Iterable<string>): string[] => [...urls].sort()

/** Pages, skips and failures of a crawl against the truth, as sets and as counts. */
export function expectTruth(result: CrawlResult, truth: ReturnType<TestWeb['truth']>): void {
  expect(sorted(result.pages.map((page) => page.url))).toEqual(sorted(truth.pages.keys()))
  const ended = (kind: string): string[] =>
    sorted(result.failures.filter((one) => one.kind === kind).map((one) => `${one.url} ${one.reason}`))
  expect(ended('skipped')).toEqual(sorted([...truth.skipped].map(([url, reason]) => `${url} ${reason}`)))
  expect(ended('failed')).toEqual(sorted([...truth.failed].map(([url, code]) => `${url} ${code}`)))
  expect(result.pages.filter((page) => truth.pages.get(page.url)?.status !== page.status)).toEqual([])
  expect(result.reason).toBe('finished')
  const { figures, frontier } = result.snapshot
  expect(frontier.waiting).toBe(0)
  expect(figures.settled).toBe(figures.admitted)
}

/** Requests for a page: one, and one more for each time the server asked for a pause. */
export function expectAskedOnce(result: CrawlResult, web: TestWeb, truth: ReturnType<TestWeb['truth']>): void {
  for (const { url, status } of result.pages) {
    const { throttled } = truth.pages.get(url) ?? { throttled: 0 }
    if (status === 502) continue
    expect(web.requests(url), url).toBe(1 + throttled)
  }
}
