// A copy of a crawl of several agents is the crawl as it was at one moment: it goes on to the whole truth, and so does
// the original, whatever happens to an agent while it is made.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type CheckpointFigures, copyStoppedCrawl } from '../../src/agent/index.ts'
import { systemClock } from '../../src/base/index.ts'
import type { CrawlNode } from '../../src/supervise/index.ts'
import type { TestWeb } from '../../testweb/index.ts'
import { checkArchive } from '../archive-check.ts'
import { directory, expectTruth, startWeb } from '../crawl/expect-truth.ts'
import { crawl, type CrawlResult, FAST } from '../crawl/run-crawl.ts'

const GZIP = { ...FAST, warc: 'gzip' }
const TIMEOUT = { timeout: 300_000 }
/** WARC files of a few pages, so that there are finished ones to link. */
const SMALL_FILES = { frontier: { backoff: '5ms' }, store: { warcSize: '32kB' }, agent: { tick: '20ms' } }

function expectWhole(result: CrawlResult, web: TestWeb): void {
  expectTruth(result, web.truth())
  expect(checkArchive(result.dir).problems).toEqual([])
}

/** Calls back once, when the crawl has got this far. */
function whenPages(node: CrawlNode, pages: number, then: () => void): void {
  const timer = setInterval(() => {
    if (node.figures.pages < pages) return
    clearInterval(timer)
    then()
  }, 5)
}

function copyOf(dir: string, name: string): string {
  const to = `${dir}-${name}`
  onTestFinished(() => rm(to, { recursive: true, force: true }))
  return to
}

function warcsIn(dir: string): string[] {
  return readdirSync(join(dir, 'archive')).filter((name) => name.includes('.warc'))
}

test(
  'taken in the middle: copies and original go on to exactly the truth, and finished archives are shared',
  TIMEOUT,
  async () => {
    const web = await startWeb({ seed: 'copied', hosts: 10, pages: 50, crossHostShare: 0.4 })
    const dir = directory()
    const copies = [join(dir, 'checkpoints/one'), copyOf(dir, 'two')]
    const made: Promise<CheckpointFigures>[] = []
    const original = await crawl({
      seeds: web.seeds(),
      dir,
      flags: GZIP,
      config: SMALL_FILES,
      agents: 3,
      duringNode: (node) =>
        whenPages(node, 120, () => {
          // Both at once: one after the other.
          for (const to of copies) {
            const making = node.checkpoint(to)
            making.catch(() => undefined)
            made.push(making)
          }
        }),
    })
    expect(await Promise.all(made)).toMatchObject(copies.map((to) => ({ to })))
    expectWhole(original, web)
    for (const to of copies) {
      const lines = readFileSync(join(to, 'pages.jsonl'), 'utf8').split('\n').length - 1
      expect(lines).toBeGreaterThanOrEqual(50)
      expect(lines).toBeLessThanOrEqual(original.pages.length)
      expect(existsSync(`${to}.partial`)).toBe(false)
      expect(warcsIn(to).some((name) => statSync(join(to, 'archive', name)).nlink > 1)).toBe(true)
      const copy = await crawl({ seeds: [], dir: to, flags: GZIP, config: SMALL_FILES, agents: 3 })
      expectWhole(copy, web)
    }
    expect(checkArchive(dir).problems).toEqual([])
  },
)

test(
  'of a crawl that is stopped: each file of the archive once, the merged files made, and it goes on',
  TIMEOUT,
  async () => {
    const web = await startWeb({ seed: 'stopped copy', hosts: 6, pages: 30 })
    const dir = directory()
    const flags = { ...GZIP, 'max-pages': '60' }
    await crawl({ seeds: web.seeds(), dir, flags, config: SMALL_FILES, agents: 2 })
    const to = copyOf(dir, 'copy')
    const figures = await copyStoppedCrawl(dir, to, { nowMs: () => systemClock.nowMs() })
    expect(figures.to).toBe(to)
    expect(warcsIn(to).toSorted()).toEqual(warcsIn(dir).toSorted())
    for (const file of ['pages.jsonl', 'failures.jsonl']) {
      const linesOf = (from: string): string[] => readFileSync(join(from, file), 'utf8').split('\n').toSorted()
      expect(linesOf(to)).toEqual(linesOf(dir))
    }
    expect(existsSync(join(to, 'state/lock'))).toBe(false)
    for (const one of [to, dir])
      expectWhole(await crawl({ seeds: [], dir: one, flags: GZIP, config: SMALL_FILES, agents: 2 }), web)
  },
)

test('an agent that dies while a copy is made ends the copy, and nothing else', TIMEOUT, async () => {
  const web = await startWeb({ seed: 'dies', hosts: 8, pages: 40 })
  const dir = directory()
  const attempts: Promise<string>[] = []
  const original = await crawl({
    seeds: web.seeds(),
    dir,
    config: SMALL_FILES,
    agents: 3,
    duringNode: (node) => {
      for (const [index, pages] of [40, 100, 160].entries()) {
        whenPages(node, pages, () => {
          const to = copyOf(dir, String(index))
          attempts.push(
            node.checkpoint(to).then(
              () => 'made',
              (fault: Error) => fault.message,
            ),
          )
          node.restartAgent(index)
        })
      }
    },
  })
  const results = await Promise.all(attempts)
  expect(results).toHaveLength(3)
  expectTruth(original, web.truth())
  for (const [index, result] of results.entries()) {
    const to = `${dir}-${index}`
    expect(existsSync(`${to}.partial`)).toBe(false)
    if (result === 'made') expectTruth(await crawl({ seeds: [], dir: to, agents: 3 }), web.truth())
    else {
      expect(result).toMatch(/^agent \d broke while the copy was made; ask again$/)
      expect(existsSync(to)).toBe(false)
    }
  }
})
