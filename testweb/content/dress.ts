// Pages in other languages: their encodings, where these are declared, and links that depend on them.

import { type Charset, encodeQueryWord } from './charset.ts'
import { type Language, QUERY_WORDS } from './filler.ts'
import type { Resource } from './layout.ts'
import { type Link, PlaceLink } from './link.ts'
import type { Variant } from './variant.ts'

export interface Dress {
  readonly language: Language
  readonly charset: Charset
  /** Content-Type, which may or may not name the charset. */
  readonly type: string
  /** First in <head>. */
  readonly head: string
}

export const PLAIN_DRESS: Dress = { language: 'en', charset: 'utf-8', type: 'text/html; charset=utf-8', head: '' }

const DRESSES: Partial<Record<Variant, Dress>> = {
  french: { language: 'fr', charset: 'iso-8859-1', type: 'text/html; charset=ISO-8859-1', head: '' },
  russian: { language: 'ru', charset: 'utf-8', type: 'text/html', head: '<meta charset="utf-8">\n' },
  'shift-jis': {
    language: 'ja',
    charset: 'shift_jis',
    type: 'text/html',
    head: '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">\n',
  },
  'euc-jp': { language: 'ja', charset: 'euc-jp', type: 'text/html;charset="euc-jp"', head: '' },
  'utf-16': { language: 'el', charset: 'utf-16le', type: 'text/html', head: '' },
}

export function dressOf(variant: Variant): Dress {
  return DRESSES[variant] ?? PLAIN_DRESS
}

/** The links of a page as they are written in its dress, and those it has because of it. */
export function dressLinks(resource: Resource, links: readonly Link[]): Link[] {
  const dress = dressOf(resource.variant)
  return dress === PLAIN_DRESS ? [...links] : [...links.map(withLetters), ...queryLinks(resource, dress)]
}

/** Whether a page has a link to this very search. */
export function isFindPath(resource: Resource, path: string): boolean {
  const dress = dressOf(resource.variant)
  return dress !== PLAIN_DRESS && queryLinks(resource, dress).some((link) => link.url === resource.host.origin + path)
}

/** Paths are UTF-8 whatever the page is in, so here the letter itself may stand for its bytes. */
function withLetters(link: Link): Link {
  const { href } = link
  return link instanceof PlaceLink && href.includes('%C3%A9') ? link.rewritten(href.replaceAll('%C3%A9', 'é')) : link
}

/** Links whose query holds letters: the encoding of the page decides their bytes. */
function queryLinks(resource: Resource, dress: Dress): Link[] {
  const words = [QUERY_WORDS[dress.language]]
  // Japanese cannot be said in Latin-1.
  if (dress.charset === 'iso-8859-1') words.push(QUERY_WORDS.ja)
  const path = `/find/${resource.number}?q=`
  return words.map((word) => ({
    kind: 'a',
    href: path + word,
    url: resource.host.origin + path + encodeQueryWord(word, dress.charset),
    isNofollow: false,
  }))
}
