import { describe, expect, test } from 'vitest'
import { BANDS } from '../frontier/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import { BreadthFirst, LINK_BAND, SEED_BAND } from './breadth-first.ts'
import { strategyOptions } from './options.ts'
import { PriorityRules } from './priority-rules.ts'
import { strategyOf } from './strategy-of.ts'
import type { FoundLink } from './strategy.ts'

function linkOf(url: string, facts: Partial<FoundLink> = {}): FoundLink {
  const via = 'http://h/' as CanonicalUrl
  return { url: url as CanonicalUrl, host: 'h' as HostKey, depth: 1, via, isSeed: false, ...facts }
}

const seed = linkOf('http://h/', { depth: 0, via: null, isSeed: true })

const contains = (part: string) => (url: string) => url.includes(part)

describe('breadth first', () => {
  test('puts seeds before links, and all links alike whatever their depth', () => {
    const strategy = new BreadthFirst()
    expect(strategy.bandOf(seed)).toBeLessThan(strategy.bandOf(linkOf('http://h/a')))
    expect(strategy.bandOf(linkOf('http://h/a', { depth: 9 }))).toBe(strategy.bandOf(linkOf('http://h/b')))
  })

  test('leaves bands before the seeds, between, and after, for rules', () => {
    expect([0 < SEED_BAND, SEED_BAND + 1 < LINK_BAND, LINK_BAND < BANDS - 1]).toEqual([true, true, true])
  })
})

describe('priority rules', () => {
  test('the first rule that matches counts', () => {
    const rules = new PriorityRules(
      [
        { matches: contains('/news/'), band: 0 },
        { matches: contains('/news/old/'), band: 7 },
      ],
      new BreadthFirst(),
    )
    expect(rules.bandOf(linkOf('http://h/news/old/1'))).toBe(0)
  })

  test('where no rule matches the strategy below decides', () => {
    const rules = new PriorityRules([{ matches: contains('/news/'), band: 0 }], new BreadthFirst())
    expect(rules.bandOf(linkOf('http://h/other'))).toBe(LINK_BAND)
    expect(rules.bandOf(seed)).toBe(SEED_BAND)
  })

  test.each([-1, BANDS, 1.5])('band %d does not exist', (band) => {
    expect(() => new PriorityRules([{ matches: () => true, band }], new BreadthFirst())).toThrow(/bands are 0 to 7/)
  })
})

describe('options', () => {
  test('without any, links are followed breadth first', () => {
    expect(strategyOf(strategyOptions.parse({}))).toBeInstanceOf(BreadthFirst)
  })

  test('rules of the configuration are compiled and kept in order', () => {
    const options = strategyOptions.parse({
      priorities: [
        { match: '/archive/', band: 7 },
        { match: '\\.pdf$', band: 6 },
      ],
    })
    const strategy = strategyOf(options)
    const bands = ['http://h/archive/a.pdf', 'http://h/a.pdf', 'http://h/a.pdf?x'].map((url) =>
      strategy.bandOf(linkOf(url)),
    )
    expect(bands).toEqual([7, 6, LINK_BAND])
  })

  test.each([
    { order: 'depth-first' },
    { priorities: [{ match: '(', band: 1 }] },
    { priorities: [{ match: 'a', band: BANDS }] },
    { priorities: [{ match: 'a', band: 1, bnd: 2 }] },
    { priorities: [{ band: 1 }] },
  ])('%j is refused', (options) => {
    expect(strategyOptions.safeParse(options).success).toBe(false)
  })
})
