// The lists of beginnings of words, made of those of the words when they are written: while lines are read only words are noted.

import { cut, PREFIX_LENGTH_MAX } from './words.ts'

/** From one number in so many on a set of bits is quicker than sorting. */
const SPARSE = 64

/** Of lines `first` and `count - 1` that follow, one after another. Each list rises, and has each line once. */
export function* listsOfBeginnings(
  words: ReadonlyMap<string, readonly number[]>,
  first: number,
  count: number,
): Generator<readonly [string, readonly number[]], void, void> {
  const parts = new Map<string, (readonly number[])[]>()
  for (const [word, ids] of words) {
    let last = ''
    for (let length = 1; length <= PREFIX_LENGTH_MAX && length <= word.length; length++) {
      const beginning = cut(word, length)
      // The same again where a character takes two places.
      if (beginning === last) continue
      last = beginning
      const known = parts.get(beginning)
      if (known === undefined) parts.set(beginning, [ids])
      else known.push(ids)
    }
  }
  const bits = new Uint32Array(Math.ceil(count / 32))
  for (const [beginning, lines] of parts) yield [beginning, joined(lines, first, bits)]
}

function joined(parts: readonly (readonly number[])[], first: number, bits: Uint32Array): readonly number[] {
  if (parts.length === 1) return parts[0] ?? []
  let total = 0
  for (const { length } of parts) total += length
  const ids: number[] = []
  if (total * SPARSE < bits.length * 32) {
    for (const id of Float64Array.from(parts.flat()).sort()) if (id !== ids[ids.length - 1]) ids.push(id)
    return ids
  }
  for (const part of parts) {
    for (const id of part) bits[(id - first) >>> 5] = (bits[(id - first) >>> 5] ?? 0) | (1 << ((id - first) & 31))
  }
  for (let i = 0; i < bits.length; i++) {
    for (let word = bits[i] ?? 0; word !== 0; word &= word - 1) ids.push(first + 32 * i + 31 - Math.clz32(word & -word))
    bits[i] = 0
  }
  return ids
}
