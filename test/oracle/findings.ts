// What the scanner and what the oracle find in the same bytes, in one shape that can be compared.

import { decodeText, type ParseOptions, scanHtml } from '../../src/parse/index.ts'
import { type OraclePage, oraclePage, resolvedLinks } from './parse5-links.ts'

const PAGE_URL = 'http://site.example/directory/page'
/** As much of a title as is compared; the scanner cuts it. */
const TITLE_LENGTH = 500

export interface Findings {
  readonly links: readonly string[]
  readonly baseHref: string | null
  readonly title: string | null
  readonly language: string | null
  readonly canonical: string | null
}

/** Of the same bytes: what we find, and what parse5 finds once they are decoded in the encoding we found. */
export function bothFindings(
  bytes: Uint8Array,
  charset: string | null,
  options: ParseOptions,
): [ours: Findings, theirs: Findings] {
  const page = scanHtml(bytes, { charset }, options)
  const ours = { ...page, links: [...page.links] }
  return [findings(ours), findings(oraclePage(decodeText(bytes, page.encoding)))]
}

function findings(page: Pick<OraclePage, 'links' | 'baseHref' | 'title' | 'language' | 'canonical'>): Findings {
  // The standard makes line ends one before it reads; a URL has none in the end, so we need not.
  const plain = (value: string | null): string | null => value?.replace(/\r\n?/g, '\n') ?? null
  return {
    links: resolvedLinks(page.links, page.baseHref, PAGE_URL).sort(),
    baseHref: plain(page.baseHref),
    title: page.title?.slice(0, TITLE_LENGTH) ?? null,
    language: plain(page.language),
    canonical: plain(page.canonical),
  }
}

/** Whether no listed difference (src/parse/html-oracle.test.ts) can show in a page, those of svg and math aside. */
export function isComparable(html: string): boolean {
  return !/<(?:select|frameset)/i.test(html)
}
