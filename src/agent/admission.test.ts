// Two ways through admission, by bytes and by strings, lead to the same entries and the same fingerprints.

import { describe, expect, test } from 'vitest'
import { type RefusalReason, Random } from '../base/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import { LINK_KINDS, scanHtml } from '../parse/index.ts'
import { strategyOf } from '../strategy/index.ts'
import { strategyOptions } from '../strategy/options.ts'
import {
  type CanonicalUrl,
  compileCanonicaliser,
  compileScope,
  defaultKey,
  Fingerprinter,
  formatFingerprint,
  hostKeyOf,
} from '../url/index.ts'
import { MemoryUrlSeen } from '../url-seen/index.ts'
import { Admission, type AdmissionSink, seedEntry } from './admission.ts'

const PAGE = 'http://a.test/x/y.html' as CanonicalUrl

interface Told {
  readonly entries: FrontierEntry[]
  readonly refused: RefusalReason[]
  readonly held: string[]
  /** Fingerprint and host of every link in scope. */
  readonly linked: string[]
}

/** `byStrings`: a pattern that matches everything makes the scope look at every URL. */
function admissionOf(
  byStrings: boolean,
  maxDepth: number | null = null,
  seeds: readonly CanonicalUrl[] = [],
): Admission {
  const scope = compileScope({
    scope: 'host',
    include: [],
    exclude: byStrings ? [/^$/] : [],
    maxDepth,
    pathDepth: null,
    filter: null,
  })
  scope.addSeed(PAGE)
  return new Admission({
    canonicalise: compileCanonicaliser({ urlLength: 2_083, sessionIds: [] }),
    seeds,
    scope,
    fingerprinter: new Fingerprinter(defaultKey),
    seen: new MemoryUrlSeen(),
    strategy: strategyOf(strategyOptions.parse({})),
    follow: new Set(LINK_KINDS),
    owners: null,
    redirectsMax: 5,
    maxDepth,
    obeysNofollow: true,
  })
}

function admit(admission: Admission, html: string, depth = 1, mayFollow = true): Told {
  const told: Told = { entries: [], refused: [], held: [], linked: [] }
  const sink: AdmissionSink = {
    admitted: (entry) => told.entries.push(entry),
    abroad: () => expect.unreachable(),
    refused: (reason) => told.refused.push(reason),
    held: (entry) => told.held.push(entry.url),
    linked: ({ count, urls, high, low }) => {
      for (let i = 0; i < count; i++) {
        told.linked.push(`${hostKeyOf(urls[i] ?? PAGE)} ${formatFingerprint(high[i] ?? 0, low[i] ?? 0)}`)
      }
    },
  }
  const options = { linksPerPage: 100_000, titleLength: 100, simhash: false }
  const page = scanHtml(Buffer.from(html), { charset: 'utf-8' }, options)
  expect(admission.admitLinks({ url: PAGE, depth }, page, mayFollow, sink)).toBeUndefined()
  return told
}

describe('other schemes than those of the web', () => {
  /** Remembers what it is told. */
  const newSink = (): AdmissionSink & { entries: FrontierEntry[]; reasons: RefusalReason[] } => {
    const entries: FrontierEntry[] = []
    const reasons: RefusalReason[] = []
    const sink: AdmissionSink = {
      admitted: (entry) => entries.push(entry),
      abroad: () => expect.unreachable(),
      refused: (reason) => reasons.push(reason),
      held: () => undefined,
      linked: () => undefined,
    }
    return { ...sink, entries, reasons }
  }
  const host = hostKeyOf(PAGE)

  test('are followed once a seed has them, also a seed of an earlier run', async () => {
    const admission = admissionOf(true)
    const html = `<a href="ftp://${host}/a"><a href="gopher://${host}/1">`
    expect(admit(admission, html).refused).toEqual(['scheme', 'scheme'])
    await admission.admitSeed(`ftp://${host}/` as CanonicalUrl, newSink())
    const { refused, entries } = admit(admission, html)
    expect(refused).toEqual(['scheme'])
    expect(entries.map(({ url }) => url)).toEqual([`ftp://${host}/a`])
    expect(admit(admissionOf(true, null, [`gopher://${host}/` as CanonicalUrl]), html).refused).toEqual(['scheme'])
  })

  test('never lead from the web into files, whatever the seeds are, by link, base or redirect', async () => {
    const admission = admissionOf(true)
    await admission.admitSeed('file://localhost/corpus/' as CanonicalUrl, newSink())
    const page = '<a href="file:///corpus/a"><a href="file://localhost/corpus/b">'
    expect(admit(admission, page).refused).toEqual(['scheme', 'scheme'])
    expect(admit(admission, '<base href="file:///corpus/"><a href="c">').refused).toEqual(['scheme'])
    const redirect = newSink()
    await admission.admitRedirect(seedEntry(PAGE), 'file:///corpus/d', redirect)
    expect(redirect.reasons).toEqual(['scheme'])
    expect(redirect.entries).toEqual([])
    // Files lead to files.
    await admission.admitRedirect(seedEntry('file://localhost/corpus' as CanonicalUrl), 'file:///corpus/e', redirect)
    expect(redirect.entries.map(({ url }) => url)).toEqual(['file://localhost/corpus/e'])
  })
})

describe('the way by bytes and the way by strings', () => {
  const hrefs = [
    ...' /x/y.html #z z.html ./z.html ../w z?a=1&amp;b=2 caf%C3%A9 é http://a.test/v //a.test/u http://b.test/'.split(
      ' ',
    ),
    ...'mailto:a@b http://a.test:81/ http://a.test:81/t https://a.test/ https://b.test/s a/../b %7e x:y http:// z.html#q'.split(
      ' ',
    ),
  ]
  const random = new Random('admission')
  const html = (): string => {
    const links = Array.from({ length: random.below(700) }, () => {
      const rel = random.below(20) === 0 ? ' rel="nofollow"' : ''
      return `<a href=" ${random.pick(hrefs)}${random.below(4) === 0 ? random.below(50) : ''}"${rel}>`
    })
    return (random.below(5) === 0 ? `<base href="${random.pick(hrefs)}">` : '') + links.join('text')
  }

  test('tell the same of any page', () => {
    const byBytes = admissionOf(false)
    const byStrings = admissionOf(true)
    let admitted = 0
    for (let page = 0; page < 100; page++) {
      const text = html()
      const told = admit(byBytes, text)
      expect(told).toEqual(admit(byStrings, text))
      admitted += told.entries.length
    }
    expect(admitted).toBeGreaterThan(100)
  })

  test('tell the same of a page past the limit of depth, and of one that asks for no followers', () => {
    for (const mayFollow of [true, false]) {
      const text = html()
      expect(admit(admissionOf(false, 1), text, 1, mayFollow)).toEqual(admit(admissionOf(true, 1), text, 1, mayFollow))
    }
  })
})

test('of a page that links to itself and twice to another, one entry is born', () => {
  const admission = admissionOf(false)
  const told = admit(admission, '<a href="#top"><a href="z.html"><a href="/x/z.html#q">')
  expect(told.entries.map((entry) => [entry.url, entry.host, entry.depth, entry.via])).toEqual([
    [PAGE, 'a.test', 2, PAGE],
    ['http://a.test/x/z.html', 'a.test', 2, PAGE],
  ])
  expect(told.linked).toHaveLength(3)
  expect(admit(admission, '<a href="z.html">').entries).toEqual([])
})
