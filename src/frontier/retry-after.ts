// The Retry-After field (RFC 9110, 10.2.3): seconds, or a date in one of three forms (5.6.7).

const MONTHS: readonly string[] = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const TIME = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`
const FORMS: readonly RegExp[] = [
  // Sun, 06 Nov 1994 08:49:37 GMT
  new RegExp(String.raw`^[A-Z][a-z]{2}, (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) ${TIME} GMT$`),
  // Sunday, 06-Nov-94 08:49:37 GMT
  new RegExp(String.raw`^[A-Z][a-z]{5,8}, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) ${TIME} GMT$`),
  // Sun Nov  6 08:49:37 1994
  new RegExp(String.raw`^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) ${TIME} (?<year>\d{4})$`),
]

/** Longer than this is a field gone mad; it also keeps the product below exact. */
const SECONDS_MAX = 2 ** 40

/** A two-digit year is of the past century when it would lie more than this far ahead. */
const YEARS_AHEAD_MAX = 50

/**
 * Milliseconds from now that a Retry-After asks for: 0 when its date has passed, null when it is
 * nonsense. `wallMs` is the date now.
 */
export function parseRetryAfter(value: string, wallMs: number): number | null {
  const text = value.trim()
  if (/^\d+$/.test(text)) return Math.min(Number(text), SECONDS_MAX) * 1_000
  const dateMs = parseHttpDate(text, wallMs)
  return dateMs === null ? null : Math.max(0, dateMs - wallMs)
}

function parseHttpDate(text: string, wallMs: number): number | null {
  for (const form of FORMS) {
    const parts = form.exec(text)?.groups
    if (parts === undefined) continue
    const [day, hour, minute, second] = ['day', 'hour', 'minute', 'second'].map((name) => Number(parts[name]))
    const month = MONTHS.indexOf(parts['month'] ?? '')
    const year = fullYear(parts['year'] ?? '', wallMs)
    if (day === undefined || hour === undefined || minute === undefined || second === undefined) return null
    // 60 is a leap second, which Date.UTC counts into the next minute.
    if (hour > 23 || minute > 59 || second > 60) return null
    const midnight = new Date(Date.UTC(year, month, day))
    // Date.UTC carries over: the 31st of June, or month -1, would come back as another day.
    if (midnight.getUTCMonth() !== month || midnight.getUTCDate() !== day) return null
    return Date.UTC(year, month, day, hour, minute, second)
  }
  return null
}

function fullYear(digits: string, wallMs: number): number {
  const year = Number(digits)
  if (digits.length > 2) return year
  const thisYear = new Date(wallMs).getUTCFullYear()
  const inThisCentury = thisYear - (thisYear % 100) + year
  return inThisCentury > thisYear + YEARS_AHEAD_MAX ? inThisCentury - 100 : inThisCentury
}
