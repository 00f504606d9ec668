// The cache may forget, but never exceeds its bounds and never answers with what has expired.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import type { Origin } from '../url/index.ts'
import { parseRobots } from './parse-robots.ts'
import { RobotsCache, type RobotsEntry, type SavedRobotsEntry } from './robots-cache.ts'
import { ALLOW_ALL, DISALLOW_ALL } from './robots-rules.ts'
import { SiteWishes } from './site-wishes.ts'

const HOUR_MS = 3_600_000
const origin = (name: string | number): Origin => `http://h${name}.example` as Origin
const entry = (text: string): RobotsEntry => {
  const file = parseRobots(Buffer.from(text))
  return {
    rules: file.rulesFor('portolan'),
    sitemaps: file.sitemaps,
    wishes: SiteWishes.of(file.usageFor('portolan'), []),
    knowsTdm: true,
  }
}
const missing: RobotsEntry = { rules: ALLOW_ALL, sitemaps: [], wishes: null, knowsTdm: false }
const saveAll = (cache: RobotsCache): SavedRobotsEntry[] =>
  JSON.parse(JSON.stringify([...cache.save()])) as SavedRobotsEntry[]
const roomy = { entriesMax: 1_000, bytesMax: 1_000_000 }

describe('time', () => {
  test('an entry is given until its life is over, then only as a stale one', () => {
    const clock = new ManualClock()
    const cache = new RobotsCache(clock, roomy)
    cache.set(origin(1), missing, HOUR_MS)
    clock.advance(HOUR_MS - 1)
    expect(cache.get(origin(1))?.rules).toBe(ALLOW_ALL)
    clock.advance(1)
    expect(cache.get(origin(1))).toBeNull()
    expect(cache.getStale(origin(1))?.rules).toBe(ALLOW_ALL)
  })

  test('no entry lives longer than a day', () => {
    const clock = new ManualClock()
    const cache = new RobotsCache(clock, roomy)
    cache.set(origin(1), missing, 1_000 * HOUR_MS)
    clock.advance(24 * HOUR_MS)
    expect(cache.get(origin(1))).toBeNull()
  })
})

describe('bounds', () => {
  test('the least recently used entry goes first', () => {
    const cache = new RobotsCache(new ManualClock(), { entriesMax: 2, bytesMax: 1_000_000 })
    cache.set(origin(1), missing, HOUR_MS)
    cache.set(origin(2), missing, HOUR_MS)
    cache.get(origin(1))
    cache.set(origin(3), missing, HOUR_MS)
    expect([1, 2, 3].map((name) => cache.get(origin(name)) !== null)).toEqual([true, false, true])
  })

  test('an entry larger than the whole budget is not kept and displaces nothing', () => {
    const cache = new RobotsCache(new ManualClock(), { entriesMax: 10, bytesMax: 5_000 })
    cache.set(origin(1), missing, HOUR_MS)
    cache.set(origin(2), entry(`user-agent: *\n${'disallow: /a\n'.repeat(100)}`), HOUR_MS)
    expect([cache.get(origin(1)) !== null, cache.get(origin(2))]).toEqual([true, null])
  })

  test('hold after any series of operations, and the count of bytes is that of what is kept', () => {
    const step = fc.record({ name: fc.nat(12), rules: fc.nat(9), isDelete: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const bounds = { entriesMax: 5, bytesMax: 6_000 }
        const cache = new RobotsCache(new ManualClock(), bounds)
        for (const { name, rules, isDelete } of steps) {
          if (isDelete) cache.delete(origin(name))
          else cache.set(origin(name), entry(`user-agent: *\n${'disallow: /abc\n'.repeat(rules)}`), HOUR_MS)
          expect(cache.size).toBeLessThanOrEqual(bounds.entriesMax)
          expect(cache.bytes).toBeLessThanOrEqual(bounds.bytesMax)
        }
        for (const { origin: kept } of cache.save()) cache.delete(kept)
        expect([cache.size, cache.bytes]).toEqual([0, 0])
      }),
    )
  })
})

describe('saved and restored', () => {
  const text = 'user-agent: *\ndisallow: /a*%2A$\nallow: /a?b=%2F\ncrawl-delay: 3\nsitemap: http://x/s.xml'

  test('what a site asks of the use of its pages survives too', () => {
    const clock = new ManualClock()
    const before = new RobotsCache(clock, roomy)
    before.set(origin(1), entry('User-agent: *\nContent-Signal: ai-train=no'), HOUR_MS)
    const after = new RobotsCache(clock, roomy)
    expect([before.hasWishes, after.hasWishes]).toEqual([true, false])
    after.restore(saveAll(before))
    expect(after.hasWishes).toBe(true)
    expect(
      after
        .get(origin(1))
        ?.wishes?.usageOf('/x')
        .map(({ optOut }) => optOut),
    ).toEqual(['ai-train'])
    expect(after.get(origin(1))?.knowsTdm).toBe(true)
    expect(after.bytes).toBe(before.bytes)
  })

  test('rules decide as before, through plain data', () => {
    const clock = new ManualClock()
    const before = new RobotsCache(clock, roomy)
    before.set(origin(1), entry(text), HOUR_MS)
    before.set(origin(2), missing, HOUR_MS)
    const lacking = { rules: DISALLOW_ALL, sitemaps: [], wishes: null, knowsTdm: false, trouble: 'status 500' }
    before.set(origin(3), lacking, HOUR_MS)
    const after = new RobotsCache(clock, roomy)
    after.restore(saveAll(before))
    const kept = after.get(origin(1))
    expect(kept?.sitemaps).toEqual(['http://x/s.xml'])
    expect(kept?.rules.crawlDelayMs).toBe(3_000)
    for (const path of ['/a', '/ab*', '/a*x', '/a?b=/c', '/']) {
      expect(kept?.rules.decide(path)).toEqual(entry(text).rules.decide(path))
    }
    expect(kept?.rules.decide('/ab*').line).toBe(2)
    expect(after.get(origin(2))?.rules).toBe(ALLOW_ALL)
    expect(after.get(origin(3))).toMatchObject({ rules: DISALLOW_ALL, trouble: 'status 500' })
    expect(after.bytes).toBe(before.bytes)
  })

  test('an entry goes on ageing while the crawl is stopped', () => {
    const before = new RobotsCache(new ManualClock(1_000, 0), roomy)
    before.set(origin(1), missing, 3 * HOUR_MS)
    const clock = new ManualClock(5, 2 * HOUR_MS)
    const after = new RobotsCache(clock, roomy)
    after.restore(saveAll(before))
    expect(after.get(origin(1))).not.toBeNull()
    clock.advance(HOUR_MS)
    expect(after.get(origin(1))).toBeNull()
  })

  test.each([
    ['has expired meanwhile', 3 * HOUR_MS],
    ['was fetched in the future, because the wall clock was set back', -HOUR_MS],
  ])('an entry that %s is left out', (_, wallMs) => {
    const before = new RobotsCache(new ManualClock(1_000, 0), roomy)
    before.set(origin(1), missing, 3 * HOUR_MS)
    const after = new RobotsCache(new ManualClock(5, wallMs), roomy)
    after.restore(saveAll(before))
    expect(after.size).toBe(0)
  })
})
