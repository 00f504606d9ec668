// What a page shows beside its text: its title, and the pictures, films and frames in it. Galleries and film sites have little
// text of their own on any page; where the face is another, the page is, wherever its pictures lie and whether or not
// they are in scope.

import { LINK_KINDS, type LinkKind, type LinkSpans, MEANS_KIND } from '../parse/index.ts'
import { hashRange } from './url-shape.ts'

const SHOWN: ReadonlySet<LinkKind> = new Set<LinkKind>(['frame', 'iframe', 'img', 'media', 'object'])
const IS_SHOWN: readonly boolean[] = LINK_KINDS.map((kind) => SHOWN.has(kind))

/** 32 bits of what is shown, in its order; 0 where nothing is. */
export function shownBy(spans: LinkSpans | null): number {
  let shown = 0
  if (spans === null) return shown
  const { places, bytes, count } = spans
  for (let at = 0; at < count; at++) {
    if (IS_SHOWN[(places[3 * at + 2] as number) & MEANS_KIND] !== true) continue
    const start = places[3 * at] as number
    if (start === -1) {
      const href = spans.href(at)
      shown = hashRange(href, 0, href.length, shown)
      continue
    }
    const end = places[3 * at + 1] as number
    for (let position = start; position < end; position++) {
      shown = Math.imul(shown ^ (bytes[position] as number), 0x01000193)
    }
    shown = Math.imul(shown ^ (shown >>> 15), 0x2c1b3c6d)
  }
  return shown
}

/** 32 bits of a title; numbers in it are any, for every page of a flood has one. */
export function titleMark(title: string | null): number {
  let mark = 0x811c9dc5
  if (title === null) return mark
  for (let at = 0; at < title.length && at < TITLE_LENGTH; at++) {
    const code = title.charCodeAt(at)
    if (code < 48 || code > 57) mark = Math.imul(mark ^ code, 0x01000193)
  }
  return mark ^ (mark >>> 15)
}

/** What is looked at of a title: those of pages and of "not found" pages may be kept at other lengths. */
const TITLE_LENGTH = 80
