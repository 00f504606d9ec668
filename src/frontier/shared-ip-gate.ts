// The gate of several agents, each in a thread of its own: all doors lie in one SharedArrayBuffer.
//
//   header | door 0: rest, agent 0, agent 1, … | door 1: rest, agent 0, agent 1, … | …
//                    └ its connections out, and until when it waits for one
//
//   rest    one word for all: until when, and whether that is a claim's own rest, which it may take
//           back. Changed by compare-exchange only.
//   agent   one word per agent, written by that agent alone, and by freeAgent() when its thread is gone.
//
// There is no lock and no common count, so a thread may die between any two instructions: what it held
// stands in its own words and nowhere else. An agent that wants a connection first counts itself in,
// then counts all: of those who are in together beyond ipConnections, the last to come in sees all the
// others, and steps back. Two who come at once may both step back; they try a few times.
//
// Always true: the claims granted through a door, over all agents, are at most ipConnections; two of
// them are ipDelay apart, and so are the end of a request and the next grant.
//
// Nobody is told when another agent's connection ends. Who finds a door full is told to come back in
// some milliseconds, and notes that it waits. While others wait an agent takes no more than its share
// (shared-ip-gate-share.ts); without that, one that takes again in the moment it gives back would
// never let anybody in. Rests need no such rule: all wait for the same moment, and any may be first.
//
// Times are those of one scale for all threads, in ticks of 1/4 ms modulo 2³² (12 days), rounded to
// every second tick so that the rest is never shortened; the odd ones carry the mark of a claim. A rest
// that seems to lie further ahead than any can is one of long ago.

import { assert } from '../base/index.ts'
import { type IpGate, type IpGateSettings, politenessKeyOf } from './ip-gate.ts'
import { shareOf } from './shared-ip-gate-share.ts'

const DOORS = 65_536
/** Words at the front: how many agents, how many doors. The rest of a cache line is unused. */
const HEADER_WORDS = 16
const AGENTS_AT = 0
const DOORS_AT = 1

const TICKS_PER_MS = 4
/** In the word of a rest: it is a claim's own. */
const OF_CLAIM = 1
/** The word of a door that never rested. */
const NO_REST = 0
/** A thread may see a clock reading of another that is ahead of its own, if it was kept waiting, by no more than this. */
const SKEW_TICKS = 600_000 * TICKS_PER_MS
/** So that what lies ahead and what is past can be told apart. */
const IP_DELAY_MS_MAX = 5 * 86_400_000

/** In the word of an agent: its connections out below, above until when it waits, in units of 16 ticks (4 ms), 0 if it does not. */
const COUNT_BITS = 16
const COUNT_MASK = 2 ** COUNT_BITS - 1
const WAIT_MASK = 0xffff
const WAIT_SHIFT = 4

/** When to ask again at a door that is full, or left to others: soon, or less soon with a connection there, whose end tells as well. */
const RETRY_MS = 20
const RETRY_HOLDING_MS = 50
/** All connections are one's own: their end tells. */
const RETRY_ALL_OWN_MS = 1_000
/** An agent that was told to come back may be so late and still counts as waiting. */
const LATE_MS = 100
const WAIT_MAX = ((RETRY_HOLDING_MS + LATE_MS) * TICKS_PER_MS) >> WAIT_SHIFT

/** Tries when others come at the same moment. */
const TRIES = 4

/** A claim that may still take back its rest. */
interface LatestClaim {
  readonly claimant: object
  readonly word: number
  readonly before: number
}

export class SharedIpGate implements IpGate {
  readonly #words: Int32Array
  readonly #agent: number
  readonly #agents: number
  readonly #doors: number
  readonly #ipConnections: number
  readonly #ipDelayMs: number
  readonly #restTicksMax: number
  readonly #offsetMs: number
  /** By door: this agent's latest claim there, while it is out. Only kept where doors rest. */
  readonly #latest = new Map<number, LatestClaim>()

  /** The memory of a gate for so many agents: 4 bytes per door, and 4 more for each agent. It can be posted to any thread. */
  static allocate(agents: number, doors: number = DOORS): SharedArrayBuffer {
    assert(agents >= 1, `a gate for ${agents} agents`)
    assert(doors >= 1, `a gate with ${doors} doors`)
    const buffer = new SharedArrayBuffer((HEADER_WORDS + doors * (agents + 1)) * Int32Array.BYTES_PER_ELEMENT)
    const words = new Int32Array(buffer)
    words[AGENTS_AT] = agents
    words[DOORS_AT] = doors
    return buffer
  }

