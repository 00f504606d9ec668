// Ids of WARC records: random UUIDs of version 4, unique in the world. Hot: three for a page. As crypto.randomUUID(), but made as
// one piece of text: that one is a chain of twenty, which costs more to write down than to draw (bench/settle.ts: 0.6 µs a page).

import { randomFillSync } from 'node:crypto'

const ID_BYTES = 16
/** Drawn in one go: a call of the random source takes longer than a hundred ids. */
const IDS_DRAWN = 256
/** Where the digits of each byte stand: hyphens are left out. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const DIGITS = Buffer.from('0123456789abcdef', 'latin1')

const drawn = Buffer.alloc(ID_BYTES * IDS_DRAWN)
let next = drawn.length
const text = Buffer.from('00000000-0000-4000-8000-000000000000', 'latin1')

export function recordId(): string {
  if (next === drawn.length) {
    randomFillSync(drawn)
    next = 0
  }
  drawn[next + 6] = ((drawn[next + 6] as number) & 0x0f) | 0x40
  drawn[next + 8] = ((drawn[next + 8] as number) & 0x3f) | 0x80
  for (let i = 0; i < ID_BYTES; i++) {
    const byte = drawn[next + i] as number
    const at = PLACES[i] as number
    text[at] = DIGITS[byte >>> 4] as number
    text[at + 1] = DIGITS[byte & 15] as number
  }
  next += ID_BYTES
  return text.toString('latin1')
}
