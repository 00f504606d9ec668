// Every decision, delay, sitemap and count in the robots material is checked. A case that is answered
// differently stands in DIFFERENCES with its reason; one listed there that agrees after all fails too.

import { describe, expect, test } from 'vitest'
import { hasMaterial, readMaterial } from '../../test/material.ts'
import { parseRobots, type RobotsFile } from './parse-robots.ts'
import { judgeRobotsAnswer } from './robots-answer.ts'

interface Case {
  readonly userAgent: string | readonly string[]
  readonly url: string
  readonly allowed: boolean | null
}
interface Group {
  readonly name: string
  readonly robotsTxt?: string | null
  readonly robotsTxtBase64?: string
  readonly cases: readonly Case[]
  readonly crawlDelays?: readonly { readonly userAgent: string; readonly crawlDelaySeconds: number | null }[]
  readonly sitemaps?: readonly string[]
  readonly sitemapCount?: number
  readonly matchingLines?: readonly { readonly userAgent: string; readonly url: string; readonly line: number }[]
}
interface Counted {
  readonly name: string
  readonly robotsTxtBase64: string
  readonly validDirectives: number
  readonly unknownDirectives?: number
  readonly lastLineSeen?: number
}
interface Material {
  readonly groups: readonly Group[]
  readonly parseCounts?: readonly Counted[]
  readonly statusCodes?: readonly { readonly status: number; readonly allowed: boolean }[]
  readonly statusEffects?: readonly { readonly status: number | string; readonly effect: string }[]
}

/** `file / group / user agent / path` → why we answer otherwise. docs/decisions/0003 argues the ones that matter. */
const DIFFERENCES = new Map<string, string>()

function differ(reason: string, prefix: string, ...ends: readonly string[]): void {
  for (const end of ends) DIFFERENCES.set(`${prefix} / ${end}`, reason)
}

differ(
  'RFC 9309 2.2.2 brings both sides to one form before comparing; Google takes the URL as it is given',
  'google-robotstxt.json',
  'ID_Encoding#2 / FooBot / /foo/bar/ツ',
  'ID_Encoding#3 / FooBot / /foo/bar/ツ',
  'ID_Encoding#4 / FooBot / /foo/bar/baz',
)
differ(
  'we ask with the product token, never with "Foo Bar"',
  'google-robotstxt.json / GoogleOnly_AcceptUserAgentUpToFirstSpace#1',
  'Foo Bar / /x/y',
)
differ(
  'Google alone reads "Allow: …/index.html" as allowing the directory; the RFC knows no such thing',
  'google-robotstxt.json / GoogleOnly_IndexHTMLisDirectory#1',
  'foobot / /allowed-slash/',
)
differ(
  'Google cuts lines at 16,664 octets; we read a line as long as it is',
  'google-robotstxt.json',
  `GoogleOnly_LineTooLong#1 / FooBot / /x/${'a'.repeat(57)}…`,
  `GoogleOnly_LineTooLong#2 / FooBot / /x/${'b'.repeat(57)}…`,
)
differ(
  'one of several names the asker goes by; a crawler of RFC 9309 has one product token',
  'crawler-commons.json / testNutchCases#2 / Agent5,Agent2,Agent1,Agent3,*',
  '/a',
  '/a/',
  '/a/bloh/foo.html',
  '/b/a',
  '/b/a/index.html',
  '/d',
  '/d/a',
  '/e/d/foo.html',
)
differ(
  'as above; the line holds a whole header, of which the first token counts',
  'crawler-commons.json',
  'testMatchingUserAgentNamesHttpHeader#1 / butterfly,butterfly/1.0,mozilla/5.0 (compatible; butterfly/1.0; ' +
    '+http://labs.topsy.com/butterfly/) gecko/2009032608 firefox/3.0.8 / /',
  'testMatchingUserAgentNamesHttpHeader#2 / butterfly,butterfly/1.0,butterfly/1.0; / /',
)
differ(
  'the older reading of a User-agent line as a list of names; RFC 9309 has one name per line',
  'crawler-commons.json',
  ...['/d', '/d/a', '/e/d/foo.html', '/foo/bar/baz.html'].map((path) => `testNutchCases2#1 / Agent3 / ${path}`),
  'testMultiAgentNames#1 / crawler2 / /index.html',
  'testSpacesInMultipleUserAgentNames#2 / Two / /fish',
  'testSpacesInMultipleUserAgentNames#2 / Three / /fish',
)
differ(
  'a policy of the library: a Crawl-delay above its limit forbids all. We cap the delay (crawlDelayMax)',
  'crawler-commons.json / testBigCrawlDelay#1',
  'bixo / /',
)
differ('a bare URL without "Sitemap:" is no Sitemap line', 'crawler-commons.json / testSitemap#1', 'sitemap count')
differ(
  '"Disallow: /*" has more octets than "Allow: /" and covers "/" too: RFC 9309 2.2.2 and Google say disallowed',
  'crawler-commons.json / testPrecedenceOfRules#1',
  'wget / /',
)
differ(
  'RFC 9309 2.2.4: a Crawl-delay does not end the head of a group, so the rule below it holds for * as well',
  'heritrix.json / testSeparatedSections#1',
  'c / /foo',
)
differ(
  "Heritrix's test runs with a limit of 5,000 characters; ours is 500 KiB",
  'heritrix.json / testSizeLimit#1',
  'b / /foo',
  'c / /foo',
)
differ(
  'half a surrogate pair has no octets; in a URL as in a file written as UTF-8 it becomes U+FFFD',
  'robots-parser.json / should handle lone high / low surrogates',
  '* / /\uDC00',
  '* / /\uD800',
)
differ('429 asks us to stay away for a while; treated as unreachable, as Google does', 'rfc9309.json', 'status 429')
differ('a redirect is followed; without a target the file counts as missing', 'crawler-commons.json', 'status 301')

