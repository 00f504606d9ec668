// The page by which a host says that there is none: learnt from answers that admit it by their status, or told by a title.

import { type ParseOptions, scanHtml, type Sketch } from '../parse/index.ts'
import { titleMark } from './face.ts'
import { isNear } from './near.ts'

/** Sketches and titles of a host's answers of 404 and 410. */
export type MissingPages = { readonly high: number; readonly low: number; readonly title: number }[]

const SKETCHES_MAX = 4

/** As sites of many languages put it. One page with such a title proves nothing: there are songs of that name. */
const SAYS_MISSING =
  /\b404\b|not found|no longer (?:available|exists)|does(?: not|n’t|n't) exist|nicht gefunden|introuvable|no encontrad|non trovata|niet gevonden|nie znaleziono|não encontrad|не найден|bulunamadı|見つかりません|未找到|找不到|찾을 수 없/i

/** Only text and title of such a page are of interest. */
const PARSE: ParseOptions = { linksPerPage: 1, titleLength: 80, simhash: true }

export function saysMissing(title: string | null): boolean {
  return title !== null && SAYS_MISSING.test(title)
}

/** An answer of 404 or 410 in HTML. Only the first few of a host are read. */
export function learnMissing(known: MissingPages, read: () => Uint8Array, charset: string | null): void {
  if (known.length >= SKETCHES_MAX) return
  const { sketch, title } = scanHtml(read(), { charset }, PARSE)
  if (sketch === null || known.some((one) => isNear(one, sketch, 0))) return
  known.push({ high: sketch.high, low: sketch.low, title: titleMark(title) })
}

/** Whether a page of status 200 is one of them. Its title too: where all pages are mostly menu, "not found" is so as well. */
export function isMissingPage(known: MissingPages, sketch: Sketch, title: number, bits: number): boolean {
  return known.some((one) => one.title === title && isNear(one, sketch, bits))
}
