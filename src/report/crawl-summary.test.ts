// crawl.json may be missing, torn, or of an older version; readers of the summary need no checks.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadCrawlSummary } from './crawl-summary.ts'

let dir: string

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-summary-'))
})

afterEach(async () => {
  await rm(dir, { recursive: true })
})

test('no file: the crawl has not stopped properly', async () => {
  expect(await loadCrawlSummary(dir)).toBeNull()
})

test.each(['', '{"pages": 1', '[]', 'null', '{"pages": 1}', '{"stoppedBecause": 7}'])(
  '%s says no more than no file',
  async (text) => {
    await writeFile(join(dir, 'crawl.json'), text)
    expect(await loadCrawlSummary(dir)).toBeNull()
  },
)

test('what a file lacks, or has in another shape, counts as nothing', async () => {
  await writeFile(
    join(dir, 'crawl.json'),
    JSON.stringify({
      stoppedBecause: 'finished',
      pages: 'many',
      bytes: 5,
      skipped: { robots: 3, scheme: 'x' },
      seeds: [1, 'http://a/'],
      run: [],
    }),
  )
  expect(await loadCrawlSummary(dir)).toMatchObject({
    pages: 0,
    bytes: 5,
    skipped: { robots: 3, scheme: 0 },
    seeds: ['http://a/'],
    run: { pages: 0, seconds: 0 },
    refused: {},
    failures: {},
    answers: { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, other: 0 },
    options: {},
    dir,
    stoppedBecause: 'finished',
  })
})

test('failures and answers are read by their names', async () => {
  await writeFile(
    join(dir, 'crawl.json'),
    JSON.stringify({
      stoppedBecause: 'finished',
      failures: { DNS_NO_NAME: 2, FETCH_TIMEOUT: null },
      answers: { '2xx': 7, '4xx': 1, '9xx': 5 },
    }),
  )
  expect(await loadCrawlSummary(dir)).toMatchObject({
    failures: { DNS_NO_NAME: 2, FETCH_TIMEOUT: 0 },
    answers: { '2xx': 7, '3xx': 0, '4xx': 1, '5xx': 0, other: 0 },
  })
})

test('a crawl.json that cannot be read is a fault, not an absent one', async () => {
  await expect(loadCrawlSummary(join(dir, 'x\0y'))).rejects.toMatchObject({ name: 'Fault' })
})
