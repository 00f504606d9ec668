// A page that breaks us costs its URL a try, and in the end the URL; everything else is as if it had not been there.

import { describe, expect, test } from 'vitest'
import { directory, expectTruth, startWeb } from '../../test/crawl/expect-truth.ts'
import { crawl, type CrawlResult, FAST } from '../../test/crawl/run-crawl.ts'
import { wrapMethod } from '../../test/wrap-method.ts'
import { Fault } from '../base/index.ts'
import { CachingResolver } from '../dns/index.ts'
import { type FetchRequest, HttpFetcher } from '../fetch/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import { RobotsCache } from '../robots/index.ts'
import { hostKeyOf, type CanonicalUrl } from '../url/index.ts'
import { DiskUrlSeen, type FingerprintBatch } from '../url-seen/index.ts'
import { Admission, type LinkSource } from './admission.ts'
import { BrokenVisits } from './broken-visits.ts'
import type { Crawl } from './crawl.ts'
import { PageSettler } from './page-settler.ts'

const RETRIES = 2

/** What throws on some URLs, each so many times. */
class Breaker {
  readonly #timesOf: (url: string) => number
  readonly counts = new Map<string, number>()

  constructor(timesOf: (url: string) => number) {
    this.#timesOf = timesOf
  }

  get count(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0)
  }

  step(url: string): void {
    const before = this.counts.get(url) ?? 0
    if (before >= this.#timesOf(url)) return
    this.counts.set(url, before + 1)
    throw new TypeError(`cannot read properties of ${url}`)
  }
}

type Place = 'fetch' | 'settle' | 'links' | 'links met' | 'robots' | 'rules'

/** Has a part of the walk throw; what it does else stays as it is. */
function breakAt(place: Place, breaker: Breaker): void {
  switch (place) {
    case 'fetch':
      return wrapMethod(HttpFetcher.prototype, 'fetch', ([request], run) => {
        const { purpose, url } = request as FetchRequest
        if (purpose === 'page') breaker.step(url)
        return run()
      })
    case 'settle':
      return wrapMethod(PageSettler.prototype, 'settle', async ([entry], run) => {
        breaker.step((entry as FrontierEntry).url)
        return run()
      })
    case 'links':
      // Its content is claimed, and archived; its links are not met yet.
      return wrapMethod(Admission.prototype, 'admitLinks', ([source], run) => {
        breaker.step((source as LinkSource).url)
        return run()
      })
    case 'links met':
      return wrapMethod(Admission.prototype, 'admitLinks', async ([source], run) => {
        await run()
        breaker.step((source as LinkSource).url)
      })
    case 'robots':
    case 'rules':
      return wrapMethod(RobotsCache.prototype, place === 'robots' ? 'set' : 'get', ([origin], run) => {
        breaker.step(String(origin))
        return run()
      })
  }
}

/** What is under way when the fetcher is closed: nothing should be. */
function watchConnections(): number[] {
  const underWay: number[] = []
  wrapMethod(HttpFetcher.prototype, 'close', (_, run, self) => {
    underWay.push((self as HttpFetcher).figures.underWay)
    return run()
  })
  return underWay
}

async function crawlAll(seeds: string[], maxPages?: number): Promise<CrawlResult & { job: Crawl }> {
  let job: Crawl | null = null
  const result = await crawl({
    seeds,
    dir: directory(),
    flags: { ...FAST, ...(maxPages === undefined ? {} : { 'max-pages': String(maxPages) }) },
    during: (one) => {
      job = one
    },
  })
  return { ...result, job: job as unknown as Crawl }
}

describe('a break that passes leaves no trace in what was found', () => {
  test.for(['fetch', 'settle', 'links', 'links met', 'robots', 'rules'] as const)('in %s', async (place) => {
    const web = await startWeb({ seed: 'broken', hosts: 6, pages: 25, faults: 'mild' })
    const truth = web.truth()
    const breaker = new Breaker(() => 1)
    breakAt(place, breaker)
    const underWay = watchConnections()
    const result = await crawlAll(web.seeds(), truth.pages.size + 1)
    // As many permits as pages: whoever did not give one back would be missed.
    expectTruth(result, truth)
    expect(breaker.count).toBeGreaterThanOrEqual(6)
    expect(result.job.broken.count).toBe(breaker.count)
    expect(result.job.broken.first?.why).toMatch(/^TypeError: cannot read properties of http/)
    expect(result.snapshot.active).toBe(0)
    expect(underWay).toEqual([0])
  })
})

