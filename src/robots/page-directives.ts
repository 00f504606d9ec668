// What a page says to robots about itself: X-Robots-Tag headers and <meta name=robots>. Whatever is said
// to everybody or to us by name counts, and the most restrictive word wins: permission in one place
// ('all', 'index', 'follow') never takes back what another place forbids.

import { productTokenOf } from './product-token.ts'

export interface PageDirectiveSources {
  /** Values of the X-Robots-Tag headers, one per header line. */
  readonly xRobotsTag: readonly string[]
  /** Name and content of the metas that speak to robots, lower-case. */
  readonly metaRobots: readonly (readonly [name: string, content: string])[]
  readonly productToken: string
}

export interface PageDirectives {
  /** Keep it out of a search index. */
  readonly noindex: boolean
  /** Do not follow its links. */
  readonly nofollow: boolean
  /** Do not show others a kept copy. */
  readonly noarchive: boolean
  /** Each header or meta that restricted something, as `X-Robots-Tag: …` or `meta robots: …`; '' when nothing did. */
  readonly source: string
}

const UNRESTRICTED: PageDirectives = Object.freeze({ noindex: false, nofollow: false, noarchive: false, source: '' })

/** Words that carry a value behind a colon, and so look like a crawler's name: `unavailable_after: 25 Jun 2027`. */
const VALUED = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview'])

export function pageDirectives(sources: PageDirectiveSources): PageDirectives {
  if (sources.xRobotsTag.length === 0 && sources.metaRobots.length === 0) return UNRESTRICTED
  const token = productTokenOf(sources.productToken)
  const found = { noindex: false, nofollow: false, noarchive: false }
  const restricting: string[] = []
  for (const header of sources.xRobotsTag) {
    if (applyList(header, token, true, found)) restricting.push(`X-Robots-Tag: ${header.trim()}`)
  }
  for (const [name, content] of sources.metaRobots) {
    const to = name.trim().toLowerCase()
    if (to !== 'robots' && (token === '' || to !== token)) continue
    if (applyList(content, token, false, found)) restricting.push(`meta ${to}: ${content.trim()}`)
  }
  return restricting.length === 0 ? UNRESTRICTED : { ...found, source: restricting.join('; ') }
}

/** Applies a list of words; whether any of them restricted something. */
function applyList(
  list: string,
  token: string,
  namesCrawlers: boolean,
  found: { noindex: boolean; nofollow: boolean; noarchive: boolean },
): boolean {
  // A crawler's name before a colon holds for the rest of the header.
  let isForUs = true
  let isRestricting = false
  for (const part of list.split(',')) {
    let word = part.trim().toLowerCase()
    const colon = namesCrawlers ? word.indexOf(':') : -1
    if (colon >= 0) {
      const name = word.slice(0, colon).trim()
      // What has a space in it is the rest of a date ('25 jun 2027 15:00:00'), not a name.
      if (VALUED.has(name) || /\s/.test(name)) continue
      isForUs = name === '*' || (token !== '' && name === token)
      word = word.slice(colon + 1).trim()
    }
    if (!isForUs) continue
    for (const single of word.split(/\s+/)) isRestricting = applyWord(single, found) || isRestricting
  }
  return isRestricting
}

function applyWord(word: string, found: { noindex: boolean; nofollow: boolean; noarchive: boolean }): boolean {
  switch (word) {
    case 'none':
      found.noindex = true
      found.nofollow = true
      return true
    case 'noindex':
    case 'nofollow':
    case 'noarchive':
      found[word] = true
      return true
    case 'nocache':
      // Bing's older word for the same wish.
      found.noarchive = true
      return true
    default:
      return false
  }
}
