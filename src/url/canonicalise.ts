// Text → canonical URL, or why not. The rules and their reasons: docs/decisions/0002-canonical-urls.md.
//
//   href ──▶ scheme? ──▶ plain? ── yes ─▶ cut and join ──────────────────────────┐
//              │            └─ no ─▶ query in the page's charset ─▶ WHATWG parser │
//              ▼                     ─▶ percent-encoding ─▶ host without last dot │
//           refused                                                               ▼
//                                                    session ids, length ─▶ CanonicalUrl
//
// Hot: called for every link of every page. Refusals allocate nothing.
//
// Always true, checked by canonicalise.fuzz.ts:
//   - the canonical form of a canonical URL is itself;
//   - it is ASCII, has no fragment, no user name, a host and a path that begins with '/';
//   - both ways through give the same answer.

import { BaseUrl } from './base-url.ts'
import type { CanonicalUrl } from './canonical-url.ts'
import { parseUrl } from './parse-url.ts'
import { joinAbsolute, joinRelative } from './plain-href.ts'
import { type Refusal, REFUSED } from './refusal.ts'
import { compileSessionIds } from './session-ids.ts'

/** Decides what two links have in common: nothing else in Portolan compares URLs. */
export interface Canonicalise {
  (
    href: string,
    /** What a relative link is relative to. Without one, only whole URLs are accepted. */
    base?: CanonicalUrl | BaseUrl | null,
    /** WHATWG name of the encoding of the page the link stood on; UTF-8 if absent. */
    encoding?: string,
  ): CanonicalUrl | Refusal
  /** Up to this length a plain link needs nothing but to be joined (link-joiner.ts); 0 when more is done to all. */
  readonly plainLengthMax: number
}

export interface CanonicaliseOptions {
  /** The longest canonical URL accepted, in characters. */
  readonly urlLength: number
  /** Names of query and path parameters to drop. */
  readonly sessionIds: readonly string[]
}

/**
 * The default of `urlLength`. Internet Explorer's limit, which every public site had to live with for twenty
 * years, and Heritrix's; longer ones are nearly always traps or data (sitemaps.org allows 2,048).
 */
export const URL_LENGTH_DEFAULT = 2_083

const CODE_COLON = 58
const HTTP = 'http'
const HTTPS = 'https'
const OTHER_SCHEMES: ReadonlySet<string> = new Set(['ftp', 'ftps', 'gopher', 'file'])

/** Compiles the options once; the result is called per link. It remembers the last base, so pages should be done one by one. */
export function compileCanonicaliser(options: CanonicaliseOptions): Canonicalise {
  const { urlLength } = options
  const dropSessionIds = options.sessionIds.length === 0 ? null : compileSessionIds(options.sessionIds)
  let lastBase: BaseUrl | null = null

  const finish = (url: string): CanonicalUrl | Refusal => {
    const kept = dropSessionIds === null ? url : dropSessionIds(url)
    return kept.length > urlLength ? REFUSED['too-long'] : (kept as CanonicalUrl)
  }

  const compiled = (
    href: string,
    base: CanonicalUrl | BaseUrl | null = null,
    encoding = 'utf-8',
  ): CanonicalUrl | Refusal => {
    if (typeof base === 'string') {
      if (lastBase === null || lastBase.href !== base) lastBase = BaseUrl.of(base)
      base = lastBase
    }
    const end = schemeEnd(href)
    if (end === 0) {
      const joined = base === null ? null : joinRelative(href, base)
      if (joined !== null) return finish(joined)
    } else if (href.startsWith(HTTP) && (end === 5 || (end === 6 && href.startsWith(HTTPS)))) {
      const joined = joinAbsolute(href, end, base)
      if (joined !== null) return finish(joined)
    } else if (!isCrawled(href.slice(0, end - 1))) return REFUSED.scheme
    const parsed = parseUrl(href, base?.href, encoding)
    return typeof parsed === 'string' ? finish(parsed) : parsed
  }
  return Object.assign(compiled, { plainLengthMax: dropSessionIds === null ? urlLength : 0 })
}

/** With the default options; for the lenses and wherever no configuration is at hand. */
export const canonicalise: Canonicalise = compileCanonicaliser({ urlLength: URL_LENGTH_DEFAULT, sessionIds: [] })

/** One past the colon of the scheme; 0 if the link has none, or none that is written plainly. */
function schemeEnd(href: string): number {
  for (let i = 0; i < href.length; i++) {
    const code = href.charCodeAt(i)
    const lower = code | 32
    if (lower >= 97 && lower <= 122) continue
    if (i > 0 && ((code >= 48 && code <= 57) || code === 43 || code === 45 || code === 46)) continue
    return code === CODE_COLON && i > 0 ? i + 1 : 0
  }
  return 0
}

function isCrawled(scheme: string): boolean {
  const lower = scheme.toLowerCase()
  return lower === HTTP || lower === HTTPS || OTHER_SCHEMES.has(lower)
}
