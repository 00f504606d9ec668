// The name a crawler goes by in robots.txt: the first token of its User-Agent header.

/**
 * HTTP's token characters (RFC 9110, 5.6.2) without `*`. RFC 9309 asks crawlers to be called by letters,
 * `_` and `-` only; files name MJ12bot, 360Spider and Go!Zilla all the same, and cutting those short
 * would make one crawler obey the rules of another.
 */
const TOKEN = /^[A-Za-z0-9!#$%&'+\-.^_`|~]+/

/** `Portolan/0.1 (+https://…)` is `portolan`; '' when it begins with no token. Lower-case, as matching goes. */
export function productTokenOf(userAgent: string): string {
  return TOKEN.exec(userAgent.trimStart())?.[0].toLowerCase() ?? ''
}
