import { expect, test } from 'vitest'
import { CrawlFigures, type CrawlTotals, sumTotals } from './figures.ts'

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