test.for(['fetch', 'settle', 'links', 'links met'] as const)(
  'a URL that breaks us every time, in %s, is given up; all others are found, and the counts add up',
  async (place) => {
    const web = await startWeb({ seed: 'given up', hosts: 6, pages: 25 })
    const whole = await crawlAll(web.seeds())
    // Pages that nothing was found on: without them all others are found all the same.
    const vias = new Set(whole.pages.map((page) => page.via))
    const odd = new Set(whole.pages.filter(({ url, status }) => status === 200 && !vias.has(url)).map(({ url }) => url))
    const chosen = new Set([...odd].filter((_, i) => i % 3 === 0))
    web.reset()
    const breaker = new Breaker((url) => (chosen.has(url) ? Infinity : 0))
    breakAt(place, breaker)
    const underWay = watchConnections()
    const result = await crawlAll(web.seeds())
    const given = result.failures.filter(({ reason }) => reason === 'VISIT_BROKEN')
    expect(chosen.size).toBeGreaterThan(3)
    // A page whose links break us must be one that is parsed.
    expect(given.length).toBe(breaker.counts.size)
    expect(given.map(({ url }) => url).toSorted()).toEqual([...breaker.counts.keys()].toSorted())
    if (place === 'fetch' || place === 'settle') expect(given).toHaveLength(chosen.size)
    const found = whole.pages.map(({ url }) => url).filter((url) => !breaker.counts.has(url))
    expect(result.pages.map(({ url }) => url).toSorted()).toEqual(found.toSorted())
    expect(result.job.broken.count).toBe(given.length * (RETRIES + 1))
    const { figures } = result.snapshot
    expect(figures.failures.VISIT_BROKEN).toBe(given.length)
    expect(figures.settled).toBe(figures.admitted)
    expect(figures.waiting).toBe(0)
    expect(underWay).toEqual([0])
    expect(given[0]?.detail).toMatch(/^TypeError/)
  },
)

test('a name that breaks the resolver every time is a host that is given up', async () => {
  const web = await startWeb({ seed: 'names', hosts: 5, pages: 10 })
  const odd = hostKeyOf(web.seeds()[2] as CanonicalUrl)
  wrapMethod(CachingResolver.prototype, 'resolve', ([host], run) => {
    if (host === odd) throw new RangeError('no such thing')
    return run()
  })
  const result = await crawlAll(web.seeds())
  expect(result.reason).toBe('finished')
  expect(result.pages.some(({ url }) => hostKeyOf(url as CanonicalUrl) === odd)).toBe(false)
  expect(result.failures.length).toBeGreaterThan(0)
  for (const { url, reason } of result.failures) {
    expect([reason, hostKeyOf(url as CanonicalUrl)]).toEqual(['VISIT_BROKEN', odd])
  }
  expect(result.snapshot.figures.settled).toBe(result.snapshot.figures.admitted)
})

test.for(['ASSERTION', 'DISK_FULL', 'LEDGER_CORRUPT'] as const)('%s is the end of the agent', async (code) => {
  const web = await startWeb({ hosts: 2, pages: 10 })
  wrapMethod(PageSettler.prototype, 'settle', async () => {
    throw new Fault(code, 'so it is')
  })
  await expect(crawl({ seeds: web.seeds(), dir: directory() })).rejects.toMatchObject({ code })
})

test('links that were met and not filed end the agent, whatever was thrown', async () => {
  const web = await startWeb({ hosts: 2, pages: 10 })
  wrapMethod(DiskUrlSeen.prototype, 'meet', ([batch], run) => {
    const answer = run()
    // Seeds come one by one.
    if ((batch as FingerprintBatch).count > 1) throw new TypeError('odd')
    return answer
  })
  const end = crawl({ seeds: web.seeds(), dir: directory() })
  const message = 'links were met and may not have been filed: odd'
  await expect(end).rejects.toMatchObject({ code: 'ASSERTION', message })
})

test('whatever is thrown when the books are broken ends the agent; of the others the first is kept', () => {
  let areBooksBroken = false
  const broken = new BrokenVisits(() => areBooksBroken)
  expect(broken.take('http://a.example/', new TypeError('one'))).toBe('TypeError: one')
  expect(broken.take('http://b.example/', 'two')).toBe('two')
  expect(broken.figures).toMatchObject({ count: 2, first: { url: 'http://a.example/', why: 'TypeError: one' } })
  areBooksBroken = true
  expect(() => broken.take('http://c.example/', new TypeError('three'))).toThrow('three')
  expect(broken.figures.count).toBe(2)
})
