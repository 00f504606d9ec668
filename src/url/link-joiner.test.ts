// The joiner against canonicalise() and Fingerprinter, which it must equal wherever it answers.

import { describe, expect, test } from 'vitest'
import { Random } from '../base/index.ts'
import { BaseUrl } from './base-url.ts'
import type { CanonicalUrl } from './canonical-url.ts'
import { canonicalise, compileCanonicaliser } from './canonicalise.ts'
import { defaultKey, Fingerprinter } from './fingerprint.ts'
import { JOINED, LinkJoiner } from './link-joiner.ts'
import { type LinkPlaces, MEANS_AMPERSANDS } from './link-places.ts'

const LENGTH_MAX = 2_083

function baseOf(url: string): BaseUrl {
  return BaseUrl.of(canonicalise(url) as CanonicalUrl)
}

/** Links inside a page, each behind another; a '&' is written `&amp;`. */
function pageOf(hrefs: readonly string[]): LinkPlaces {
  let text = ''
  const places: number[] = []
  for (const href of hrefs) {
    const written = href.replaceAll('&', '&amp;')
    text += '<a href="'
    places.push(text.length, text.length + written.length, href.includes('&') ? MEANS_AMPERSANDS : 0)
    text += `${written}">/x?y#`
  }
  return { bytes: Buffer.from(text, 'latin1'), places }
}

/** What the joiner said last of the first link. */
function outcomeOf(joiner: LinkJoiner<string>): number {
  return joiner.outcomes[0] ?? JOINED.left
}

type Joined = [url: string | null, high: number, low: number]

/** URLs and fingerprints of links as the joiner has them; null where it steps aside. */
function allJoined(joiner: LinkJoiner<string>, hrefs: readonly string[], base: BaseUrl): (Joined | null)[] {
  const links = pageOf(hrefs)
  if (!joiner.begin(base) || !joiner.joinAll(links, 0, hrefs.length)) return hrefs.map(() => null)
  const { outcomes, highs, lows } = joiner
  const found = hrefs.map((_, i): Joined | null =>
    (outcomes[i] ?? 0) < JOINED.base ? null : [null, highs[i] ?? 0, lows[i] ?? 0],
  )
  for (const [i, one] of found.entries()) if (one !== null) one[0] = joiner.urlOf(links, i)
  return found
}

function joined(joiner: LinkJoiner<string>, href: string, base: BaseUrl): Joined | null {
  return allJoined(joiner, [href], base)[0] ?? null
}

function expected(href: string, base: BaseUrl): Joined | null {
  const url = canonicalise(href, base)
  if (typeof url !== 'string') return null
  const fingerprinter = new Fingerprinter(defaultKey)
  fingerprinter.compute(url)
  return [url, fingerprinter.high, fingerprinter.low]
}

/** The same where URLs may be longer than usual. */
function expectedLong(href: string, base: BaseUrl): Joined | null {
  const url = `${base.directory}${href}` as CanonicalUrl
  const fingerprinter = new Fingerprinter(defaultKey)
  fingerprinter.compute(url)
  return [url, fingerprinter.high, fingerprinter.low]
}

const BASE = 'https://example.org/a/b/c.html?q=1'

test.each([
  ['', BASE],
  ['#part', BASE],
  ['d.html', 'https://example.org/a/b/d.html'],
  ['d.html#part', 'https://example.org/a/b/d.html'],
  ['d/e/?x=1&y=/../', 'https://example.org/a/b/d/e/?x=1&y=/../'],
  ['/', 'https://example.org/'],
  ['/d', 'https://example.org/d'],
  ['./d', 'https://example.org/a/b/d'],
  ['../d', 'https://example.org/a/d'],
  ['../../../d', 'https://example.org/d'],
  ['.d', 'https://example.org/a/b/.d'],
  ['..', null],
  ['a/../b', null],
  ['caf%C3%A9', 'https://example.org/a/b/caf%C3%A9'],
  ['%7e', null],
  ['%4', null],
  ['?r=2', null],
  ['//example.org/d', null],
  ['https://example.org/d', 'https://example.org/d'],
  ['https://example.org', null],
  ['https://example.org:8443/d', null],
  ['https://example.org.test/d', null],
  ['http://example.org/d', null],
  ['mailto:d', null],
  ['d:e', null],
  ['/d:e', 'https://example.org/d:e'],
  ['d e', null],
  ['d\\e', null],
])('%j on a page leads to %j', (href, url) => {
  const base = baseOf(BASE)
  const found = joined(new LinkJoiner<string>(defaultKey, LENGTH_MAX), href, base)
  expect(found?.[0] ?? null).toBe(url)
  if (url !== null) expect(found).toEqual(expected(href, base))
})

