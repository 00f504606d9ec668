// The fingerprints of a generation in ascending order, in steps of some milliseconds.
//
//   places   |   segment   |   segment   |   segment   | …      in the order of the hash
//                 sort          sort          sort               one step each
//   scratch  |  ascending  |  ascending  |  ascending  | …      keys, and meetings beside
//                     \          |          /
//                      heap of their heads                      8,192 keys a step
//
// Segments are parts of the table, not ranges of keys: their lengths do not depend on how URLs spread over hosts, and
// what belongs to a key is found while its segment is in the processor's cache. The scratch takes 10 bytes a key.

import type { Generation } from './generation.ts'

const SEGMENT_PLACES = 2 ** 16
const STEP_KEYS = 2 ** 13

/** Yields the work done, in keys: each counts twice, once to be sorted and once to be shown. */
export function* ascending(
  generation: Generation,
  visitor: (high: number, low: number, meetings: number) => void,
): Generator<number> {
  const keys = new Uint32Array(2 * generation.size)
  const meetings = new Uint16Array(generation.size)
  const heads: number[] = []
  const ends: number[] = []
  let end = 0
  for (let place = 0; place < generation.places; place += SEGMENT_PLACES) {
    const from = end
    end += generation.copySorted(place, place + SEGMENT_PLACES, keys, meetings, from)
    if (end === from) continue
    heads.push(from)
    ends.push(end)
    yield end - from
  }
  const heap = new HeadHeap(keys, Uint32Array.from(heads), Uint32Array.from(ends))
  for (let shown = 1; heap.size > 0; shown++) {
    const at = heap.takeLeast()
    visitor(keys[2 * at + 1] as number, keys[2 * at] as number, meetings[at] as number)
    if (shown % STEP_KEYS === 0) yield STEP_KEYS
  }
  // At once, not when the garbage collector finds the time: there is a generation's worth of it.
  keys.buffer.transfer(0)
  meetings.buffer.transfer(0)
}

/** Sorted stretches of keys, the one with the least head on top. */
class HeadHeap {
  readonly #keys: Uint32Array
  /** By place in the heap: the next key of a stretch, and its end. */
  readonly #heads: Uint32Array
  readonly #ends: Uint32Array
  size: number

  constructor(keys: Uint32Array, heads: Uint32Array, ends: Uint32Array) {
    this.#keys = keys
    this.#heads = heads
    this.#ends = ends
    this.size = heads.length
    for (let place = (this.size >>> 1) - 1; place >= 0; place--) this.#sink(place)
  }

  /** Where the least key of all stands. */
  takeLeast(): number {
    const heads = this.#heads
    const least = heads[0] as number
    if (least + 1 === this.#ends[0]) {
      const last = --this.size
      heads[0] = heads[last] as number
      this.#ends[0] = this.#ends[last] as number
    } else heads[0] = least + 1
    this.#sink(0)
    return least
  }

  #sink(from: number): void {
    const heads = this.#heads
    const ends = this.#ends
    const keys = this.#keys
    const size = this.size
    const head = heads[from] as number
    const end = ends[from] as number
    const high = keys[2 * head + 1] as number
    const low = keys[2 * head] as number
    let place = from
    for (;;) {
      let child = 2 * place + 1
      if (child >= size) break
      let at = heads[child] as number
      if (child + 1 < size) {
        const other = heads[child + 1] as number
        if (isLess(keys, other, keys[2 * at + 1] as number, keys[2 * at] as number)) {
          child++
          at = other
        }
      }
      if (!isLess(keys, at, high, low)) break
      heads[place] = at
      ends[place] = ends[child] as number
      place = child
    }
    heads[place] = head
    ends[place] = end
  }
}

function isLess(keys: Uint32Array, at: number, high: number, low: number): boolean {
  const other = keys[2 * at + 1] as number
  return other < high || (other === high && (keys[2 * at] as number) < low)
}
