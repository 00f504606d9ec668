// The characters that every step of canonicalisation leaves alone, and those that end or divide a link: what the two
// short ways (plain-href.ts for strings, link-joiner.ts for bytes) go by.

import { hexValue, isUnreserved } from './percent.ts'

export const PLAIN_CLASS = { plain: 0, other: 1, hash: 2, question: 3, slash: 4, percent: 5 } as const

/** Class by byte. */
export const PLAIN_CLASSES = new Uint8Array(256).fill(PLAIN_CLASS.other)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&()*+,;=:@') {
  PLAIN_CLASSES[char.charCodeAt(0)] = PLAIN_CLASS.plain
}
PLAIN_CLASSES['#'.charCodeAt(0)] = PLAIN_CLASS.hash
PLAIN_CLASSES['?'.charCodeAt(0)] = PLAIN_CLASS.question
PLAIN_CLASSES['/'.charCodeAt(0)] = PLAIN_CLASS.slash
PLAIN_CLASSES['%'.charCodeAt(0)] = PLAIN_CLASS.percent

/** Whether the escape whose '%' stands at `position` is in its one form, and not of an unreserved character. */
export function isSettledEscapeAt(bytes: Uint8Array, position: number): boolean {
  const first = bytes[position + 1] as number
  const second = bytes[position + 2] as number
  if (first >= 97 || second >= 97) return false
  const high = hexValue(first)
  const low = hexValue(second)
  return high !== -1 && low !== -1 && !isUnreserved(high * 16 + low)
}
