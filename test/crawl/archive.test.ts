// What was crawled is in the archive, whole and findable: valid WARC for our own checker and for
// warcio, every page line and every index line at its record, copies as revisits.

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startTestWeb } from '../../testweb/index.ts'
import { checkArchive } from '../archive-check.ts'
import { bodyProblems } from './check-bodies.ts'
import { crawl, FAST, temporaryDirectory } from './run-crawl.ts'

describe.each(['none', 'gzip', 'zstd'])('--warc %s', (warc) => {
  test('every page and every index line points at its valid record', async () => {
    const web = await startTestWeb({ hosts: 6, pages: 30, faults: 'mild', seed: warc })
    onTestFinished(() => web.stop())
    const result = await crawl({
      seeds: web.seeds(),
      dir: temporaryDirectory(onTestFinished),
      flags: { ...FAST, warc, 'warc-size': '500kB' },
    })
    const check = checkArchive(result.dir)
    expect(check.problems).toEqual([])
    expect(bodyProblems(result.pages, check.files)).toEqual([])
    const files = readdirSync(join(result.dir, 'archive')).filter((name) => !name.endsWith('.cdxj'))
    expect(files.length).toBeGreaterThan(1)
  })
})

test('warcio reads what we wrote, record by record', async () => {
  const web = await startTestWeb({ hosts: 2, pages: 10, faults: 'mild' })
  onTestFinished(() => web.stop())
  const { dir, pages } = await crawl({
    seeds: web.seeds(),
    dir: temporaryDirectory(onTestFinished),
    flags: { ...FAST, warc: 'gzip' },
  })
  const file = readdirSync(join(dir, 'archive')).find((name) => name.endsWith('.warc.gz')) ?? ''
  const { stdout, status } = spawnSync('npx', ['warcio', 'index', join(dir, 'archive', file)], { encoding: 'utf8' })
  expect(status).toBe(0)
  const types = stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { 'warc-type': string })['warc-type'])
  const captures = types.filter((type) => type === 'response' || type === 'revisit')
  // Beside the pages each host's robots.txt is archived.
  expect(captures.length).toBeGreaterThanOrEqual(pages.length + 2)
})

test('mirrors are archived once and told apart; an empty body is nobody’s copy', async () => {
  const web = await startTestWeb({ hosts: 6, pages: 30, faults: 'mild', seed: 'mirrors' })
  onTestFinished(() => web.stop())
  const { pages } = await crawl({ seeds: web.seeds(), dir: temporaryDirectory(onTestFinished) })
  const byDigest = Map.groupBy(
    pages.filter((page) => page.status === 200 && page.bytes > 0),
    (page) => page.digest,
  )
  const copies = [...byDigest.values()].filter((same) => same.length > 1)
  expect(copies.length).toBeGreaterThan(0)
  for (const same of copies) {
    const originals = same.filter((page) => page.duplicateOf === undefined)
    expect(originals, same.map((page) => page.url).join(' ')).toHaveLength(1)
    for (const page of same) if (page !== originals[0]) expect(page.duplicateOf).toBe(originals[0]?.url)
  }
  const empty = pages.filter((page) => page.bytes === 0)
  expect(empty.length).toBeGreaterThan(0)
  for (const page of empty) expect(page.duplicateOf).toBeUndefined()
})