describe('over generated links', () => {
  const starts = [
    '',
    '',
    '',
    '/',
    '/',
    './',
    '../',
    '../../',
    '//',
    'http://h/',
    '//h/',
    'http://h:81/',
    'https://xn--a/',
    'https://example.org/',
    'x:',
    '.',
    '..',
  ]
  const pieces = [
    ...'/ / . .. ../ ? # : @ & = ; ~ % %41 %2E %20 %C3 %2f \\ a b index.html page 1 é + !'.split(' '),
    ' ',
  ]
  const bases = ['https://example.org/', BASE, 'http://h/x//y/', 'http://127.0.0.1:8080/x/y', 'ftp://f.test/a/b'].map(
    baseOf,
  )
  const random = new Random('joiner')
  const link = (): string => {
    let text = random.pick(starts)
    for (let left = random.below(8); left > 0; left--) text += random.pick(pieces)
    return text.trim()
  }

  test('whatever it joins is what canonicalise() and Fingerprinter say, also after pages of other hosts', () => {
    const joiner = new LinkJoiner<string>(defaultKey, LENGTH_MAX)
    let answers = 0
    for (let page = 0; page < 5_000; page++) {
      const hrefs = Array.from({ length: random.below(20) }, link)
      const base = random.pick(bases)
      const found = allJoined(joiner, hrefs, base)
      const missed = hrefs.filter((_, i) => joiner.outcomes[i] === JOINED.missed)
      for (const [i, one] of found.entries()) {
        if (one === null) continue
        answers++
        const href = hrefs[i] ?? ''
        const wanted = expected(href, base)
        if (wanted === null || one.some((part, place) => part !== wanted[place])) {
          expect.fail(`${JSON.stringify(href)} on ${base.href}: ${JSON.stringify(one)}, not ${JSON.stringify(wanted)}`)
        }
      }
      for (const href of missed) {
        const canonical = canonicalise(href, base)
        if (typeof canonical === 'string') joiner.learn(canonical)
      }
    }
    expect(answers).toBeGreaterThan(10_000)
  })

  test('more origins than it remembers are forgotten and learnt again, each with its own notes', () => {
    const joiner = new LinkJoiner<string>(defaultKey, LENGTH_MAX)
    const hrefs = Array.from(
      { length: 9_000 },
      (_, i) => `${i % 2 === 0 ? 'http' : 'https'}://h${i}.test:${i % 7 === 0 ? 81 : 82}/x`,
    )
    for (const href of hrefs) {
      // Every page is another: what is full is emptied between two.
      const base = baseOf(BASE)
      joiner.begin(base)
      joiner.learn(href as CanonicalUrl)
      expect(joined(joiner, href, base)).toEqual(expected(href, base))
      const origin = joiner.originOf(outcomeOf(joiner))
      expect(origin).toEqual({ root: href.slice(0, -1), note: undefined })
      if (origin !== null) origin.note = href
    }
    const base = baseOf(BASE)
    const known = hrefs.filter((href) => joined(joiner, href, base) !== null)
    expect(known.length).toBeGreaterThan(100)
    expect(known.length).toBeLessThanOrEqual(4_096)
    for (const href of known) {
      joined(joiner, href, base)
      expect(joiner.originOf(outcomeOf(joiner))?.note).toBe(href)
    }
  })

  test('links further apart than it looks at are left to canonicalise(), and those of long pages are found in their part', () => {
    const joiner = new LinkJoiner<string>(defaultKey, LENGTH_MAX)
    const base = baseOf(BASE)
    const bytes = Buffer.alloc(3 * 2 ** 20, ' ')
    bytes.write('d.html', 2 * 2 ** 20, 'latin1')
    const far = { bytes, places: [0, 1, 0, 2 * 2 ** 20, 2 * 2 ** 20 + 6, 0] }
    expect(joiner.begin(base) && joiner.joinAll(far, 0, 2)).toBe(false)
    expect(joiner.joinAll(far, 1, 2)).toBe(true)
    expect(joiner.urlOf(far, 1)).toBe('https://example.org/a/b/d.html')
    // And after another page was looked at.
    joined(joiner, 'other', base)
    expect(joiner.urlOf(far, 1)).toBe('https://example.org/a/b/d.html')
  })
})

test('a link that would be too long is left to canonicalise()', () => {
  const base = baseOf('http://a.test/')
  const joiner = new LinkJoiner<string>(defaultKey, 20)
  expect(joined(joiner, '123456', base)?.[0]).toBe('http://a.test/123456')
  expect(joined(joiner, '1234567', base)).toBeNull()
})

