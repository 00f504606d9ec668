// The page by which a host says that there is none, learnt from answers that admit it: status 404 and 410, and titles.

import { parseOptions, scanHtml, type Sketch } from '../parse/index.ts'
import { isNear } from './floods.ts'

/** What is remembered of one host. */
export interface MissingPage {
  readonly sketches: { readonly high: number; readonly low: number }[]
  /** The last page whose title said so, which alone is no proof: there are songs of that name. */
  titled: { readonly high: number; readonly low: number; readonly url: string } | null
}

const SKETCHES_MAX = 4

/** As sites of many languages put it. */
const SAYS_MISSING =
  /\b404\b|not found|no longer (?:available|exists)|does(?: not|n’t|n't) exist|nicht gefunden|introuvable|no encontrad|non trovata|niet gevonden|nie znaleziono|não encontrad|не найден|bulunamadı|見つかりません|未找到|找不到|찾을 수 없/i

const PARSE = parseOptions.parse({ linksPerPage: 1 })

export function newMissingPage(): MissingPage {
  return { sketches: [], titled: null }
}

/** An answer of 404 or 410 in HTML. Only the first few of a host are read. */
export function learnMissing(known: MissingPage, bytes: Uint8Array, charset: string | null): void {
  if (known.sketches.length >= SKETCHES_MAX) return
  const { sketch } = scanHtml(bytes, { charset }, PARSE)
  if (sketch !== null && !known.sketches.some((one) => isNear(one, sketch, 0))) add(known, sketch)
}

/** Whether a page of status 200 is the host's "not found". */
export function isMissingPage(
  known: MissingPage,
  url: string,
  sketch: Sketch,
  title: string | null,
  bits: number,
): boolean {
  if (known.sketches.some((one) => isNear(one, sketch, bits))) return true
  if (title === null || !SAYS_MISSING.test(title)) return false
  const { titled } = known
  const isAgain = titled !== null && titled.url !== url && isNear(titled, sketch, bits)
  known.titled = { high: sketch.high, low: sketch.low, url }
  if (isAgain && known.sketches.length < SKETCHES_MAX) add(known, sketch)
  return isAgain
}

function add(known: MissingPage, { high, low }: Sketch): void {
  known.sketches.push({ high, low })
}
