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
    options: {},
    dir,
    stoppedBecause: 'finished',
  })
})

test('a crawl.json that cannot be read is a fault, not an absent one', async () => {
  await expect(loadCrawlSummary(join(dir, 'x\0y'))).rejects.toMatchObject({ name: 'Fault' })
})
