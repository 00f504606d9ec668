// One Set-Cookie line, read as RFC 6265bis has browsers read it (§5.5, §5.6): lenient about what servers write, and strict
// about what would harm. What it means for a host is the jar's business (cookie-jar.ts).

/** As the line has it; nothing is checked against the host that sent it. */
export interface SetCookie {
  /** May be empty: a line without '=' is a value. */
  readonly name: string
  readonly value: string
  /** Wall clock; null: until the crawl ends. */
  readonly expiresMs: number | null
  /** Lower-case, without the leading dot; '' when absent. */
  readonly domain: string
  /** Begins with '/'; '' when absent or nonsense. */
  readonly path: string
  readonly isSecure: boolean
}

/** Name and value together. */
const PAIR_LENGTH_MAX = 4_096
const ATTRIBUTE_LENGTH_MAX = 1_024
/** No cookie lives longer: 400 days. */
const LIFE_MAX_MS = 400 * 86_400_000
const NEVER_MS = 0

// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DATE_DELIMITER = /[\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+/

/** Null for a line that is no cookie. */
export function parseSetCookie(line: string, nowMs: number): SetCookie | null {
  if (CONTROL.test(line)) return null
  const [pair = '', ...attributes] = line.split(';')
  const equals = pair.indexOf('=')
  const name = pair.slice(0, Math.max(0, equals)).trim()
  const value = pair.slice(equals + 1).trim()
  if ((name === '' && value === '') || name.length + value.length > PAIR_LENGTH_MAX) return null
  let expiresMs: number | null = null
  let maxAgeMs: number | null = null
  let domain = ''
  let path = ''
  let isSecure = false
  for (const attribute of attributes) {
    const at = attribute.indexOf('=')
    const key = (at === -1 ? attribute : attribute.slice(0, at)).trim().toLowerCase()
    const said = at === -1 ? '' : attribute.slice(at + 1).trim()
    if (said.length > ATTRIBUTE_LENGTH_MAX) continue
    switch (key) {
      case 'expires':
        expiresMs = cookieDate(said) ?? expiresMs
        break
      case 'max-age':
        if (/^-?\d+$/.test(said)) maxAgeMs = Number(said) * 1_000
        break
      case 'domain':
        domain = said.replace(/^\./, '').toLowerCase()
        break
      case 'path':
        path = said.startsWith('/') ? said : ''
        break
      case 'secure':
        isSecure = true
        break
      default:
    }
  }
  if (maxAgeMs !== null) expiresMs = maxAgeMs <= 0 ? NEVER_MS : nowMs + maxAgeMs
  if (expiresMs !== null) expiresMs = Math.min(expiresMs, nowMs + LIFE_MAX_MS)
  return { name, value, expiresMs, domain, path, isSecure }
}

/** RFC 6265 §5.1.1: whatever order, whatever stands between. Null for what is no date. */
export function cookieDate(text: string): number | null {
  let time: RegExpExecArray | null = null
  let day = -1
  let month = -1
  let year = -1
  for (const token of text.split(DATE_DELIMITER)) {
    const found: RegExpExecArray | null = time === null ? /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\D.*)?$/s.exec(token) : null
    if (found !== null) time = found
    else if (day === -1 && /^\d{1,2}(?:\D|$)/.test(token)) day = Number.parseInt(token, 10)
    else if (month === -1 && MONTHS.includes(token.slice(0, 3).toLowerCase())) {
      month = MONTHS.indexOf(token.slice(0, 3).toLowerCase())
    } else if (year === -1 && /^\d{2,4}(?:\D|$)/.test(token)) year = Number.parseInt(token, 10)
  }
  if (time === null || day === -1 || month === -1 || year === -1) return null
  if (year < 70) year += 2_000
  else if (year < 100) year += 1_900
  const [hour = 0, minute = 0, second = 0] = time.slice(1).map(Number)
  if (day < 1 || day > 31 || year < 1_601 || hour > 23 || minute > 59 || second > 59) return null
  const date = new Date(Date.UTC(year, month, day, hour, minute, second))
  return date.getUTCDate() === day ? date.getTime() : null
}
