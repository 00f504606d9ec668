// The last lines of a crawl: exact, aligned, folded, and deaf to what the web tries to say.

import { NO_ARCHIVE_FIGURES } from './archive-figures.ts'
import { expect, test } from 'vitest'
import type { CrawlSummary } from './crawl-summary.ts'
import { renderSummary } from './render-summary.ts'

const summary: CrawlSummary = {
  pages: 20_000,
  failed: 240,
  failures: { DNS_NO_NAME: 40, FETCH_TLS_FAILED: 200 },
  answers: { '2xx': 19_000, '3xx': 700, '4xx': 299, '5xx': 1, other: 0 },
  skipped: { robots: 415, 'host-budget': 135, 'type-filtered': 134, 'size-filtered': 116, 'reserved-string': 0 },
  bytes: 3 * 2 ** 20,
  seconds: 476,
  hosts: 60,
  urlsSeen: 22_240,
  waiting: 1_200,
  peakRssBytes: 1,
  cpuSeconds: 1,
  agents: 1,
  dir: 'out/example.org',
  archive: NO_ARCHIVE_FIGURES,
  stoppedBecause: 'interrupted',
  nextAskAt: null,
  refused: {},
  run: { pages: 0, failed: 0, bytes: 0, seconds: 0, peakRssBytes: 0, cpuSeconds: 0, restarts: 0 },
  seeds: ['https://example.org/'],
  startedAt: '',
  finishedAt: '',
  options: {},
}

const done: CrawlSummary = {
  ...summary,
  failed: 0,
  failures: {},
  answers: { '2xx': 20_000, '3xx': 0, '4xx': 0, '5xx': 0, other: 0 },
  skipped: {},
  waiting: 0,
  hosts: 1,
  stoppedBecause: 'finished',
  run: { ...summary.run, pages: 20_000 },
}

test('a crawl that was stopped', () => {
  expect(renderSummary(summary, { colour: false, width: 72 })).toBe(`Stopped on request; 1,200 URLs wait
  pages     20,000 from 60 hosts, 3 MiB
  time      7 min 56 s, 42 pages/s
  answers   19,000 ok, 700 redirects, 299 client errors, 1 server error
  failed    240: FETCH_TLS_FAILED 200, DNS_NO_NAME 40
  skipped   800: robots 415, host-budget 135, type-filtered 134,
            size-filtered 116
  waiting   1,200
  report    out/example.org/report.html
  files     out/example.org/pages.jsonl, failures.jsonl, archive/

It goes on where it was, with its settings:
  portolan crawl --dir out/example.org
`)
})

test('pages that are as they were are no redirects', () => {
  const answers = { '2xx': 5, '3xx': 0, '4xx': 0, '5xx': 0, other: 0, unchanged: 19_995 }
  expect(renderSummary({ ...done, answers }, { colour: false, width: 72 })).toContain(
    'answers   5 ok, 19,995 unchanged\n',
  )
})

test('a complete crawl says only what there is to say', () => {
  expect(renderSummary(done, { colour: false, width: 80 })).toBe(`Complete: nothing is left to fetch
  pages     20,000 from 1 host, 3 MiB
  time      7 min 56 s, 42 pages/s
  report    out/example.org/report.html
  files     out/example.org/pages.jsonl, failures.jsonl, archive/
`)
})

test('a complete crawl in which something failed is not plainly good', () => {
  const text = renderSummary({ ...done, failed: 52 }, { colour: true, width: 80 })
  expect(text.split('\n')[0]).toBe('\u001b[33m\u001b[1mComplete, but 52 URLs failed\u001b[0m\u001b[0m')
  expect(renderSummary({ ...done, failed: 52 }, { colour: false, width: 80 })).toContain('\n  failed    52\n')
})

test('what failed can be asked for again: the command stands last, to be copied', () => {
  const text = renderSummary({ ...done, failed: 52 }, { colour: false, width: 200 })
  expect(text).toMatch(/To have the next run ask again for those that failed:\n {2}portolan requeue \S+ --failed\n$/)
})

test('a run that found nothing to do says that the crawl was complete already', () => {
  const text = renderSummary({ ...done, run: { ...done.run, pages: 0 } }, { colour: false, width: 80 })
  expect(text.split('\n')[0]).toBe('Already complete: nothing was left to fetch')
})

test('when no page came of it, that stands last, for the reasons follow', () => {
  const nothing: CrawlSummary = {
    ...done,
    pages: 0,
    bytes: 0,
    seconds: 0.4,
    failed: 1,
    failures: { DNS_NO_NAME: 1 },
    answers: { ...done.answers, '2xx': 0 },
  }
  expect(renderSummary(nothing, { colour: false, width: 80, files: ['failures.jsonl'] }))
    .toBe(`  pages     0 from 1 host, 0 B
  time      400 ms
  failed    1: DNS_NO_NAME 1
  report    out/example.org/report.html
  files     out/example.org/failures.jsonl

No page came of it:
`)
})

test('files that do not exist are not named', () => {
  const text = renderSummary(
    { ...summary, stoppedBecause: 'disk-full' },
    { colour: false, width: 80, hasReport: false },
  )
  expect(text).not.toMatch(/report\.html|jsonl|archive/)
  expect(text).toContain('Free some space; then it goes on')
})

test('colours surround words and change nothing else', () => {
  const plain = renderSummary(summary, { colour: false, width: 80 })
  const coloured = renderSummary(summary, { colour: true, width: 80 })
  expect(coloured).not.toBe(plain)
  expect(coloured.replaceAll(/\u001b\[\d+m/g, '')).toBe(plain)
})

test('no line is longer than the terminal, but for what is there to be copied', () => {
  const lines = renderSummary(summary, { colour: false, width: 44 }).split('\n')
  for (const line of lines.filter((line) => !line.includes('portolan crawl') && !line.includes('out/'))) {
    expect(line.length).toBeLessThanOrEqual(44)
  }
})

test('escape sequences in a seed or a directory never reach the terminal', () => {
  const hostile: CrawlSummary = { ...summary, seeds: ['http://a/\u001b[2J'], dir: 'x\u001b]0;y\u0007\u009b' }
  expect(renderSummary(hostile, { colour: false, width: 80 })).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
})
