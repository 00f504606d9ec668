// What headers and metas of a page forbid us, by our own table and by that of Nutch and StormCrawler.

import { describe, expect, test } from 'vitest'
import { hasMaterial, readMaterial } from '../../test/material.ts'
import { pageDirectives } from './page-directives.ts'

const said = (xRobotsTag: string[], metaRobots: [string, string][] = []): string => {
  const { noindex, nofollow, noarchive } = pageDirectives({ xRobotsTag, metaRobots, productToken: 'Portolan' })
  return [noindex && 'noindex', nofollow && 'nofollow', noarchive && 'noarchive'].filter(Boolean).join(' ')
}

describe('an X-Robots-Tag', () => {
  test.each([
    [[], ''],
    [['all'], ''],
    [['none'], 'noindex nofollow'],
    [['NoIndex,NoFollow'], 'noindex nofollow'],
    [['noindex', 'noarchive'], 'noindex noarchive'],
    [['nofollow', 'follow'], 'nofollow'],
    [['googlebot: nofollow'], ''],
    [['portolan: nofollow'], 'nofollow'],
    [['PORTOLAN: none'], 'noindex nofollow'],
    [['noindex, googlebot: nofollow, noarchive'], 'noindex'],
    [['googlebot: noindex, portolan: nofollow, noarchive'], 'nofollow noarchive'],
    [['unavailable_after: 25 Jun 2027 15:00:00 PST'], ''],
    [['unavailable_after: Friday, 25-Jun-27 15:00:00 UTC, nofollow'], 'nofollow'],
    [['max-snippet: 20, nofollow'], 'nofollow'],
    [['*: noindex'], 'noindex'],
    [['nofollows, xnofollow, no-follow'], ''],
    [[' , ,, '], ''],
  ])('%j forbids "%s"', (headers, expected) => {
    expect(said(headers)).toBe(expected)
  })
})

describe('a meta', () => {
  test.each<[[string, string][], string]>([
    [[['robots', 'noindex, nofollow']], 'noindex nofollow'],
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
  const directives = pageDirectives({
    xRobotsTag: ['all', 'noindex'],
    metaRobots: [
      ['robots', 'nofollow'],
      ['other', 'noarchive'],
    ],
    productToken: 'portolan',
  })
  expect(directives).toEqual({
    noindex: true,
    nofollow: true,
    noarchive: false,
    source: 'X-Robots-Tag: noindex; meta robots: nofollow',
  })
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
        const found = pageDirectives({ xRobotsTag: headers, metaRobots: [], productToken: 'x' })
        expect(found).toMatchObject({ noindex, nofollow })
        expect(found.noarchive).toBe(headers.includes('none') ? !nocache : nocache)
      }
      for (const { html, noindex, nofollow } of material.vectors) {
        const content = /name="robots" content="([^"]*)"/i.exec(html)?.[1]
        const metaRobots = content === undefined ? [] : [['robots', content.toLowerCase()] as const]
        expect(pageDirectives({ xRobotsTag: [], metaRobots, productToken: 'x' })).toMatchObject({ noindex, nofollow })
      }
    })
  },
)
