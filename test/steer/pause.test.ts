// A crawl that is paused asks nobody and forgets nothing, whoever is started again meanwhile; seeds that are added while it runs are
// seeds; and what another scope would skip is told as it would be.

import { expect, test } from 'vitest'
import { Crawl, type ScopePreview } from '../../src/agent/index.ts'
import { Random } from '../../src/base/index.ts'
import type { CrawlNode } from '../../src/supervise/index.ts'
import { canonicalise, type CanonicalUrl } from '../../src/url/index.ts'
import { directory, expectAskedOnce, expectTruth, startWeb } from '../crawl/expect-truth.ts'
import { crawl, FAST, settingsOf } from '../crawl/run-crawl.ts'

const urlOf = (text: string): CanonicalUrl => canonicalise(text) as CanonicalUrl

/** Resolves when it holds; looked at again and again. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('one agent: paused again and again, nobody is asked meanwhile, and the truth is found', async () => {
  const web = await startWeb({ seed: 'paused', hosts: 6, pages: 40, faults: 'mild' })
  const random = new Random('pauses')
  let pauses = 0
  let askedMeanwhile = 0
  const result = await crawl({
    seeds: web.seeds(),
    dir: directory(),
    flags: { ...FAST, 'max-rate': '400' },
    during: (job) => {
      const pauseAt = async (pages: number): Promise<void> => {
        await until(() => job.figures.pages >= pages)
        job.pause()
        await until(() => job.snapshot().active === 0)
        const size = web.log.length
        const runMs = job.snapshot().runMs
        await until(() => job.standing().isQuiet)
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
        expect(job.snapshot()).toMatchObject({ isPaused: true, active: 0, runMs })
        askedMeanwhile += web.log.length - size
        pauses++
        job.resume()
        if (pages < 150) await pauseAt(pages + 1 + random.below(40))
      }
      void pauseAt(1)
    },
  })
  const truth = web.truth()
  expectTruth(result, truth)
  expectAskedOnce(result, web, truth)
  expect(web.politeness({ delayMs: 0 })).toEqual([])
  expect(pauses).toBeGreaterThan(3)
  expect(askedMeanwhile).toBe(0)
})

test('two agents: paused, one started again meanwhile stays paused; seeds added are crawled by their owners', async () => {
  const web = await startWeb({ seed: 'steered', hosts: 8, pages: 20 })
  const [first = '', ...others] = web.seeds()
  const answers: unknown[] = []
  const steer = async (node: CrawlNode): Promise<void> => {
    await until(() => node.figures.pages > 3)
    node.pause()
    node.restartAgent(0)
    await until(() => node.restarts === 1 && node.snapshot().active === 0)
    const size = web.log.length
    const [one, two] = await node.ask({ ask: 'hosts', hosts: [urlOf(first).slice(7, -1)] })
    expect([...(one ?? []), ...(two ?? [])].length).toBeLessThanOrEqual(1)
    // Some known, some new; the owners count them.
    const given = await node.addSeeds([first, ...others].map(urlOf))
    answers.push(given.reduce((sum, answer) => sum + answer.added.length, 0))
    answers.push(given.reduce((sum, answer) => sum + answer.known.length, 0))
    expect(web.log.length).toBe(size)
    node.resume()
  }
  let steered: Promise<void> = Promise.resolve()
  const result = await crawl({
    seeds: [first],
    dir: directory(),
    agents: 2,
    flags: { ...FAST, 'max-rate': '300' },
    duringNode: (node) => {
      steered = steer(node)
    },
  })
  await steered
  expect(answers).toEqual([others.length, 1])
  expectTruth(result, web.truth())
  expect(web.politeness({ delayMs: 0 })).toEqual([])
})

test.for([0, 2])('%d threads: what another scope would skip is what it skips', async (agents) => {
  const web = await startWeb({ seed: 'preview', hosts: 4, pages: 40 })
  const dir = directory()
  const narrow = { ...FAST, exclude: ['/p1', '/p2'] }
  const { url } = settingsOf(narrow)
  const found: ScopePreview[] = []
  const look = async (job: Crawl | CrawlNode): Promise<void> => {
    await until(() => job.figures.pages > 15)
    job.pause()
    await until(() => job.snapshot().active === 0)
    if (job instanceof Crawl) found.push(await job.previewScope(url))
    else found.push(...(await job.ask({ ask: 'preview', url })))
    job.stop('interrupted')
  }
  let looked: Promise<void> = Promise.resolve()
  const during = (job: Crawl | CrawlNode): void => {
    looked = look(job)
  }
  const slowly = { ...FAST, 'max-rate': '60' }
  const paused = await crawl({ seeds: web.seeds(), dir, flags: slowly, agents, during, duringNode: during })
  await looked
  const sum = (of: (one: ScopePreview) => number): number => found.reduce((total, one) => total + of(one), 0)
  expect(found.every(({ isComplete }) => isComplete)).toBe(true)
  expect(sum(({ seen }) => seen)).toBe(paused.snapshot.figures.waiting)
  const hit = sum((one) => one.hit)
  expect(hit).toBeGreaterThan(0)
  expect(sum(({ reasons }) => reasons.excluded ?? 0)).toBe(hit)
  expect(found.flatMap(({ examples }) => examples).every((one) => /\/p[12]/.test(one))).toBe(true)
  const narrowed = await crawl({ seeds: [], dir, flags: narrow, agents })
  expect(narrowed.failures.filter(({ reason }) => reason === 'scope-changed')).toHaveLength(hit)
})
