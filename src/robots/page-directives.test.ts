// What headers and metas of a page forbid us, by our own table and by that of Nutch and StormCrawler.

import { describe, expect, test } from 'vitest'
import { hasMaterial, readMaterial } from '../../test/material.ts'
import { type PageDirectives, pageDirectives, type PageDirectiveSources } from './page-directives.ts'
import { SiteWishes } from './site-wishes.ts'

const NOW_MS = Date.parse('2026-01-01T00:00:00Z')

function read(
  headers: readonly (readonly [string, string])[],
  more: Partial<PageDirectiveSources> = {},
): PageDirectives {
  return pageDirectives({
    rawHeaders: headers.flat(),
    metaRobots: [],
    productToken: 'Portolan',
    site: null,
    pathAndQuery: '/',
    wallMs: NOW_MS,
    ...more,
  })
}

const tagged = (tags: readonly string[]): [string, string][] => tags.map((tag) => ['X-Robots-Tag', tag])

const said = (tags: string[], metaRobots: [string, string][] = []): string => {
  const { nofollow, optOuts } = read(tagged(tags), { metaRobots })
  return [...(nofollow ? ['nofollow'] : []), ...optOuts].join(' ')
}

describe('an X-Robots-Tag', () => {
  test.each([
    [[], ''],
    [['all'], ''],
    [['none'], 'nofollow noindex'],
    [['NoIndex,NoFollow'], 'nofollow noindex'],
    [['noindex', 'noarchive'], 'noindex noarchive'],
    [['nofollow', 'follow'], 'nofollow'],
    [['googlebot: nofollow'], ''],
    [['portolan: nofollow'], 'nofollow'],
    [['PORTOLAN: none'], 'nofollow noindex'],
    [['noindex, googlebot: nofollow, noarchive'], 'noindex'],
    [['googlebot: noindex, portolan: nofollow, noarchive'], 'nofollow noarchive'],
    [['unavailable_after: 25 Jun 2027 15:00:00 PST'], ''],
    [['unavailable_after: 25 Jun 2025 15:00:00 PST'], 'noindex'],
    [['unavailable_after: Wednesday, 25-Jun-25 15:00:00 UTC, noarchive'], 'noindex noarchive'],
    [['unavailable_after: 2025-06-25T15:00:00+02:00'], 'noindex'],
    [['googlebot: unavailable_after: 25 Jun 2025'], ''],
    [['unavailable_after: soon, nofollow'], 'nofollow'],
    [['unavailable_after: Friday, 25-Jun-27 15:00:00 UTC, nofollow'], 'nofollow'],
    [['max-snippet: 20, nofollow'], 'nofollow'],
    [['max-snippet: 0'], 'nosnippet'],
    [['noai, noimageai'], 'noai noimageai'],
    [['noml'], 'noai'],
    [['otherbot: noai'], ''],
    [['nosnippet, noimageindex, notranslate'], 'nosnippet noimageindex'],
    [['*: noindex'], 'noindex'],
    [['nofollows, xnofollow, no-follow'], ''],
    [[' , ,, '], ''],
  ])('%j forbids "%s"', (headers, expected) => {
    expect(said(headers)).toBe(expected)
  })
})

describe('a meta', () => {
  test.each<[[string, string][], string]>([
    [[['robots', 'noindex, nofollow']], 'nofollow noindex'],
    [[['robots', 'index,follow']], ''],
    [[['portolan', 'nofollow']], 'nofollow'],
    [[['googlebot', 'nofollow']], ''],
    [
      [
        ['robots', 'nofollow'],
        ['portolan', 'follow'],
      ],
      'nofollow',
    ],
    [[['robots', 'noindex nocache']], 'noindex noarchive'],
    [[['robots', '']], ''],
  ])('%j forbids "%s"', (metas, expected) => {
    expect(said([], metas)).toBe(expected)
  })
})

test('headers and metas add up, and each that forbade something is named', () => {
  const directives = read(tagged(['all', 'noindex']), {
    metaRobots: [
      ['robots', 'nofollow'],
      ['other', 'noarchive'],
    ],
  })
  expect(directives).toEqual({
    nofollow: true,
    optOuts: ['noindex'],
    tdmPolicy: null,
    source: 'X-Robots-Tag: noindex; meta robots: nofollow',
  })
})

