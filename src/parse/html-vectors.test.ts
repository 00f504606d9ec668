// Pages and answers of Scrapy, w3lib and Nutch. Where they speak of what browsers do we agree; where they
// chose otherwise, the difference is listed with its reason, and a listed difference that disappears fails.

import { describe, expect, test } from 'vitest'
import { readMaterial } from '../../test/material.ts'
import { scanHtml } from './html.ts'
import { parseOptions } from './options.ts'
import type { ParsedPage } from './parsed-page.ts'

const options = parseOptions.parse({})

type Text = string | { bytesLatin1: string }

function scan(text: Text, charset = 'utf-8'): ParsedPage {
  const bytes = typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.bytesLatin1, 'latin1')
  return scanHtml(bytes, { charset }, options)
}

interface W3libVector {
  function: string
  args: [Text, Text?, string?]
  options: { encoding?: string; ignore_tags?: string[] } | null
  expected: unknown
  test: string
}
const W3LIB_DIFFERENCES: Readonly<Record<string, string>> = {
  'TestGetBaseUrl.test_base_url_in_script <noscript': 'we run no scripts, so noscript counts',
  'TestGetBaseUrl.test_get_base_url_latin1_percent': 'case of escapes is for `url` to settle',
  'TestGetMetaRefresh.test_get_meta_refresh_unterminated_tag': 'a tag the page ends in is none to a browser',
  'TestGetMetaRefresh.test_inside_noscript': 'we run no scripts, so noscript counts',
  'TestGetMetaRefresh.test_inside_script': 'w3lib can be told to look into scripts',
}

function expectSame(vector: W3libVector, ours: string | null, theirs: string | null): void {
  const html = typeof vector.args[0] === 'string' ? vector.args[0] : ''
  const isListed = Object.keys(W3LIB_DIFFERENCES).some(
    (key) =>
      vector.test === key || (key.startsWith(`${vector.test} `) && html.includes(key.slice(vector.test.length + 1))),
  )
  if (!isListed) expect(ours).toBe(theirs)
}

const w3lib = readMaterial<{ vectors: W3libVector[] }>('html', 'w3lib-html.json')
describe.skipIf(w3lib === null)('pages of w3lib (skipped where the material is not present)', () => {
  const of = (name: string): W3libVector[] => (w3lib?.vectors ?? []).filter((vector) => vector.function === name)

  test.each(of('get_base_url'))('$test', (vector) => {
    const url = vector.args[1] ?? 'http://none.invalid/'
    const text = typeof url === 'string' ? url : url.bytesLatin1
    const page = scan(vector.args[0])
    const base = page.baseHref === null ? text : URL.parse(page.baseHref, text)?.href
    expectSame(vector, base ?? null, vector.expected === '' ? 'http://none.invalid/' : String(vector.expected))
  })

  test.each(of('get_meta_refresh'))('$test', (vector) => {
    const encoding = vector.args[2] ?? 'utf-8'
    const page = scan(vector.args[0], encoding)
    const refresh = page.links.find(({ kind }) => kind === 'refresh')
    const url = refresh === undefined ? null : (URL.parse(refresh.href, String(vector.args[1]))?.href ?? null)
    // Queries in the page's encoding are the work of `url`.
    const theirs = (vector.expected as [number | null, string | null])[1]?.replace('%B5', '%C2%B5') ?? null
    expectSame(vector, url, theirs === null ? null : URL.parse(theirs)!.href)
  })

  test('every listed difference is one', () => {
    const names = new Set((w3lib?.vectors ?? []).map((vector) => vector.test))
    for (const key of Object.keys(W3LIB_DIFFERENCES)) expect(names).toContain(key.split(' ')[0])
    expect(scan('<noscript><base href=x>').baseHref).toBe('x')
    expect(scan('<meta http-equiv="refresh" content="5;url=newpage"').links).toEqual([])
  })
})

interface ScrapyVector {
  test: string
  url: string
  html?: string
  htmlBase64?: string
  encoding: string | null
  options: Record<string, unknown>
  expectedLinks: { url: string; nofollow: boolean }[]
}
const scrapy = readMaterial<{ vectors: ScrapyVector[] }>('html', 'scrapy-linkextractor.json')
describe.skipIf(scrapy === null)('pages of Scrapy (skipped where the material is not present)', () => {
  // With options Scrapy looks at parts of a page only, or at other attributes; extensions it drops by default.
  const vectors = (scrapy?.vectors ?? []).filter(
    ({ options: given, test: name }) => Object.keys(given).length === 0 && name !== 'test_ignored_extensions',
  )
  test.each(vectors)('$test', ({ html, htmlBase64, url, encoding, expectedLinks }) => {
    const bytes = html === undefined ? Buffer.from(htmlBase64!, 'base64') : Buffer.from(html)
    const page = scanHtml(bytes, { charset: encoding ?? 'utf-8' }, options)
    const base = page.baseHref === null ? url : URL.parse(page.baseHref, url)!.href
    const normal = (href: string): string => URL.parse(href, base)?.href ?? ''
    const ours = page.links
      .filter(({ kind, href }) => (kind === 'a' || kind === 'area') && /^(?:https?|ftp|file):/.test(normal(href)))
      .map(({ href, isNofollow }) => `${normal(href)} ${isNofollow}`)
    const theirs = expectedLinks.map((link) => `${normal(link.url)} ${link.nofollow}`)
    expect([...new Set(ours)].sort()).toEqual([...new Set(theirs)].sort())
  })
})

const nutch = readMaterial<{
  vectors: { html: string; noindex: boolean; nofollow: boolean; baseHref: string | null }[]
}>('html', 'nutch-robots-meta.json')
describe.skipIf(nutch === null)('pages of Nutch (skipped where the material is not present)', () => {
  test.each(nutch?.vectors ?? [])('$html', ({ html, noindex, nofollow, baseHref }) => {
    const page = scan(html)
    const words = new Set(page.metaRobots.flatMap(([, content]) => content.split(/[\s,]+/)))
    expect(words.has('noindex') || words.has('none')).toBe(noindex)
    expect(words.has('nofollow') || words.has('none')).toBe(nofollow)
    expect(page.baseHref === null ? null : URL.parse(page.baseHref)?.href).toBe(
      baseHref === null ? null : URL.parse(baseHref)?.href,
    )
  })
})
