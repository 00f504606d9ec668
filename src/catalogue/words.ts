// The words by which a page is found: those of its title, or of its URL where it has none.
//
//   'Über uns – Café №5'  →  uber uns cafe no5          small letters, without accents, each word once
//   '東京 guide'           →  東 京 guide                 scripts without spaces: every character a word
//
// The same for what is looked for. Bounded: a title may be as long as its page.

import type { PageRecord } from '../store/index.ts'

/** Words of one page that it is found by. */
export const WORDS_PER_PAGE_MAX = 32
/** Of a word so many characters count, */
const WORD_LENGTH_MAX = 32
/** and of a text. */
const TEXT_LENGTH_MAX = 1_000
/** Beginnings of words up to this length have lists of their own. */
export const PREFIX_LENGTH_MAX = 3

const ASCII = /^[\u0000-\u007f]*$/
const ASCII_WORD = /[a-z0-9]+/g
const WORD = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|[[\p{L}\p{N}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]]+/gv
const MARKS = /\p{M}+/gu

/** Each once, in the order they stand. */
export function wordsOf(text: string): string[] {
  const short = text.length > TEXT_LENGTH_MAX ? text.slice(0, TEXT_LENGTH_MAX) : text
  const found = ASCII.test(short)
    ? short.toLowerCase().match(ASCII_WORD)
    : short.normalize('NFKD').toLowerCase().normalize('NFKD').replace(MARKS, '').match(WORD)
  if (found === null) return []
  const words: string[] = []
  for (const one of found) {
    const word = one.length > WORD_LENGTH_MAX ? cut(one, WORD_LENGTH_MAX) : one
    if (words.includes(word)) continue
    words.push(word)
    if (words.length === WORDS_PER_PAGE_MAX) break
  }
  return words
}

export function wordsOfPage({ title, url }: Pick<PageRecord, 'title' | 'url'>): string[] {
  if (typeof title === 'string') {
    const words = wordsOf(title)
    if (words.length > 0) return words
  }
  return wordsOf(readable(url.slice(url.indexOf('://') + 3)))
}

/** Whether a page with these words is meant: all must be there, the last may be a beginning. */
export function hasWords(words: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((word, index) =>
    index === wanted.length - 1 ? words.some((one) => one.startsWith(word)) : words.includes(word),
  )
}

/** So many characters; none is halved. */
export function cut(word: string, length: number): string {
  const end = isHighSurrogate(word.charCodeAt(length - 1)) ? length - 1 : length
  return word.slice(0, Math.max(end, isHighSurrogate(word.charCodeAt(0)) ? 2 : 1))
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

function readable(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
