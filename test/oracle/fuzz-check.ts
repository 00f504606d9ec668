// What must hold of any page whatever, and where scanner and oracle must agree.

import { isDeepStrictEqual } from 'node:util'
import { decodeText, scanHtml, visibleText } from '../../src/parse/index.ts'
import { parseOptions } from '../../src/parse/options.ts'
import type { FuzzPage } from './fuzz-pages.ts'
import { bothFindings, isComparable } from './findings.ts'

const options = parseOptions.parse({ linksPerPage: 10_000_000 })

export interface FuzzVerdict {
  /** Whether the oracle was asked; it is not where a listed difference may show. */
  readonly isCompared: boolean
  /** What is wrong; null when nothing is. */
  readonly problem: string | null
}

export function checkPage({ bytes, charset }: FuzzPage): FuzzVerdict {
  let isCompared = false
  try {
    const page = scanHtml(bytes, { charset }, options)
    // srcset may name a link by every character.
    if (page.links.length > bytes.length) return { isCompared, problem: `${page.links.length} links` }
    visibleText(bytes, page.encoding)
    const text = decodeText(bytes, page.encoding)
    isCompared = isComparable(text) && !isForeign(text) && !isDropped(text) && !mayBeReadTwice(text, page.encoding)
    if (!isCompared) return { isCompared, problem: null }
    const [ours, theirs] = bothFindings(bytes, charset, options)
    const isSame = isDeepStrictEqual(ours, theirs)
    return { isCompared, problem: isSame ? null : `${JSON.stringify(ours)} is not ${JSON.stringify(theirs)}` }
  } catch (cause) {
    return { isCompared, problem: `throws ${String(cause)}` }
  }
}

/** In svg and math the tree decides; src/parse/html-oracle.test.ts makes pages with them on purpose. */
function isForeign(text: string): boolean {
  return /<(?:svg|math)/i.test(text)
}

/** What stands wrongly is dropped by the tree, and with it its style; and parse5 lets table parts out of a template. */
function isDropped(text: string): boolean {
  return STYLED_PART.test(text) || (/<template/i.test(text) && /<t(?:able|body|d|foot|h|head|r)/i.test(text))
}

const STYLED_PART = /<(?:body|caption|col|colgroup|frame|head|html|tbody|td|tfoot|th|thead|tr)(?=[\s/>])[^]*?style/i

/** Values that are broken in a Japanese page, and escapes of ISO-2022-JP in any, are read in their own encoding (decision 0026). */
function mayBeReadTwice(text: string, encoding: string): boolean {
  return text.includes('\x1b') || ((encoding === 'shift_jis' || encoding === 'euc-jp') && text.includes('\uFFFD'))
}
