// Older encodings: what we write is what the platform reads, and queries are encoded as browsers do.

import { describe, expect, test } from 'vitest'
import { type Charset, encode, encodeQueryWord } from './charset.ts'
import { Filler, type Language } from './filler.ts'
import { Web } from './web.ts'

describe('encode', () => {
  test.each<[Charset, Language]>([
    ['utf-8', 'ru'],
    ['iso-8859-1', 'fr'],
    ['shift_jis', 'ja'],
    ['euc-jp', 'ja'],
    ['utf-16le', 'el'],
  ])('%s is read back by TextDecoder', (charset, language) => {
    const text = new Filler().take(language, 5, 5_000)
    expect(new TextDecoder(charset).decode(encode(text, charset))).toBe(text)
  })

  test('what an encoding cannot say becomes a character reference', () => {
    expect(Buffer.from(encode('a日é', 'iso-8859-1')).toString('latin1')).toBe('a&#26085;é')
  })
})

describe('a word in a query', () => {
  // The expected values are those of the URL standard's "percent-encode after encoding".
  test.each<[string, Charset, string]>([
    ['日本', 'utf-8', '%E6%97%A5%E6%9C%AC'],
    ['日本', 'utf-16le', '%E6%97%A5%E6%9C%AC'],
    ['日本', 'shift_jis', '%93%FA%96{'],
    ['日本', 'euc-jp', '%C6%FC%CB%DC'],
    ['île', 'iso-8859-1', '%EEle'],
    ['日', 'iso-8859-1', '%26%2326085%3B'],
  ])('%s in a page in %s is %s', (word, charset, expected) => {
    expect(encodeQueryWord(word, charset)).toBe(expected)
  })

  test.each(['french', 'russian', 'shift-jis', 'euc-jp', 'utf-16'] as const)(
    'the link on a %s page leads to a page',
    (variant) => {
      const web = new Web({}, { http: 8_000, https: null })
      const links = web.answerUrl(web.exhibit(variant))!.links.filter((link) => link.href.includes('?q='))
      expect(links.length).toBeGreaterThan(0)
      for (const link of links) {
        expect(web.answerUrl(link.url!)!.status).toBe(200)
        // Written in the wrong encoding it leads nowhere.
        if (variant !== 'russian' && variant !== 'utf-16') {
          expect(web.answerUrl(new URL(link.href, web.exhibit(variant)).href)!.status).toBe(404)
        }
      }
    },
  )
})
