// A crawl whose options change while it runs: whatever is changed, in whatever order, what it finds is the truth; what is blocked is not
// asked for any more, and as many URLs are skipped as the preview said; everything is recorded.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Random } from '../../src/base/index.ts'
import type { RunningCrawl } from '../../src/control/running-crawl.ts'
import { readChanges, readEvents } from '../../src/control/index.ts'
import { directory, startWeb } from '../crawl/expect-truth.ts'
import { joined, type Options, QUICK, requestOf } from './request.ts'
import { ASKER, pagesReach, runSteered, until } from './steered-run.ts'

const sorted = (urls: Iterable<string>): string[] => [...urls].sort()

/**
 * Each of them changes how the crawl goes, and none what it finds; nor does any make it so fast that it could be done before all is said: what is
 * said to a crawl that is ending is refused.
 */
const HARMLESS: readonly Options[] = [
  { agent: { agents: 2 } },
  { agent: { maxRate: 30, connections: 7 } },
  { agent: { agents: 1, maxRate: 50 } },
  { url: { block: ['nowhere.example'] }, frontier: { urlsPerTurn: 3 }, agent: { maxPages: 100_000, tick: '20ms' } },
]

test(
  'pauses, seeds, speeds and options at random: every page once, politely, and each change on record',
  { timeout: 180_000 },
  async () => {
    const web = await startWeb({ seed: 'changed', hosts: 8, pages: 40, faults: 'mild' })
    const [first = '', ...others] = web.seeds()
    const dir = directory()
    const random = new Random('changes')
    let made = 0
    const steer = async (crawl: RunningCrawl): Promise<void> => {
      const acts: (() => Promise<unknown>)[] = HARMLESS.map((options) => () => crawl.set({ options }, ASKER))
      acts.push(() => crawl.addSeeds({ seeds: [first, ...others.slice(0, 3)] }, ASKER))
      acts.push(() => crawl.addSeeds({ seeds: [...others.slice(3), 'no url'] }, ASKER))
      acts.push(() => crawl.speed({ connections: 3, ratePerSecond: 25 }, ASKER))
      // Paused while nothing else is left to do, it must not end before all is said.
      await crawl.pause({}, ASKER)
      made++
      while (acts.length > 0) {
        const [act] = acts.splice(random.below(acts.length), 1)
        await act?.()
        made++
        if (random.below(2) === 0) continue
        const before = (await crawl.crawl()).figures.pages
        await crawl.resume({}, ASKER)
        await until(async () => {
          const { figures, now } = await crawl.crawl()
          return figures.pages > before + 5 || (now !== null && now.active === 0 && figures.waiting === 0)
        })
        await crawl.pause({}, ASKER)
        made += 2
      }
      await crawl.set({ options: { agent: { maxRate: null } } }, ASKER)
      await crawl.resume({}, ASKER)
      made += 2
    }
    const result = await runSteered(
      requestOf(dir, [first], joined(QUICK, { agent: { agents: 1, maxRate: 40 } })),
      steer,
    )
    expect(result.code).toBe(0)
    const truth = web.truth()
    expect(sorted(result.pages.map(({ url }) => url))).toEqual(sorted(truth.pages.keys()))
    expect(web.politeness({ delayMs: 0 })).toEqual([])
    const changes = await readChanges(dir, undefined, 500)
    expect(changes.total).toBe(made)
    expect(changes.items.every(({ who }) => who === 'test')).toBe(true)
    const settings = JSON.parse(readFileSync(join(dir, 'state/settings.json'), 'utf8')) as Options
    expect(settings['url']).toEqual({ block: ['nowhere.example'] })
    expect(settings['frontier']).toMatchObject({ delay: '0ms', urlsPerTurn: 3 })
    const { items: events } = await readEvents(dir, undefined, 500)
    expect(events.at(-1)?.text).toMatch(/^Crawling http/)
    expect(events[0]?.text).toBe('Ended: nothing is left to fetch.')
    for (const left of ['control.sock', 'control.json', 'pending-seeds.json', 'lock']) {
      expect(existsSync(join(dir, 'state', left)), left).toBe(false)
    }
  },
)

test(
  'a domain is blocked: as many are skipped as was said, and nobody of it is asked any more',
  { timeout: 120_000 },
  async () => {
    const web = await startWeb({ seed: 'blocked', hosts: 4, pages: 60 })
    const dir = directory()
    const host = new URL(web.url(1, 0)).hostname
    const block = { options: { url: { block: [host] } } }
    let hit = 0
    let askedBefore = 0
    const steer = async (crawl: RunningCrawl): Promise<void> => {
      await pagesReach(crawl, 20)
      await crawl.pause({}, ASKER)
      await until(async () => (await crawl.crawl()).now?.active === 0)
      const preview = await crawl.preview(block)
      expect(preview).toMatchObject({ isComplete: true, takesEffect: 'anew', reasons: { blocked: preview.hit } })
      expect(preview.examples.every((url) => new URL(url).hostname === host)).toBe(true)
      hit = preview.hit
      expect(await crawl.set(block, ASKER)).toMatchObject({ takesEffect: 'anew' })
      expect((await crawl.crawl()).state).toBe('paused')
      askedBefore = web.log.length
      await expect(crawl.set({ options: { url: { sessionIds: ['x'] } } }, ASKER)).rejects.toThrow(/cannot change/)
      await crawl.speed({ ratePerSecond: null }, ASKER)
      await crawl.resume({}, ASKER)
    }
    const options = joined(QUICK, { agent: { agents: 1, maxRate: 60 } })
    const result = await runSteered(requestOf(dir, web.seeds(), options), steer)
    expect(hit).toBeGreaterThan(0)
    const skipped = result.failures.filter(({ reason }) => reason === 'scope-changed')
    expect(skipped).toHaveLength(hit)
    const asked = [...web.log.requests(askedBefore)].map((request) => request.host)
    expect(asked.length).toBeGreaterThan(0)
    expect(asked.filter((one) => one.startsWith(host))).toEqual([])
  },
)

test('what cannot be opened is taken back, and the crawl goes on as it was', { timeout: 120_000 }, async () => {
  const web = await startWeb({ seed: 'refused', hosts: 2, pages: 20 })
  const dir = directory()
  const steer = async (crawl: RunningCrawl): Promise<void> => {
    await pagesReach(crawl, 3)
    const options = { fetch: { caFile: join(dir, 'not-there.pem') } }
    await expect(crawl.set({ options }, ASKER)).rejects.toThrow(/not-there/)
    await crawl.speed({ ratePerSecond: null }, ASKER)
  }
  const request = requestOf(dir, web.seeds(), joined(QUICK, { agent: { agents: 1, maxRate: 30 } }))
  const result = await runSteered(request, steer)
  expect(result.pages).toHaveLength(web.truth().pages.size)
  expect(readFileSync(join(dir, 'state/settings.json'), 'utf8')).not.toContain('caFile')
})
