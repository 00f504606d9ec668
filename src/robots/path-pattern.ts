// The path of a rule, and whether a URL falls under it (RFC 9309, 2.2.2 and 2.2.3).
//
// Rule and URL are first brought to one form, so that comparing is comparing strings: what needs no
// escape is unescaped, everything else is %XX in capitals. `*` and a final `$` of a rule keep their
// meaning; the same characters of a URL become %2A and %24, which is also what a rule writes to mean them.
//
// A pattern is then the pieces between its stars. Matching takes each piece at its leftmost place:
// no backtracking, one walk over the URL whatever the rule. Hot: called for each URL and rule.

/**
 * Octets that stand for themselves: the unreserved, and of the reserved those that separate.
 * `[`, `]` and `'` do not, and are written both ways (`?tag[]=`, `?tag%5B%5D=`).
 */
const PLAIN = byteSet('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?@!&()+,;=')
const UNRESERVED = byteSet('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~')
const ESCAPED: readonly string[] = Array.from(
  { length: 256 },
  (_, code) => `%${code.toString(16).toUpperCase().padStart(2, '0')}`,
)
const NOT_PLAIN = /[^A-Za-z0-9\-._~:/?@!&()+,;=]/
const PERCENT = 0x25
const STAR = 0x2a
const DOLLAR = 0x24

function byteSet(characters: string): Uint8Array {
  const set = new Uint8Array(256)
  for (let i = 0; i < characters.length; i++) set[characters.charCodeAt(i)] = 1
  return set
}

/** The value of a hexadecimal digit, or -1. */
function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

/** Takes one character per octet. `isRule` leaves `*` and a final `$` alone. */
function normaliseOctets(octets: string, isRule: boolean): string {
  if (!NOT_PLAIN.test(octets)) return octets
  let result = ''
  const last = octets.length - 1
  for (let i = 0; i <= last; i++) {
    const code = octets.charCodeAt(i) & 0xff
    if (code === PERCENT && i + 2 <= last) {
      const high = hexValue(octets.charCodeAt(i + 1))
      const low = hexValue(octets.charCodeAt(i + 2))
      if (high >= 0 && low >= 0) {
        const value = high * 16 + low
        result += UNRESERVED[value] === 1 ? String.fromCharCode(value) : ESCAPED[value]
        i += 2
        continue
      }
    }
    if (PLAIN[code] === 1 || (isRule && (code === STAR || (code === DOLLAR && i === last)))) {
      result += octets[i]
    } else if (code === PERCENT) {
      // An escape that is none stays as it is: browsers send it so, and `/*%` means every escape.
      result += '%'
    } else {
      result += ESCAPED[code]
    }
  }
  return result
}

/** A rule's path, given as one character per octet of the file, in the form that is compared. */
export function normaliseRulePath(octets: string): string {
  const path = normaliseOctets(octets, true)
  return path.includes('?') ? plainQuery(path) : path
}

/** Path and query of a URL in the form that is compared. */
export function normaliseUrlPath(pathAndQuery: string): string {
  if (!NOT_PLAIN.test(pathAndQuery)) return pathAndQuery
  return normaliseOctets(Buffer.from(pathAndQuery, 'utf8').toString('latin1'), false)
}

/**
 * In a query `:/?@` separate nothing, so escaped or not they mean the same; the RFC's own table asks
 * that `?baz=https://foo.bar` cover `?baz=https%3A%2F%2Ffoo.bar`. Rules that name a query are compared
 * in this form, rules that do not in the other, where %2F and `/` differ everywhere.
 */
export function plainQuery(normalised: string): string {
  const start = normalised.indexOf('?')
  if (start < 0 || !normalised.includes('%', start)) return normalised
  return (
    normalised.slice(0, start) +
    normalised.slice(start).replaceAll('%3A', ':').replaceAll('%2F', '/').replaceAll('%3F', '?').replaceAll('%40', '@')
  )
}

const NO_PIECES: readonly string[] = []
const isNotEmpty = (piece: string): boolean => piece !== ''

/** One rule's path, ready to be matched. */
export class PathPattern {
  /** What a rule's rank is counted in: octets of the normal form, stars and `$` included. */
  readonly length: number
  /** Whether it is compared with the plain query form of the URL. */
  readonly namesQuery: boolean
  readonly normalised: string
  readonly #head: string
  /** What follows the stars, in order; empty pieces (`**`) are gone. */
  readonly #pieces: readonly string[]
  readonly #isOpen: boolean
  readonly #isAnchored: boolean

  /** `normalised` comes from normaliseRulePath(), now or before it was saved. */
  constructor(normalised: string) {
    this.normalised = normalised
    this.length = normalised.length
    this.namesQuery = normalised.includes('?')
    this.#isAnchored = normalised.endsWith('$')
    const body = this.#isAnchored ? normalised.slice(0, -1) : normalised
    const star = body.indexOf('*')
    this.#head = star < 0 ? body : body.slice(0, star)
    // A rule that ends in a star is open: nothing need follow.
    this.#isOpen = body.endsWith('*')
    this.#pieces = star < 0 ? NO_PIECES : body.slice(star).split('*').filter(isNotEmpty)
  }

  /** Whether the whole pattern covers a beginning of `path` (all of it, when the pattern ends in `$`). */
  matches(path: string): boolean {
    if (!path.startsWith(this.#head)) return false
    let position = this.#head.length
    const count = this.#pieces.length
    if (count === 0) return !this.#isAnchored || this.#isOpen || position === path.length
    // With `$` the last piece must end the path; all before it take their leftmost place.
    const isLastFixed = this.#isAnchored && !this.#isOpen
    const free = isLastFixed ? count - 1 : count
    for (let i = 0; i < free; i++) {
      const piece = this.#pieces[i] as string
      const found = path.indexOf(piece, position)
      if (found < 0) return false
      position = found + piece.length
    }
    if (!isLastFixed) return true
    const last = this.#pieces[count - 1] as string
    return path.length - last.length >= position && path.endsWith(last)
  }
}
