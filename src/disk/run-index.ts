// Where in a sorted run a key would stand, and whether it is worth looking there: all that is kept in memory of a run.
//
//   firsts      the first key of each block                                    8 bytes a block
//   directory   how many blocks begin below each value of a key's upper bits   finds the few blocks to search
//   filter      a small Bloom filter per block                                 0 to 128 bytes a block
//
// A filter per block, not one per run: filling it walks through memory in the order of the keys, so that building
// it while reading a run costs no cache misses; and one look at the block's own lines answers.
//
// hot: no allocation after the constructor, but for finish().

const DIRECTORY_BITS_MAX = 16
/** Bits a key sets. At 9 bits a key one absent key in 40 passes, at 4.5 one in 8; a key that passes costs one read. */
const FILTER_PROBES = 3

export class RunIndex {
  #firstHigh: Uint32Array<ArrayBuffer>
  #firstLow: Uint32Array<ArrayBuffer>
  #filter: Uint32Array<ArrayBuffer>
  readonly #filterWords: number
  readonly #filterBits: number
  #directory = new Uint32Array(0)
  #directoryShift = 31
  #blocks = 0
  /** Where the last key asked about would stand. */
  #lastBlock = 0

  /** `filterBytes` a block: a multiple of 4 up to 8,192, or 0 for no filter. */
  constructor(blocksMax: number, filterBytes: number) {
    this.#firstHigh = new Uint32Array(blocksMax)
    this.#firstLow = new Uint32Array(blocksMax)
    this.#filterWords = filterBytes / 4
    this.#filterBits = filterBytes * 8
    this.#filter = new Uint32Array(blocksMax * this.#filterWords)
  }

  get blocks(): number {
    return this.#blocks
  }

  get memoryBytes(): number {
    return this.#blocks * 8 + this.filterBytes + this.#directory.byteLength
  }

  /** Of all blocks. */
  get filterBytes(): number {
    return this.#blocks * 4 * this.#filterWords
  }

  /** Takes up the next block: `count` keys as pairs (low, high) from `words[from]`. */
  add(words: Uint32Array, from: number, count: number): void {
    const block = this.#blocks++
    this.#firstLow[block] = words[from] as number
    this.#firstHigh[block] = words[from + 1] as number
    if (this.#filterWords === 0) return
    const filter = this.#filter
    const base = block * this.#filterWords
    for (let i = 0; i < count; i++) {
      let hash = filterHash(words[from + 2 * i + 1] as number, words[from + 2 * i] as number)
      const step = filterStep(hash)
      for (let probe = 0; probe < FILTER_PROBES; probe++, hash += step) {
        const bit = ((hash & 0xffff) * this.#filterBits) >>> 16
        const at = base + (bit >>> 5)
        filter[at] = (filter[at] as number) | (1 << (bit & 31))
      }
    }
  }

  /** All blocks are there: gives back what was set aside for more, and builds the directory. */
  finish(): void {
    const blocks = this.#blocks
    this.#firstHigh = new Uint32Array(this.#firstHigh.buffer.transfer(4 * blocks))
    this.#firstLow = new Uint32Array(this.#firstLow.buffer.transfer(4 * blocks))
    // Memory that was never written is not resident: a view does, and a copy would double the largest part.
    this.#filter = this.#filter.subarray(0, blocks * this.#filterWords)
    const bits = Math.min(DIRECTORY_BITS_MAX, Math.max(1, 32 - Math.clz32(blocks)))
    this.#directoryShift = 32 - bits
    const directory = new Uint32Array(2 ** bits + 1)
    for (const high of this.#firstHigh) {
      const value = (high >>> this.#directoryShift) + 1
      directory[value] = (directory[value] as number) + 1
    }
    for (let i = 1; i < directory.length; i++) {
      directory[i] = (directory[i] as number) + (directory[i - 1] as number)
    }
    this.#directory = directory
  }

  /** Gives the memory back at once, for good: the filters are most of what a set on disk has in memory. */
  release(): void {
    for (const array of [this.#firstHigh, this.#firstLow, this.#filter]) array.buffer.transfer(0)
  }

  /**
   * The only block that can hold the key, or -1 when none does. Steps from the block found last where that is not too far,
   * so that keys asked about in ascending order walk through the index.
   */
  locate(high: number, low: number): number {
    const value = high >>> this.#directoryShift
    // Always true: the block after the one we look for is from `after` to `end`.
    let after = this.#directory[value] as number
    let end = this.#directory[value + 1] as number
    const last = this.#lastBlock
    if (last >= after && last < end && this.#beginsAtOrBefore(last, high, low)) after = last + 1
    for (let step = 1; after + step <= end; step *= 2) {
      const probe = after + step - 1
      if (!this.#beginsAtOrBefore(probe, high, low)) {
        end = probe
        break
      }
      after = probe + 1
    }
    while (after < end) {
      const middle = (after + end) >>> 1
      if (this.#beginsAtOrBefore(middle, high, low)) after = middle + 1
      else end = middle
    }
    const block = after - 1
    if (block < 0) return -1
    this.#lastBlock = block
    return this.#mayHold(block, high, low) ? block : -1
  }

  #beginsAtOrBefore(block: number, high: number, low: number): boolean {
    const first = this.#firstHigh[block] as number
    return first < high || (first === high && (this.#firstLow[block] as number) <= low)
  }

  #mayHold(block: number, high: number, low: number): boolean {
    if (this.#filterWords === 0) return true
    const base = block * this.#filterWords
    let hash = filterHash(high, low)
    const step = filterStep(hash)
    for (let probe = 0; probe < FILTER_PROBES; probe++, hash += step) {
      const bit = ((hash & 0xffff) * this.#filterBits) >>> 16
      if (((this.#filter[base + (bit >>> 5)] as number) & (1 << (bit & 31))) === 0) return false
    }
    return true
  }
}

/** Keys of one block share their upper bits, so the lower ones decide; multipliers of MurmurHash3's finaliser. */
function filterHash(high: number, low: number): number {
  let hash = Math.imul(low ^ Math.imul(high, 0xc2b2ae35), 0x85ebca6b)
  hash ^= hash >>> 13
  return Math.imul(hash, 0xc2b2ae35) >>> 0
}

/** From bits that the place of the first probe does not use; odd, so that it is not 0. */
function filterStep(hash: number): number {
  return (hash >>> 17) | 1
}