  /**
   * Gives back all an agent held when its thread ended; never while it runs. Its requests count as
   * ended now, on the scale common to all. Returns how many there were. O(doors), some milliseconds.
   */
  static freeAgent(buffer: SharedArrayBuffer, agent: number, settings: IpGateSettings, commonMs: number): number {
    const words = new Int32Array(buffer)
    const agents = words[AGENTS_AT] as number
    assert(agent >= 0 && agent < agents, `there is no agent ${agent} of ${agents}`)
    let freed = 0
    for (let at = HEADER_WORDS; at < words.length; at += agents + 1) {
      const count = Atomics.load(words, at + 1 + agent) & COUNT_MASK
      if (count > 0 && settings.ipDelayMs > 0) lengthenRest(words, at, ticksAfter(commonMs + settings.ipDelayMs))
      Atomics.store(words, at + 1 + agent, 0)
      freed += count
    }
    return freed
  }

  /**
   * @param offsetMs What to add to the times this agent gives to have those of the scale common to all
   *   threads; for the system clock `performance.timeOrigin`.
   */
  constructor(buffer: SharedArrayBuffer, agent: number, settings: IpGateSettings, offsetMs: number) {
    const words = new Int32Array(buffer)
    this.#words = words
    this.#agents = words[AGENTS_AT] as number
    this.#doors = words[DOORS_AT] as number
    assert(agent >= 0 && agent < this.#agents, `there is no agent ${agent} of ${this.#agents}`)
    assert(settings.ipConnections >= 1, `ipConnections is ${settings.ipConnections}; no host could ever be asked`)
    assert(
      settings.ipDelayMs <= IP_DELAY_MS_MAX,
      `an ipDelay of ${settings.ipDelayMs} ms is more than agents can share`,
    )
    this.#agent = agent
    // More than a word can count is more than anybody means; fewer is the polite side to err on.
    this.#ipConnections = Math.min(settings.ipConnections, COUNT_MASK)
    this.#ipDelayMs = settings.ipDelayMs
    this.#restTicksMax = Math.ceil(settings.ipDelayMs) * TICKS_PER_MS + SKEW_TICKS
    // A binary fraction, so that a time said here and told back there is exactly the same.
    this.#offsetMs = Math.round(offsetMs * 1_024) / 1_024
  }

  doorOf(address: string): number {
    return hashOf(politenessKeyOf(address)) % this.#doors
  }

  claim(door: number, nowMs: number, claimant: object): number {
    const words = this.#words
    const at = this.#wordOf(door)
    const nowTicks = ticksBefore(nowMs + this.#offsetMs)
    const canRest = this.#ipDelayMs > 0
    let rest = canRest ? Atomics.load(words, at) : NO_REST
    const aheadTicks = canRest ? this.#aheadTicks(rest, nowTicks) : 0
    if (aheadTicks > 0) return this.#timeOf(nowTicks + aheadTicks)
    const retryMs = this.#enter(at, nowTicks)
    if (retryMs > 0) return nowMs + retryMs
    if (!canRest) return 0
    const word = ticksAfter(nowMs + this.#offsetMs + this.#ipDelayMs) | OF_CLAIM
    for (;;) {
      const found = Atomics.compareExchange(words, at, rest, word)
      if (found === rest) break
      rest = found
      const nowAheadTicks = this.#aheadTicks(rest, nowTicks)
      if (nowAheadTicks > 0) {
        this.#leave(at)
        return this.#timeOf(nowTicks + nowAheadTicks)
      }
    }
    this.#latest.set(door, { claimant, word, before: nowTicks | 0 })
    return 0
  }

  release(door: number, nowMs: number, wasAsked: boolean, claimant: object): void {
    const at = this.#wordOf(door)
    const count = this.#countAt(at)
    if (count <= 0) assert(false, `door ${door} was released more often than claimed`)
    if (this.#ipDelayMs > 0) {
      const latest = this.#latest.get(door)
      if (latest !== undefined && latest.claimant === claimant) {
        this.#latest.delete(door)
        // Only if nobody has changed it since: before the claim the door had rested enough to grant it.
        if (!wasAsked) Atomics.compareExchange(this.#words, at, latest.word, latest.before)
      }
      if (wasAsked) lengthenRest(this.#words, at, ticksAfter(nowMs + this.#offsetMs + this.#ipDelayMs))
    }
    this.#leave(at)
  }

  /** Counts this agent in, once more, and returns 0; or says in how many milliseconds to ask again. */
  #enter(at: number, nowTicks: number): number {
    const words = this.#words
    const own = at + 1 + this.#agent
    const count = this.#countAt(at)
    if (count >= this.#ipConnections) return RETRY_ALL_OWN_MS
    const nowWait = waitOf(nowTicks)
    for (let tries = 0; tries < TRIES; tries++) {
      let others = 0
      let ofContent = 0
      let waiting = 0
      let waitingBefore = 0
      for (let agent = 0; agent < this.#agents; agent++) {
        if (agent === this.#agent) continue
        const word = Atomics.load(words, at + 1 + agent)
        others += word & COUNT_MASK
        if (doesWait(word, nowWait)) {
          waiting++
          if (agent < this.#agent) waitingBefore++
        } else ofContent += word & COUNT_MASK
      }
      const isFull = count + others >= this.#ipConnections
      const mayTake =
        !isFull &&
        (waiting === 0 || count < shareOf(this.#ipConnections - ofContent, waiting + 1, waitingBefore, nowTicks))
      if (!mayTake) break
      Atomics.store(words, own, count + 1)
      if (this.#agents === 1 || count + 1 + this.#othersOut(at) <= this.#ipConnections) return 0
      Atomics.store(words, own, count)
    }
    const retryMs = count > 0 ? RETRY_HOLDING_MS : RETRY_MS
    Atomics.store(words, own, count | (waitOf(nowTicks + (retryMs + LATE_MS) * TICKS_PER_MS) << COUNT_BITS))
    return retryMs
  }

  #othersOut(at: number): number {
    let out = 0
    for (let agent = 0; agent < this.#agents; agent++) {
      if (agent !== this.#agent) out += Atomics.load(this.#words, at + 1 + agent) & COUNT_MASK
    }
    return out
  }

  /** Counts this agent out, once; it still waits if it waited. */
  #leave(at: number): void {
    const own = at + 1 + this.#agent
    Atomics.store(this.#words, own, (this.#words[own] as number) - 1)
  }

  /** Connections of this agent. Nobody else writes the word, so it need not be read atomically. */
  #countAt(at: number): number {
    return (this.#words[at + 1 + this.#agent] as number) & COUNT_MASK
  }

  #wordOf(door: number): number {
    return HEADER_WORDS + door * (this.#agents + 1)
  }

  /** How far the end of a rest lies ahead; 0 or less when it is over. */
  #aheadTicks(rest: number, nowTicks: number): number {
    if (rest === NO_REST) return 0
    const ahead = ((rest & ~OF_CLAIM) - nowTicks) | 0
    return ahead > this.#restTicksMax ? 0 : ahead
  }

  #timeOf(ticks: number): number {
    return ticks / TICKS_PER_MS - this.#offsetMs
  }
}

/** The rest of a door ends at `until` or later, and belongs to no claim. */
function lengthenRest(words: Int32Array, at: number, until: number): void {
  const untilWord = until | 0 || 2
  let rest = Atomics.load(words, at)
  for (;;) {
    // Another agent may have read its clock later than we did.
    const ahead = ((rest & ~OF_CLAIM) - untilWord) | 0
    const isLater = rest !== NO_REST && ahead > 0 && ahead <= SKEW_TICKS
    const found = Atomics.compareExchange(words, at, rest, isLater ? rest & ~OF_CLAIM : untilWord)
    if (found === rest) return
    rest = found
  }
}

/** The last even tick not after a time, the first not before it; not yet modulo 2³². */
function ticksBefore(ms: number): number {
  return Math.floor(ms * (TICKS_PER_MS / 2)) * 2
}
function ticksAfter(ms: number): number {
  return Math.ceil(ms * (TICKS_PER_MS / 2)) * 2
}

/** A time as an agent's word keeps it. */
function waitOf(ticks: number): number {
  return ((ticks | 0) >>> WAIT_SHIFT) & WAIT_MASK || 1
}

function doesWait(word: number, nowWait: number): boolean {
  const until = word >>> COUNT_BITS
  return until !== 0 && ((until - nowWait) & WAIT_MASK) <= WAIT_MAX
}

/** 32 bits of a text, FNV-1a with a last stir so that neighbours do not stand side by side. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
