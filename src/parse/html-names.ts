// The element and attribute names the HTML scanner cares about, and the white space of HTML. The kernel learns the names as it is
// made (page-walk.ts), and has some of the ids in its own source (kernel/parse/walk.ts, passages.ts).

import type { LinkKind } from './parsed-page.ts'

/** Ids of elements, below 64. 0 is every element that is not listed. */
export const TAG = {
  other: 0,
  a: 1,
  area: 2,
  audio: 3,
  base: 4,
  body: 5,
  embed: 6,
  form: 7,
  frame: 8,
  frameset: 9,
  html: 10,
  iframe: 11,
  image: 12,
  img: 13,
  input: 14,
  link: 15,
  math: 16,
  meta: 17,
  noembed: 18,
  noframes: 19,
  object: 20,
  plaintext: 21,
  script: 22,
  source: 23,
  style: 24,
  svg: 25,
  template: 26,
  textarea: 27,
  title: 28,
  track: 29,
  use: 30,
  video: 31,
  xmp: 32,
} as const

/** Ids of attributes, from 1 to 31: they are bits. */
export const ATTRIBUTE = {
  action: 1,
  background: 2,
  charset: 3,
  color: 4,
  content: 5,
  data: 6,
  encoding: 7,
  face: 8,
  href: 9,
  'http-equiv': 10,
  imagesrcset: 11,
  lang: 12,
  method: 13,
  name: 14,
  poster: 15,
  rel: 16,
  shadowrootmode: 17,
  size: 18,
  src: 19,
  srcset: 20,
  type: 21,
  'xlink:href': 22,
  'xml:lang': 23,
  style: 24,
} as const
export type AttributeId = (typeof ATTRIBUTE)[keyof typeof ATTRIBUTE]

/** Attributes without any of which an element means nothing. Those not named here always do. */
export const NEEDED: Partial<Record<keyof typeof TAG, readonly (keyof typeof ATTRIBUTE)[]>> = {
  a: ['href'],
  area: ['href'],
  audio: ['src'],
  base: ['href'],
  body: ['background'],
  embed: ['src'],
  frame: ['src'],
  html: ['lang', 'xml:lang'],
  image: ['src', 'srcset'],
  img: ['src', 'srcset'],
  input: ['src'],
  link: ['href', 'imagesrcset'],
  meta: ['charset', 'content'],
  object: ['data'],
  source: ['src', 'srcset'],
  track: ['src'],
  video: ['poster', 'src'],
}

/** Elements that are mostly a plain link and nothing else: the attribute it stands in, and its kind. */
export const PLAIN_LINKS = {
  a: ['href', 'a'],
  area: ['href', 'area'],
  img: ['src', 'img'],
  link: ['href', 'link'],
  script: ['src', 'script'],
} as const satisfies Partial<Record<keyof typeof TAG, readonly [keyof typeof ATTRIBUTE, LinkKind]>>

/** Tab, line feed, form feed, carriage return, space: the white space of HTML. */
export function isSpace(code: number): boolean {
  return code === 32 || (code <= 13 && (code === 10 || code === 9 || code === 13 || code === 12))
}

/** Without HTML white space at its ends. */
export function trimSpace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return start === 0 && end === text.length ? text : text.slice(start, end)
}
