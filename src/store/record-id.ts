// Ids of WARC records: random UUIDs of version 4, unique in the world. Hot: three for a page. As crypto.randomUUID(), but cut from one
// text of many: that one is a chain of twenty pieces, which costs more to write down than to draw (bench/settle.ts: 0.6 µs a page), and
// making the text of each by itself takes twice as long as cutting it.

import { randomFillSync } from 'node:crypto'

const ID_BYTES = 16
const ID_LENGTH = 36
/** Drawn in one go: a call of the random source takes longer than a hundred ids. */
const IDS_DRAWN = 256
/** Where the digits of each byte stand: hyphens are left out. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]
const DIGITS = Buffer.from('0123456789abcdef', 'latin1')

const drawn = Buffer.alloc(ID_BYTES * IDS_DRAWN)
const text = Buffer.from('00000000-0000-4000-8000-000000000000'.repeat(IDS_DRAWN), 'latin1')
let ids = ''
let next = 0

export function recordId(): string {
  if (next === ids.length) {
    ids = drawIds()
    next = 0
  }
  next += ID_LENGTH
  return ids.slice(next - ID_LENGTH, next)
}

/** One behind the other. */
function drawIds(): string {
  randomFillSync(drawn)
  for (let id = 0; id < IDS_DRAWN; id++) {
    const from = ID_BYTES * id
    drawn[from + 6] = ((drawn[from + 6] as number) & 0x0f) | 0x40
    drawn[from + 8] = ((drawn[from + 8] as number) & 0x3f) | 0x80
    for (let i = 0; i < ID_BYTES; i++) {
      const byte = drawn[from + i] as number
      const at = ID_LENGTH * id + (PLACES[i] as number)
      text[at] = DIGITS[byte >>> 4] as number
      text[at + 1] = DIGITS[byte & 15] as number
    }
  }
  return text.toString('latin1')
}
