// Every way a crawl can end has words, and every one that can go on says how.

import { NO_ARCHIVE_FIGURES } from './archive-figures.ts'
import { expect, test } from 'vitest'
import { STOPS, type StopReason } from '../base/index.ts'
import type { CrawlSummary } from './crawl-summary.ts'
import { shellWord, verdictOf } from './verdict.ts'

function summaryWith(changes: Partial<CrawlSummary>): CrawlSummary {
  return {
    pages: 100,
    failed: 0,
    failures: {},
    answers: { '2xx': 100, '3xx': 0, '4xx': 0, '5xx': 0, other: 0 },
    skipped: {},
    bytes: 1e6,
    seconds: 60,
    hosts: 1,
    urlsSeen: 150,
    waiting: 50,
    peakRssBytes: 1e8,
    cpuSeconds: 1,
    agents: 1,
    dir: 'example.org',
    archive: NO_ARCHIVE_FIGURES,
    stoppedBecause: 'finished',
    nextAskAt: null,
    refused: {},
    run: { pages: 100, failed: 0, bytes: 1e6, seconds: 60, peakRssBytes: 1e8, cpuSeconds: 1, restarts: 0 },
    seeds: ['https://example.org/'],
    startedAt: '2026-01-01T00:00:00.000Z',
    finishedAt: '2026-01-01T00:01:00.000Z',
    options: {},
    ...changes,
  }
}

test('a finished crawl is complete and needs nothing', () => {
  expect(verdictOf(summaryWith({ waiting: 0 }), 'd')).toEqual({
    tone: 'good',
    headline: 'Complete: nothing is left to fetch',
    advice: '',
    command: null,
  })
})

test('a crawl that only rests says when it may go on', () => {
  const changes = { stoppedBecause: 'only-resting', nextAskAt: '2026-01-01T22:00:00.000Z' } as const
  expect(verdictOf(summaryWith(changes), 'd').advice).toMatch(/^The first of them may be asked at 2026-01-01T22:00:00/)
})

test('a finished crawl without a page is not called complete', () => {
  expect(verdictOf(summaryWith({ pages: 0 }), 'd')).toMatchObject({ tone: 'bad', headline: 'No page came of it' })
})

test.each(Object.keys(STOPS).filter((reason) => reason !== 'finished') as StopReason[])(
  'a crawl that stopped by %s says what waits and how to go on',
  (stoppedBecause) => {
    const verdict = verdictOf(summaryWith({ stoppedBecause }), 'd')
    expect(verdict.tone).not.toBe('good')
    expect(verdict.headline).toMatch(/^Stopped.*; 50 URLs wait$/)
    expect(verdict.headline.toLowerCase()).toContain(STOPS[stoppedBecause].toLowerCase())
    expect(verdict.advice).not.toBe('')
    expect(verdict.advice).toMatch(/ goes on (where it was, )?with its settings:$/)
    expect(verdict.command).toMatch(/^portolan crawl --dir d( --max-|$)/)
  },
)

test('the command to go on raises the limit that was reached', () => {
  expect(verdictOf(summaryWith({ stoppedBecause: 'max-pages' }), 'd').command).toContain('--max-pages 200')
  expect(verdictOf(summaryWith({ stoppedBecause: 'max-time', seconds: 600 }), 'd').command).toContain('--max-time 20m')
})

test.each<[Partial<CrawlSummary>, string]>([
  [{ failed: 52 }, 'Complete, but 52 URLs failed'],
  [{ failed: 1 }, 'Complete, but 1 URL failed'],
  [{ skipped: { 'robots-unavailable': 3 } }, 'Complete, but 3 URLs were lost for want of a robots.txt'],
  [
    { failed: 1, skipped: { 'scope-changed': 2 } },
    'Complete, but 1 URL failed; 2 URLs that waited lie outside the changed scope (with the former options the next run brings them back)',
  ],
  [
    { failed: 2, skipped: { 'robots-unavailable': 1 } },
    'Complete, but 2 URLs failed and 1 was lost for want of a robots.txt',
  ],
])('what was lost on the way is said: %j', (changes, headline) => {
  expect(verdictOf(summaryWith({ waiting: 0, ...changes }), 'd')).toMatchObject({
    tone: 'warn',
    headline,
    command: (changes.failed ?? 0) > 0 ? 'portolan requeue d --failed' : null,
  })
})

test('what waited outside of a changed scope is named with the way back, also by a run that found nothing to do', () => {
  const run = { pages: 0, failed: 0, bytes: 0, seconds: 0, peakRssBytes: 0, cpuSeconds: 0, restarts: 0 }
  const summary = summaryWith({ waiting: 0, run, skipped: { 'scope-changed': 1 } })
  expect(verdictOf(summary, 'd', 'run')).toMatchObject({
    tone: 'warn',
    headline:
      'Already complete: nothing was left to fetch; 1 URL that waited lies outside the changed scope (with the former options the next run brings it back)',
  })
})

test('only the limits that are totals of the crawl are called forgotten', () => {
  for (const stoppedBecause of ['max-pages', 'max-time'] as const) {
    expect(verdictOf(summaryWith({ stoppedBecause }), 'd').advice).toMatch(
      /^--max-pages and --max-time are totals and are not remembered\./,
    )
  }
})

test('what was left out by choice is no loss', () => {
  const skipped = { robots: 9, 'host-budget': 4 }
  expect(verdictOf(summaryWith({ waiting: 0, skipped }), 'd').tone).toBe('good')
})

test('a run that found nothing to do says so; the crawl it belongs to is as complete as before', () => {
  const run = { pages: 0, failed: 0, bytes: 0, seconds: 0, peakRssBytes: 0, cpuSeconds: 0, restarts: 0 }
  const again = summaryWith({ waiting: 0, run })
  expect(verdictOf(again, 'd', 'run').headline).toBe('Already complete: nothing was left to fetch')
  expect(verdictOf(again, 'd').headline).toBe('Complete: nothing is left to fetch')
  expect(verdictOf({ ...again, failed: 2 }, 'd', 'run').headline).toBe('Already complete, but 2 URLs failed')
  expect(verdictOf({ ...again, failed: 2, run: { ...run, failed: 2 } }, 'd', 'run').headline).toBe(
    'Complete, but 2 URLs failed',
  )
  expect(verdictOf({ ...again, pages: 0 }, 'd', 'run').headline).toBe('No page came of it')
})

test('a crawl that was moved goes on where it lies now', () => {
  expect(verdictOf(summaryWith({ stoppedBecause: 'interrupted' }), 'other place').command).toBe(
    "portolan crawl --dir 'other place'",
  )
})

test('a crawl without a summary has not ended and may still run', () => {
  const verdict = verdictOf(null, 'my dir')
  expect(verdict.headline).toMatch(/^Not ended/)
  expect(verdict).toMatchObject({ tone: 'warn', command: "portolan crawl --dir 'my dir'" })
})

test.each([
  ['https://a.example/x', 'https://a.example/x'],
  ['http://a/?x=1&y=2', "'http://a/?x=1&y=2'"],
  ["it's", `'it'\\''s'`],
  ['$(rm -rf /)', "'$(rm -rf /)'"],
  ['', "''"],
])('%s as a word of a shell is %s', (text, word) => expect(shellWord(text)).toBe(word))
