import { expect, test } from 'vitest'
import type { CanonicalUrl } from '../url/index.ts'
import { CrawlFigures, type CrawlTotals, remainingTotals, sumTotals } from './figures.ts'

/** Of an agent with this many pages, and failures of these codes. */
function totalsOf(pages: number, failures: CrawlTotals['failures'], ms: number): CrawlTotals {
  const figures = new CrawlFigures()
  Object.assign(figures, { admitted: 10 * pages, pages, failed: 1, bytes: 100 * pages, wireBytes: 50 * pages })
  Object.assign(figures.failures, failures)
  figures.answers['2xx'] = pages
  figures.skipped.robots = 2
  figures.refused.scheme = pages
  return figures.totals(pages + 1, { ms, cpuMs: ms / 2, peakRssBytes: 1_000 * ms })
}

test('what each counted is added up; time and memory, which they share, are the most of any', () => {
  const joined = sumTotals([totalsOf(3, { DNS_NO_NAME: 1 }, 800), totalsOf(4, { DNS_NO_NAME: 2, DNS_TIMEOUT: 5 }, 600)])
  expect(joined).toEqual({
    admitted: 70,
    pages: 7,
    failed: 2,
    failures: { DNS_NO_NAME: 3, DNS_TIMEOUT: 5 },
    answers: { '2xx': 7, '3xx': 0, '4xx': 0, '5xx': 0, other: 0 },
    bytes: 700,
    wireBytes: 350,
    skipped: { robots: 4 },
    refused: { scheme: 7 },
    hosts: 9,
    ms: 800,
    cpuMs: 700,
    peakRssBytes: 800_000,
  })
})

test('one agent alone is as it says', () => {
  const alone = totalsOf(3, { DNS_NO_NAME: 1 }, 5)
  expect(sumTotals([alone])).toEqual(alone)
})

test('pages that are as they were are no redirects, and leave no trace when they are taken back', () => {
  const page = (status: number) =>
    ({ url: 'http://a.test/' as CanonicalUrl, kind: 'page', status, bytes: 0, wireBytes: 0 }) as const
  const figures = new CrawlFigures()
  const before = figures.totals(0, { ms: 0, cpuMs: 0, peakRssBytes: 0 })
  figures.count(page(304))
  figures.count(page(301))
  const part = figures.totals(0, { ms: 0, cpuMs: 0, peakRssBytes: 0 })
  expect(part.answers).toEqual({ '2xx': 0, '3xx': 1, '4xx': 0, '5xx': 0, other: 0, unchanged: 1 })
  expect(remainingTotals(sumTotals([part, part]), [part])).toEqual(part)
  figures.uncount(page(304))
  figures.uncount(page(301))
  expect(figures.totals(0, { ms: 0, cpuMs: 0, peakRssBytes: 0 })).toEqual(before)
})
