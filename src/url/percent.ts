// The percent-encoding of a URL made one (RFC 3986, 6.2.2.1 and 6.2.2.2): hexadecimal digits in upper
// case, and no escape for a character that never needs one. A server sees the same bytes before and after.
//
// A '%' that begins no escape stays as it is: that is what a browser sends. Then an escape may not be
// decoded where its character would make an escape of that '%': "%%341" would become "%41", another URL.

const PERCENT = 37

/** Value of a hexadecimal digit, -1 of anything else. */
export function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const lower = code | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}

/** ALPHA, DIGIT, '-', '.', '_', '~'. */
export function isUnreserved(code: number): boolean {
  const lower = code | 32
  return (
    (lower >= 97 && lower <= 122) ||
    (code >= 48 && code <= 57) ||
    code === 45 ||
    code === 46 ||
    code === 95 ||
    code === 126
  )
}

/** `from` is where to begin; what stands before is copied. */
export function normalisePercent(url: string, from: number): string {
  let percent = url.indexOf('%', from)
  if (percent === -1) return url
  let result = ''
  let copied = 0
  // Where the last '%' stands that begins no escape. While it is one or two places back, decoding is off.
  let stray = -3
  while (percent !== -1) {
    const high = hexValue(url.charCodeAt(percent + 1))
    const low = high === -1 ? -1 : hexValue(url.charCodeAt(percent + 2))
    if (low === -1) {
      stray = percent
      percent = url.indexOf('%', percent + 1)
      continue
    }
    const code = high * 16 + low
    const follows = percent - stray === 1 || (percent - stray === 2 && hexValue(url.charCodeAt(percent - 1)) !== -1)
    result += url.slice(copied, percent)
    result += isUnreserved(code) && !follows ? String.fromCharCode(code) : url.slice(percent, percent + 3).toUpperCase()
    copied = percent + 3
    percent = url.indexOf('%', copied)
  }
  return copied === 0 ? url : result + url.slice(copied)
}

/** Whether an escape at `position` is already in its one form, and not of an unreserved character. */
export function isSettledEscape(url: string, position: number): boolean {
  if (url.charCodeAt(position) !== PERCENT) return false
  const first = url.charCodeAt(position + 1)
  const second = url.charCodeAt(position + 2)
  if (first >= 97 || second >= 97) return false
  const high = hexValue(first)
  const low = hexValue(second)
  return high !== -1 && low !== -1 && !isUnreserved(high * 16 + low)
}
