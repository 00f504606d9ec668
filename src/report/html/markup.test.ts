// Nothing that came from the web may become markup, in text, in attributes, or as a link that acts.

import * as fc from 'fast-check'
import { parseFragment } from 'parse5'
import { expect, test } from 'vitest'
import { escapeHtml, html, shorten, urlLink } from './markup.ts'

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</title></style><svg onload=alert(1)>',
  '&lt;b&gt;',
]

test.each(HOSTILE)('%s stays text in a body and in an attribute', (text) => {
  const fragment = parseFragment(html`<p title="${text}">${text}</p>`.text)
  expect(fragment.childNodes).toHaveLength(1)
  const paragraph = fragment.childNodes[0] as unknown as {
    attrs: { name: string; value: string }[]
    childNodes: { value: string }[]
  }
  expect(paragraph.attrs).toEqual([{ name: 'title', value: text }])
  expect(paragraph.childNodes.map((node) => node.value)).toEqual([text])
})

test('any text parses back as itself, but for invisible characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const fragment = parseFragment(`<p>${escapeHtml(text)}</p>`)
      const paragraph = fragment.childNodes[0] as unknown as { childNodes: { value: string }[] }
      const shown = text.replaceAll(/(?![\t\n])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, '\ufffd')
      expect(paragraph.childNodes.map((node) => node.value).join('')).toBe(shown)
    }),
    { numRuns: 1_000, examples: [['a line\u2028its end\u2029'], ['\u0085\u202e\t']] },
  )
})

test('a direction mark is made visible', () => {
  expect(escapeHtml('gpj.\u202eexe')).toBe('gpj.\ufffdexe')
})

test.each(['javascript:alert(1)', 'JAVASCRIPT:alert(1)', 'data:text/html,x', ' http://x/', '//x/', 'ftp://x/y', ''])(
  '%s never becomes a link',
  (url) => expect(urlLink(url).text).not.toContain('<a'),
)

test('an http URL becomes a link that gives nothing away', () => {
  expect(urlLink('https://a.example/?x="&y').text).toBe(
    '<a class="url" href="https://a.example/?x=&quot;&amp;y" rel="noreferrer noopener nofollow">https://a.example/?x=&quot;&amp;y</a>',
  )
})

test('an absurdly long URL is bounded in text and in link', () => {
  expect(urlLink(`http://a.example/${'x'.repeat(100_000)}`).text.length).toBeLessThan(1_000)
})

test('a shortened text keeps its beginning and its end', () => {
  const text = `http://a.example/${'x'.repeat(300)}/last.html`
  expect(shorten(text)).toHaveLength(160)
  expect(shorten(text)).toMatch(/^http:\/\/a\.example\/x+…x+\/last\.html$/)
  expect(shorten('short')).toBe('short')
})
