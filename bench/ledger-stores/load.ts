// What the ledger writes, drawn from a seed: pages of 35 links, most of them to the page's own host;
// hosts by a power law, fifty entries each on average.

import { Random } from '../../src/base/index.ts'
import type { Operation } from './stores.ts'

const LINKS_PER_PAGE = 35
const OWN_LINKS = 28
const ENTRIES_PER_HOST = 50
const WORDS = 'about news archive product item article category tag user forum topic page index view detail docs'.split(
  ' ',
)

/** Keys by kind: the first byte sorts entries, host states, outbox and counters apart. */
const ENTRY = 1
const HOST = 2
const OUTBOX = 3
const COUNTER = 4

export class Load {
  readonly #random: Random
  readonly #hosts: number
  #sequence = 0
  /** Entries to settle or to look up later: a sample of those put, oldest first. */
  readonly sample: Buffer[] = []
  #settled = 0

  constructor(seed: string, keys: number) {
    this.#random = new Random(seed)
    this.#hosts = Math.max(1, Math.floor(keys / ENTRIES_PER_HOST))
  }

  /** New entries only. Keeps one page in `sampleEvery` for later. */
  entries(count: number, sampleEvery: number): Operation[] {
    const batch: Operation[] = []
    while (batch.length < count) {
      const own = this.randomHost()
      const isKept = this.#random.below(sampleEvery) === 0
      for (let i = 0; i < LINKS_PER_PAGE && batch.length < count; i++) {
        const key = this.#entryKey(i < OWN_LINKS ? own : this.randomHost())
        if (isKept) this.sample.push(key)
        batch.push({ key, value: this.#entryValue() })
      }
    }
    return batch
  }

  /** A tick of a running crawl: half new entries, a third settled ones, host states, outbox, counters. */
  tick(operations: number): Operation[] {
    const batch = this.entries(Math.round(operations * 0.5), 1)
    for (let i = 0; i < operations * 0.33; i++) {
      const key = this.sample[this.#settled++]
      if (key !== undefined) batch.push({ key, value: null })
    }
    for (let i = 0; i < operations * 0.1; i++)
      batch.push({ key: numbered(HOST, this.randomHost()), value: this.#bytes(40) })
    for (let i = 0; i < operations * 0.03; i++) {
      batch.push({ key: numbered(OUTBOX, this.#sequence - i), value: this.#entryValue() })
      batch.push({ key: numbered(OUTBOX, this.#sequence - operations - i), value: null })
    }
    for (let i = 0; i < 10; i++) batch.push({ key: numbered(COUNTER, i), value: this.#bytes(8) })
    return batch
  }

  /** Entries of the sample that no tick has settled yet. */
  waitingSample(count: number): Buffer[] {
    const left = this.sample.length - this.#settled
    return Array.from({ length: count }, () => this.sample[this.#settled + this.#random.below(left)] as Buffer)
  }

  randomHost(): number {
    // Density 1/x: the number of entries of a host falls with its rank.
    return Math.min(this.#hosts - 1, Math.floor(this.#hosts ** this.#random.fraction()))
  }

  /** Bounds of one host's entries. */
  static hostRange(host: number): [Buffer, Buffer] {
    const from = Buffer.alloc(10)
    writeHost(from, host)
    const to = Buffer.alloc(10, 0xff)
    writeHost(to, host)
    return [from, to]
  }

  #entryKey(host: number): Buffer {
    const key = Buffer.alloc(18)
    writeHost(key, host)
    key[9] = this.#random.below(10) === 0 ? this.#random.below(8) : 4
    key.writeBigUInt64BE(BigInt(this.#sequence++), 10)
    return key
  }

  /** Ids and numbers, then what is left of the URL's text: 60 to 90 bytes. */
  #entryValue(): Buffer {
    const bytes = 60 + this.#random.below(31)
    let text = ''
    while (text.length < bytes - 16)
      text += `/${WORDS[this.#random.below(WORDS.length)]}-${this.#random.below(100_000).toString(36)}`
    const value = Buffer.allocUnsafe(bytes)
    for (let i = 0; i < 16; i += 4) value.writeUInt32LE(this.#random.next32(), i)
    value.write(text, 16, bytes - 16, 'latin1')
    return value
  }

  #bytes(count: number): Buffer {
    const value = Buffer.allocUnsafe(count)
    for (let i = 0; i < count; i += 4) value.writeUInt32LE(this.#random.next32(), i)
    return value
  }
}

/** kind 1 | slot 2 | hash of the host 6. */
function writeHost(key: Buffer, host: number): void {
  const hash = Math.imul(host + 1, 0x9e37_79b1) >>> 0
  key[0] = ENTRY
  key.writeUInt16BE(hash & 1023, 1)
  key.writeUInt32BE(hash, 3)
  key.writeUInt16BE((host * 7919) & 0xffff, 7)
}

export function numbered(kind: number, number: number): Buffer {
  const key = Buffer.alloc(9)
  key[0] = kind
  key.writeBigUInt64BE(BigInt(Math.max(0, number)), 1)
  return key
}
