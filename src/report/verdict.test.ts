// Every way a crawl can end has words, and every one that can go on says how.

import { expect, test } from 'vitest'
import { STOPS, type StopReason } from '../base/index.ts'
import type { CrawlSummary } from './crawl-summary.ts'
import { shellWord, verdictOf } from './verdict.ts'

function summaryWith(changes: Partial<CrawlSummary>): CrawlSummary {
  return {
    pages: 100,
    failed: 0,
    skipped: {},
    bytes: 1e6,
    seconds: 60,
    hosts: 1,
    urlsSeen: 150,
    waiting: 50,
    peakRssBytes: 1e8,
    cpuSeconds: 1,
    dir: 'example.org',
    stoppedBecause: 'finished',
    refused: {},
    run: { pages: 100, failed: 0, bytes: 1e6, seconds: 60, peakRssBytes: 1e8, cpuSeconds: 1 },
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

test('a finished crawl without a page is not called complete', () => {
  expect(verdictOf(summaryWith({ pages: 0 }), 'd')).toMatchObject({ tone: 'bad', headline: 'No page was fetched' })
})

test.each(Object.keys(STOPS).filter((reason) => reason !== 'finished') as StopReason[])(
  'a crawl that stopped by %s says what waits and how to go on',
  (stoppedBecause) => {
    const verdict = verdictOf(summaryWith({ stoppedBecause }), 'd')
    expect(verdict.tone).not.toBe('good')
    expect(verdict.headline).toMatch(/^Stopped.*; 50 URLs wait$/)
    expect(verdict.headline.toLowerCase()).toContain(STOPS[stoppedBecause].toLowerCase())
    expect(verdict.advice).not.toBe('')
    expect(verdict.command).toMatch(/^portolan crawl https:\/\/example\.org\/ --dir example\.org/)
  },
)

test('the command to go on raises the limit that was reached', () => {
  expect(verdictOf(summaryWith({ stoppedBecause: 'max-pages' }), 'd').command).toContain('--max-pages 200')
  expect(verdictOf(summaryWith({ stoppedBecause: 'max-time', seconds: 600 }), 'd').command).toContain('--max-time 20m')
})

test('many seeds are not repeated: the directory knows them', () => {
  const seeds = Array.from({ length: 400 }, (_, i) => `https://h${i}.example/`)
  expect(verdictOf(summaryWith({ seeds, stoppedBecause: 'interrupted' }), 'd').command).toBe(
    'portolan crawl --dir example.org',
  )
})

test('a crawl without a summary may still run', () => {
  expect(verdictOf(null, 'my dir')).toMatchObject({ tone: 'warn', command: "portolan crawl --dir 'my dir'" })
})

test.each([
  ['https://a.example/x', 'https://a.example/x'],
  ['http://a/?x=1&y=2', "'http://a/?x=1&y=2'"],
  ["it's", `'it'\\''s'`],
  ['$(rm -rf /)', "'$(rm -rf /)'"],
  ['', "''"],
])('%s as a word of a shell is %s', (text, word) => expect(shellWord(text)).toBe(word))