test('a page that asks nothing costs no object', () => {
  expect(read([['Content-Type', 'text/html']])).toBe(read([['X-Robots-Tag', 'all']]))
})

describe('headers about use', () => {
  test.each<[name: string, value: string, expected: string[]]>([
    ['Content-Usage', 'train-ai=n', ['ai-train']],
    ['content-usage', 'train-ai=y, search=n;x=1', ['noindex']],
    ['Content-Signal', 'search=yes, ai-train=no, ai-input=no', ['ai-train', 'ai-input']],
    ['Content-Signal', 'ai-train=maybe, =no, no, ai-train', []],
    ['Content-Language', 'train-ai=n', []],
    ['TDM-Reservation', '1', ['tdm']],
    ['tdm-reservation', ' 1 ', ['tdm']],
    ['TDM-Reservation', '0', []],
    ['TDM-Reservation', 'yes', []],
  ])('%s: %s', (name, value, expected) => {
    expect(read([[name, value]]).optOuts).toEqual(expected)
  })
})

describe('text and data mining', () => {
  const reserved = SiteWishes.of([], [{ path: '/', isReserved: true, policy: 'https://h/file' }])
  const meta = (content: string): Partial<PageDirectiveSources> => ({ metaRobots: [['tdm-reservation', content]] })

  test('the header supersedes the file, and the meta the header', () => {
    expect(read([], { site: reserved })).toMatchObject({ optOuts: ['tdm'], tdmPolicy: 'https://h/file' })
    expect(read([['TDM-Reservation', '0']], { site: reserved }).optOuts).toEqual([])
    expect(read([['TDM-Reservation', '0']], { site: reserved, ...meta('1') })).toMatchObject({
      optOuts: ['tdm'],
      source: 'meta tdm-reservation: 1',
    })
    expect(read([['TDM-Reservation', '1']], meta('0')).optOuts).toEqual([])
  })

  test('a policy is kept where mining is reserved, and only there', () => {
    const policy = ['TDM-Policy', 'https://h/Policy.json'] as const
    expect(read([['TDM-Reservation', '1'], policy]).tdmPolicy).toBe('https://h/Policy.json')
    expect(read([['TDM-Reservation', '0'], policy]).tdmPolicy).toBeNull()
  })
})

test('whatever is said, its note is short', () => {
  const long = read(tagged([`noai, ${'x'.repeat(60_000)}`, ...Array.from({ length: 50 }, () => 'noindex')]))
  expect(long.optOuts).toEqual(['noindex', 'noai'])
  expect(long.source.length).toBeLessThan(300)
})

interface Vectors {
  readonly xRobotsTag: readonly { headers: string[]; noindex: boolean; nofollow: boolean; nocache: boolean }[]
  readonly vectors: readonly { html: string; noindex: boolean; nofollow: boolean }[]
}

describe.skipIf(!hasMaterial)(
  hasMaterial ? 'the robots meta material' : 'the robots meta material (material not present)',
  () => {
    test('agrees, but that "none" also means nocache only to StormCrawler', () => {
      const material = readMaterial<Vectors>('html', 'nutch-robots-meta.json') as Vectors
      for (const { headers, noindex, nofollow, nocache } of material.xRobotsTag) {
        const found = read(tagged(headers))
        expect([found.nofollow, found.optOuts.includes('noindex')]).toEqual([nofollow, noindex])
        expect(found.optOuts.includes('noarchive')).toBe(headers.includes('none') ? !nocache : nocache)
      }
      for (const { html, noindex, nofollow } of material.vectors) {
        const content = /name="robots" content="([^"]*)"/i.exec(html)?.[1]
        const metaRobots = content === undefined ? [] : [['robots', content.toLowerCase()] as const]
        const found = read([], { metaRobots })
        expect([found.nofollow, found.optOuts.includes('noindex')]).toEqual([nofollow, noindex])
      }
    })
  },
)
