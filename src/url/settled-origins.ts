// Origins that the WHATWG parser returns as they are written, remembered: `http://192.0.2.7:8080`, `https://xn--nxasmq6b.test`.
// The short way (plain-href.ts) tells plain names by looking at them; all other authorities would send each of their
// links through the parser, whose answer for an origin does not depend on the path behind it.

import { parseUrl } from './parse-url.ts'

/** Pages name origins by the thousand; past this many all are forgotten, and asked for anew. */
const ORIGINS_MAX = 4_096
/** No real origin is longer, and what is remembered stays small. */
const ORIGIN_LENGTH_MAX = 100

const known = new Map<string, boolean>()

/** Whether `origin` (`scheme://authority`, up to the first '/' of the path) is its own canonical form. */
export function isSettledOrigin(origin: string): boolean {
  if (origin.length > ORIGIN_LENGTH_MAX) return false
  const remembered = known.get(origin)
  if (remembered !== undefined) return remembered
  // Joined, so that no key is a slice which keeps the text of its page alive.
  const root = `${origin}/`
  const isSettled = parseUrl(root, undefined) === root
  if (known.size >= ORIGINS_MAX) known.clear()
  known.set(root.slice(0, -1), isSettled)
  return isSettled
}
