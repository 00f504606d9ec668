// One seeded generator explains everything random: xoshiro128** over a seed spread by splitmix32.

export class Random {
  #a: number
  #b: number
  #c: number
  #d: number

  constructor(seed: number | string) {
    let state = typeof seed === 'number' ? seed | 0 : hashSeed(seed)
    const next = (): number => {
      state = (state + 0x9e3779b9) | 0
      let z = state
      z = Math.imul(z ^ (z >>> 16), 0x21f0aaad)
      z = Math.imul(z ^ (z >>> 15), 0x735a2d97)
      return z ^ (z >>> 15)
    }
    this.#a = next()
    this.#b = next()
    this.#c = next()
    this.#d = next() | 1
  }

  /** A whole number from 0 to 2³² − 1. */
  next32(): number {
    const product = Math.imul(this.#b, 5)
    const result = Math.imul((product << 7) | (product >>> 25), 9)
    const shifted = this.#b << 9
    this.#c ^= this.#a
    this.#d ^= this.#b
    this.#b ^= this.#c
    this.#a ^= this.#d
    this.#c ^= shifted
    this.#d = (this.#d << 11) | (this.#d >>> 21)
    return result >>> 0
  }

  /** A number in [0, 1). */
  fraction(): number {
    return this.next32() / 2 ** 32
  }

  /** A whole number in [0, bound). */
  below(bound: number): number {
    return Math.floor(this.fraction() * bound)
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('pick: nothing to pick from')
    return items[this.below(items.length)] as T
  }
}

function hashSeed(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}
