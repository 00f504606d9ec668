// Has any thread of this process met this content? A table in memory that all agents of a node share, so that a content which nobody
// has met is claimed at once, without asking its owner and waiting for the answer: who waits falls out of step with the pages
// it came with (decision 0056).
//
//   | states: one word an agent | bucket, 16 words | bucket | …        word: 32 bits of a digest; 0 = free
//
// A digest has one bucket, and whoever marks it looks through the bucket from its begin and takes the first free word by
// compare-exchange. Words are never freed or changed, so two who mark one digest at the same time meet at the same word, and one of them is first.
//
// It says only "nobody", which is always true, or "maybe, ask the owner": two digests may look alike, a page may have
// come to nothing, a bucket may be full. So it has a fixed size and needs no care: a crawl that outgrows it asks owners, as before.
//
// hot: once a page, some ten words read, nothing allocated.

import { assert } from '../base/index.ts'
import { bitsAt, type KnownContents } from '../content-seen/index.ts'

/**
 * What whoever marks a digest is told: it is the first of all who ever did; somebody had, or had marked one that looks alike;
 * there was no room, now and for every other who comes.
 */
export type Marking = 'first' | 'met' | 'untold'

const BUCKET_WORDS = 16
/** Above this share of the words too many buckets are full for marking to be worth its time. */
const LOAD_MAX = 0.8

const STATES = {
  /** What its contents and its notes on their way are, nobody has said yet. */
  unopened: 0,
  /** All that it knows is marked. */
  complete: 1,
  /** It knows more than there is room for. */
  tooMany: 2,
} as const

export class ContentMarks {
  readonly #agent: number
  readonly #states: Int32Array
  readonly #words: Int32Array
  readonly #buckets: number
  /** Once true it stays so. */
  #areOpen = false

  static allocate(agents: number, bytes: number): SharedArrayBuffer {
    const buckets = Math.max(1, Math.floor(bytes / (BUCKET_WORDS * Int32Array.BYTES_PER_ELEMENT)))
    return new SharedArrayBuffer((agents + buckets * BUCKET_WORDS) * Int32Array.BYTES_PER_ELEMENT)
  }

  /** One agent's side of it. */
  constructor(buffer: SharedArrayBuffer, agent: number, agents: number) {
    assert(agent < agents, `marks of ${agents} agents for agent ${agent}`)
    this.#agent = agent
    this.#states = new Int32Array(buffer, 0, agents)
    this.#words = new Int32Array(buffer, agents * Int32Array.BYTES_PER_ELEMENT)
    this.#buckets = this.#words.length / BUCKET_WORDS
  }

  /**
   * The agent has opened its share: everything it owns is marked, and what its notes on their way speak of (`pending`). Once in the life of a
   * process: what an agent that is started again knows was marked when it came to know it.
   */
  open(known: KnownContents, pending: Iterable<Uint8Array>): void {
    if (Atomics.load(this.#states, this.#agent) !== STATES.unopened) return
    for (const digest of pending) this.mark(digest)
    const hasRoom = known.size <= this.#words.length * LOAD_MAX
    if (hasRoom) known.eachKey((high, low) => void this.#mark(high, low))
    Atomics.store(this.#states, this.#agent, hasRoom ? STATES.complete : STATES.tooMany)
  }

  /** All agents have opened: what was on its way to owners is marked. To be asked before marking. */
  get areOpen(): boolean {
    if (this.#areOpen) return true
    for (let agent = 0; agent < this.#states.length; agent++) {
      if (Atomics.load(this.#states, agent) === STATES.unopened) return false
    }
    this.#areOpen = true
    return true
  }

  /** Whether an owner has marked all it knows: then whoever is the first to mark a digest of its is the first to meet it. To be asked before marking. */
  isWhole(owner: number): boolean {
    return this.areOpen && Atomics.load(this.#states, owner) === STATES.complete
  }

  mark(digest: Uint8Array): Marking {
    return this.#mark(bitsAt(digest, 0), bitsAt(digest, 4))
  }

  #mark(high: number, low: number): Marking {
    // 0 is a free word. A digest that begins with it looks like some others, which costs a question.
    const tag = high | 0 || 1
    const begin = Math.floor((low / 2 ** 32) * this.#buckets) * BUCKET_WORDS
    for (let at = begin; at < begin + BUCKET_WORDS; at++) {
      // Read without ceremony: a word that is taken stays as it is, and one that looks free is tried.
      const seen = this.#words[at] as number
      const word = seen === 0 ? Atomics.compareExchange(this.#words, at, 0, tag) : seen
      if (word === 0) return 'first'
      if (word === tag) return 'met'
    }
    return 'untold'
  }
}
