// A crawl goes on with another number of agents than it had: everything is shared anew, and nothing is lost or done twice.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadLayout } from '../../src/view/index.ts'
import { directory, expectAskedOnce, expectTruth, startWeb } from '../crawl/expect-truth.ts'
import { crawl, type CrawlOptions, type CrawlResult, FAST } from '../crawl/run-crawl.ts'
import { expectOneOriginalEach } from './one-original.ts'

/** Crawls until it has so many pages, then stops as by Ctrl-C. */
function interrupted(pages: number, options: CrawlOptions & { readonly dir: string }): Promise<CrawlResult> {
  return crawl({
    ...options,
    duringNode: (node) => {
      const watch = setInterval(() => {
        if (node.figures.pages < pages) return
        clearInterval(watch)
        node.stop('interrupted')
      }, 2)
      watch.unref()
    },
  })
}

test.for([
  [1, 2],
  [2, 1],
  [2, 3],
  [3, 2],
  [1, 4],
] as const)('begun by %d, gone on with by %d: every page once, one original of each content', async ([before, after]) => {
  const web = await startWeb({ seed: `anew-${before}-${after}`, hosts: 12, pages: 40, faults: 'mild' })
  const dir = directory()
  const first = await interrupted(120, { seeds: web.seeds(), dir, agents: before })
  expect(first.reason).toBe('interrupted')
  const second = await crawl({ seeds: [], dir, agents: after })
  const truth = web.truth()
  expectTruth(second, truth)
  expectAskedOnce(second, web, truth)
  expectOneOriginalEach(second)
  expect(web.politeness({ delayMs: 0 })).toEqual([])
  const layout = await loadLayout(dir)
  expect(layout).toEqual(Array.from({ length: after }, (_, agent) => `state/agents/2-${agent}`))
  expect(readdirSync(join(dir, 'state/agents')).sort()).toEqual(layout?.map((name) => name.slice('state/agents/'.length)))
  expect(readdirSync(join(dir, 'state'))).not.toContain('journal')
  void FAST
})