test('a base that is longer than there is room for leaves all links to canonicalise(), and those of later pages as they are', () => {
  const joiner = new LinkJoiner<string>(defaultKey, 65_536)
  const before = baseOf(BASE)
  expect(joined(joiner, 'd', before)).toEqual(expected('d', before))
  for (const length of [4_090, 4_095, 4_096, 4_200, 60_000]) {
    const base = BaseUrl.of(`https://example.org/${'a'.repeat(length - 21)}/` as CanonicalUrl)
    expect(base.href.length).toBe(length)
    const found = joined(joiner, 'd', base)
    expect(found).toEqual(length < 4_096 ? expectedLong('d', base) : null)
  }
  const after = baseOf('https://other.test/x')
  for (const base of [before, after]) expect(joined(joiner, 'd', base)).toEqual(expected('d', base))
})

test('a base that is no plain URL, or a canonicaliser that does more than join, leaves all links to it', () => {
  const gopher = BaseUrl.of(canonicalise('gopher://g.test/1/a') as CanonicalUrl)
  expect(joined(new LinkJoiner<string>(defaultKey, LENGTH_MAX), 'b', gopher)).toBeNull()
  const { plainLengthMax } = compileCanonicaliser({ urlLength: LENGTH_MAX, sessionIds: ['sid'] })
  expect(joined(new LinkJoiner<string>(defaultKey, plainLengthMax), 'b', baseOf(BASE))).toBeNull()
})

describe('links to other origins', () => {
  const base = baseOf(BASE)

  test('are joined once a URL of the origin was learnt', () => {
    const joiner = new LinkJoiner<string>(defaultKey, LENGTH_MAX)
    const hrefs = ['http://192.0.2.7:81/', 'http://192.0.2.7:81/a?b#c', 'https://other.test/x', '//other.test/y']
    for (const href of hrefs) {
      expect(joined(joiner, href, base)).toBeNull()
      expect(outcomeOf(joiner)).toBe(JOINED.missed)
    }
    joiner.learn('http://192.0.2.7:81/z' as CanonicalUrl)
    joiner.learn('https://other.test/' as CanonicalUrl)
    for (const href of hrefs) {
      expect(joined(joiner, href, base)).toEqual(expected(href, base))
    }
    expect(joiner.originOf(outcomeOf(joiner))?.root).toBe('https://other.test/')
    expect(joined(joiner, 'd', base)).toEqual(expected('d', base))
    expect(joiner.originOf(outcomeOf(joiner))).toBeNull()
    joiner.forget()
    expect(joined(joiner, 'https://other.test/x', base)).toBeNull()
  })

  test.each([
    'http://other.test/',
    'https://other.test:81/',
    'https://other.tes/',
    'https://Other.test/',
    'https://other.test',
  ])('that differ from a learnt one stay unknown: %s', (href) => {
    const joiner = new LinkJoiner<string>(defaultKey, LENGTH_MAX)
    joiner.learn('https://other.test/' as CanonicalUrl)
    expect(joined(joiner, href, base)).toBeNull()
  })

  test('keep the note that was made of their origin', () => {
    const joiner = new LinkJoiner<string>(defaultKey, LENGTH_MAX)
    joiner.learn('https://other.test/' as CanonicalUrl)
    joined(joiner, 'https://other.test/x', base)
    const origin = joiner.originOf(outcomeOf(joiner))
    expect(origin).toEqual({ root: 'https://other.test/', note: undefined })
    if (origin !== null) origin.note = 'far'
    joined(joiner, 'd', base)
    joined(joiner, '//other.test/y', base)
    expect(joiner.originOf(outcomeOf(joiner))?.note).toBe('far')
  })
})

test('the root of the page is known to whoever asks for no URL', () => {
  const joiner = new LinkJoiner<string>(defaultKey, LENGTH_MAX)
  joiner.begin(baseOf('http://127.0.0.1:8080/x'))
  expect(joiner.own.root).toBe('http://127.0.0.1:8080/')
})

test('what is noted of the origin of a page holds for its other pages, until all is forgotten', () => {
  const joiner = new LinkJoiner<string>(defaultKey, LENGTH_MAX)
  const base = baseOf('http://a.test/x')
  joiner.begin(base)
  joiner.own.note = 'near'
  joiner.begin(baseOf('http://b.test/x'))
  expect(joiner.own.note).toBeUndefined()
  joiner.begin(baseOf('http://a.test/y/z?q'))
  expect(joiner.own).toEqual(expect.objectContaining({ root: 'http://a.test/', note: 'near' }))
  joiner.begin(base)
  joiner.forget()
  joiner.begin(base)
  expect(joiner.own.note).toBeUndefined()
  expect(joined(joiner, 'd', base)).toEqual(expected('d', base))
})