const FILES = ['rfc9309.json', 'google-robotstxt.json', 'crawler-commons.json', 'heritrix.json', 'robots-parser.json']

/** The token a case asks with. Heritrix looks for names inside a whole header ("Mozilla allowbot1 99.9"); we ask for the name. */
function tokenOf(userAgent: string | readonly string[]): string {
  const first = typeof userAgent === 'string' ? userAgent : (userAgent[0] ?? '')
  return /^Mozilla (\S+) 99\.9$/.exec(first)?.[1] ?? first
}

function pathOf(url: string): string {
  const rest = /^[a-z]+:\/\/[^/?#]*(.*)$/i.exec(url)?.[1] ?? url
  const path = rest.split('#')[0] as string
  return path.startsWith('/') ? path : `/${path}`
}

function parse(group: { readonly robotsTxt?: string | null; readonly robotsTxtBase64?: string }): RobotsFile {
  if (group.robotsTxtBase64 !== undefined) return parseRobots(Buffer.from(group.robotsTxtBase64, 'base64'))
  return parseRobots(Buffer.from(group.robotsTxt ?? '', 'utf8'))
}

const met = new Set<string>()

function check(key: string, actual: unknown, expected: unknown): void {
  if (!DIFFERENCES.has(key)) {
    expect.soft(actual, key).toEqual(expected)
    return
  }
  met.add(key)
  expect.soft(actual, `${key} is listed as a difference but agrees`).not.toEqual(expected)
}

describe.skipIf(!hasMaterial)(
  hasMaterial ? 'the robots material' : 'the robots material (material not present)',
  () => {
    test.each(FILES)('decisions, delays and sitemaps of %s', (file) => {
      const material = readMaterial<Material>('robots', file) as Material
      for (const group of material.groups) {
        const robots = parse(group)
        for (const one of group.cases) {
          // "Not applicable": the URL belongs to another site. Which file holds for a URL is the agent's business.
          if (one.allowed === null) continue
          const path = pathOf(one.url)
          const shown = path.length > 60 ? `${path.slice(0, 60)}…` : path
          const key = `${file} / ${group.name} / ${String(one.userAgent)} / ${shown}`
          check(key, robots.rulesFor(tokenOf(one.userAgent)).decide(path).allowed, one.allowed)
        }
        for (const { userAgent, crawlDelaySeconds } of group.crawlDelays ?? []) {
          const expected = crawlDelaySeconds === null ? null : crawlDelaySeconds * 1_000
          const key = `${file} / ${group.name} / ${userAgent} / delay`
          check(key, robots.rulesFor(tokenOf(userAgent)).crawlDelayMs, expected)
        }
        for (const { userAgent, url, line } of group.matchingLines ?? []) {
          const key = `${file} / ${group.name} / ${userAgent} / line of ${pathOf(url)}`
          check(key, robots.rulesFor(userAgent).decide(pathOf(url)).line, line < 0 ? null : line)
        }
        if (group.sitemaps !== undefined) check(`${file} / ${group.name} / sitemaps`, robots.sitemaps, group.sitemaps)
        if (group.sitemapCount !== undefined) {
          check(`${file} / ${group.name} / sitemap count`, robots.sitemaps.length, group.sitemapCount)
        }
      }
    })

    test('lines are counted and known ones told from unknown ones', () => {
      const material = readMaterial<Material>('robots', 'google-robotstxt.json') as Material
      for (const one of material.parseCounts ?? []) {
        const { lines } = parse(one)
        const unknown = lines.filter((line) => line.kind === 'unknown').length
        check(`parseCounts / ${one.name} / valid`, lines.length - unknown, one.validDirectives)
        if (one.unknownDirectives !== undefined)
          check(`parseCounts / ${one.name} / unknown`, unknown, one.unknownDirectives)
        if (one.lastLineSeen !== undefined)
          check(`parseCounts / ${one.name} / last`, lines.at(-1)?.number, one.lastLineSeen)
      }
    })

    test('statuses mean what the RFC and crawler-commons say', () => {
      const effects = readMaterial<Material>('robots', 'rfc9309.json')?.statusEffects ?? []
      const words = {
        parse: 'parse',
        follow: 'follow redirect (>=5 hops)',
        'allow-all': 'allowAll',
        'disallow-all': 'disallowAll',
      }
      for (const { status, effect } of effects) {
        const answer = {
          status: typeof status === 'number' ? status : null,
          location: 'http://other/robots.txt',
          hops: 0,
        }
        check(`rfc9309.json / status ${status}`, words[judgeRobotsAnswer(answer)], effect)
      }
      for (const { status, allowed } of readMaterial<Material>('robots', 'crawler-commons.json')?.statusCodes ?? []) {
        const verdict = judgeRobotsAnswer({ status, location: null, hops: 0 })
        check(`crawler-commons.json / status ${status}`, verdict === 'allow-all', allowed)
      }
    })

    test('every listed difference was met', () => {
      expect([...DIFFERENCES.keys()].filter((key) => !met.has(key))).toEqual([])
    })
  },
)
