// A crawl that is paused asks nobody and forgets nothing, whoever is started again meanwhile; seeds that are added while it runs are
// seeds; and what another scope would skip is told as it would be.

import { expect, test } from 'vitest'
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
  const web = await startWeb({ seed: 'steered', hosts: 10, pages: 30 })
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
  const web = await startWeb({ seed: 'preview', hosts: 4, pages: 60 })
  const dir = directory()
  const hardly = { ...FAST, 'max-pages': '30' }
  await crawl({ seeds: web.seeds(), dir, flags: hardly, agents })
  const narrow = { ...FAST, exclude: ['/p1', '/p2'] }
  const { url } = settingsOf(narrow)
  const found = { hit: 0, seen: 0, isComplete: true, examples: [] as string[] }
  const add = (one: { hit: number; seen: number; isComplete: boolean; examples: readonly string[] }): void => {
    found.hit += one.hit
    found.seen += one.seen
    found.isComplete &&= one.isComplete
    found.examples.push(...one.examples)
  }
  let asked: Promise<void> = Promise.resolve()
  const paused = await crawl({
    seeds: [],
    dir,
    flags: FAST,
    agents,
    during: (job) => {
      job.pause()
      asked = job.previewScope(url).then((one) => {
        add(one)
        job.stop('interrupted')
      })
    },
    duringNode: (node) => {
      node.pause()
      asked = node.ask({ ask: 'preview', url }).then((all) => {
        for (const one of all) add(one)
        node.stop('interrupted')
      })
    },
  })
  await asked
  expect(found).toMatchObject({ seen: paused.snapshot.figures.waiting, isComplete: true })
  expect(found.hit).toBeGreaterThan(0)
  expect(found.examples.every((one) => /\/p[12]/.test(one))).toBe(true)
  const narrowed = await crawl({ seeds: [], dir, flags: narrow, agents })
  const skipped = narrowed.failures.filter(({ reason }) => reason === 'scope-changed')
  expect(skipped).toHaveLength(found.hit)
})
