// The content of <meta http-equiv=refresh>, by the WHATWG shared declarative refresh steps.

/** Digits or a dot must come first; the number itself is of no interest, we follow at any delay. */
const DELAY = /^[\t\n\f\r ]*(?:[0-9]+[0-9.]*|\.[0-9.]*)/y
const SEPARATOR = /[\t\n\f\r ]*[;,]?[\t\n\f\r ]*/y
const URL_EQUALS = /[uU][rR][lL][\t\n\f\r ]*=[\t\n\f\r ]*/y

/** The URL a refresh leads to, raw; null when there is none: not a refresh, or a reload of the page itself. */
export function refreshUrl(content: string): string | null {
  DELAY.lastIndex = 0
  if (!DELAY.test(content)) return null
  let position = DELAY.lastIndex
  // The delay must be followed by something that separates it.
  if (position < content.length && !/[\t\n\f\r ;,]/.test(content.charAt(position))) return null
  SEPARATOR.lastIndex = position
  SEPARATOR.test(content)
  position = SEPARATOR.lastIndex
  if (position >= content.length) return null

  URL_EQUALS.lastIndex = position
  if (URL_EQUALS.test(content)) position = URL_EQUALS.lastIndex
  const quote = content.charAt(position)
  if (quote !== '"' && quote !== "'") return content.slice(position)
  const end = content.indexOf(quote, position + 1)
  return content.slice(position + 1, end === -1 ? content.length : end)
}
