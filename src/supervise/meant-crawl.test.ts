// What a node means by a crawl as it hears of changes.

import { expect, test } from 'vitest'
import type { CrawlSettings } from '../agent/index.ts'
import { Fault } from '../base/index.ts'
import { Changes } from '../cluster/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { ChangingCrawl } from './meant-crawl.ts'

const FIRST = { seeds: ['http://a.test/' as CanonicalUrl], settings: 'first' as unknown as CrawlSettings }

function change(seeds: readonly string[], settings: unknown = null, isLive = false) {
  return { id: '', seeds, settings, options: null, isLive, by: '', at: '' }
}

function stand(): { crawl: ChangingCrawl; changes: Changes } {
  const read = (said: unknown): CrawlSettings => {
    if (said === 'unreadable') throw new Fault('CLUSTER_REFUSED', 'not here')
    return said as CrawlSettings
  }
  return { crawl: new ChangingCrawl(FIRST, 0, read), changes: new Changes() }
}

test('seeds are told to whoever runs; other options open it anew, unless they are told in another way', () => {
  const { crawl, changes } = stand()
  changes.add(1, change(['http://b.test/']))
  expect(crawl.hear(changes)).toBeNull()
  expect(crawl.orders()).toEqual({ seeds: ['http://a.test/', 'http://b.test/'], settings: 'first' })
  expect(crawl.since(0)).toEqual(['http://b.test/'])
  changes.add(2, change([], 'faster', true))
  crawl.hear(changes)
  expect(crawl.orders().settings).toBe('faster')
  expect(crawl.since(0)).toEqual(['http://b.test/'])
  changes.add(3, change([], 'deeper'))
  changes.add(4, change(['http://c.test/', 'no URL']))
  crawl.hear(changes)
  expect(crawl.orders()).toEqual({ seeds: ['http://a.test/', 'http://b.test/', 'http://c.test/'], settings: 'deeper' })
  expect(crawl.change()).toBe(4)
  expect(crawl.since(2)).toBeNull()
  expect(crawl.since(3)).toEqual(['http://c.test/'])
})

test('a change with which no share can be opened is given up, until the next one', () => {
  const { crawl, changes } = stand()
  changes.add(1, change([], 'with a certificate'))
  crawl.hear(changes)
  expect(crawl.retreat(0)).toBe(false)
  expect(crawl.retreat(1)).toBe(true)
  expect(crawl.retreat(1)).toBe(false)
  expect([crawl.change(), crawl.orders()]).toEqual([0, FIRST])
  // It is not tried again by itself.
  crawl.hear(changes)
  expect(crawl.change()).toBe(0)
  changes.add(2, change([], 'without'))
  crawl.hear(changes)
  expect([crawl.change(), crawl.orders().settings]).toEqual([2, 'without'])
})

test('what cannot be read here changes nothing, and its number is not ours; a later one that can be read heals it', () => {
  const { crawl, changes } = stand()
  changes.add(1, change([], 'unreadable'))
  changes.add(2, change(['http://b.test/']))
  expect(crawl.hear(changes)).toMatchObject({ message: 'not here' })
  expect([crawl.change(), crawl.orders()]).toEqual([0, FIRST])
  changes.add(3, change([], 'better'))
  expect(crawl.hear(changes)).toBeNull()
  expect(crawl.orders()).toEqual({ seeds: ['http://a.test/', 'http://b.test/'], settings: 'better' })
  expect(crawl.change()).toBe(3)
})
