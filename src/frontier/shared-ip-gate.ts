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
// Always true: the claims granted through a door, over all agents, are at most ipConnections; two that
// ask are ipDelay apart, and so are the end of a request and the next grant.
//
// Nobody is told when another agent's connection ends. Who finds a door full is told to come back in
// some milliseconds, and notes that it waits. While others wait an agent takes no more than its share
// (shared-ip-gate-share.ts); without that, one that takes again in the moment it gives back would
// never let anybody in. And when a rest ends for which several wait, lots are drawn who may come
// first: otherwise it would always be the most idle thread.

import { assert } from '../base/index.ts'
import { type IpGate, type IpGateSettings, politenessKeyOf } from './ip-gate.ts'
import { isDrawn, shareOf } from './shared-ip-gate-share.ts'
import {
  aheadTicks,
  COUNT_BITS,
  COUNT_MASK,
  doesWait,
  lengthenRest,
  NO_REST,
  OF_CLAIM,
  SKEW_TICKS,
  TICKS_PER_MS,
  ticksAfter,
  ticksBefore,
  WAIT_SHIFT,
  waitOf,
} from './shared-ip-gate-words.ts'

const DOORS = 65_536
/** Words at the front: how many agents, how many doors. The rest of a cache line is unused. */
const HEADER_WORDS = 16
const AGENTS_AT = 0
const DOORS_AT = 1

/** So that what lies ahead and what is past can be told apart. */
const IP_DELAY_MS_MAX = 5 * 86_400_000

/** When to ask again at a door that is full, or left to others: soon, or less soon with a connection there, whose end tells as well. */
const RETRY_TICKS = 20 * TICKS_PER_MS
const RETRY_HOLDING_TICKS = 50 * TICKS_PER_MS
/** All connections are one's own: their end tells. */
const RETRY_ALL_OWN_TICKS = 1_000 * TICKS_PER_MS
/** So long after a rest the door is left to the one that is drawn. */
const DRAWN_TICKS = 20 * TICKS_PER_MS
/** An agent that was told to come back may be so late and still counts as waiting. */
const LATE_TICKS = 100 * TICKS_PER_MS
/** Who is told to come back later than this counts as waiting only until then. */
const WAIT_TICKS_MAX = 3_600_000 * TICKS_PER_MS

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
  /** As far ahead, in units of an agent's word, may lie until when it waits. */
  readonly #waitMax: number
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
    const delayTicks = Math.ceil(settings.ipDelayMs) * TICKS_PER_MS
    this.#restTicksMax = delayTicks + SKEW_TICKS
    const waitTicksMax = Math.min(Math.max(delayTicks, RETRY_HOLDING_TICKS), WAIT_TICKS_MAX) + DRAWN_TICKS + LATE_TICKS
    this.#waitMax = (waitTicksMax >> WAIT_SHIFT) + 1
    // A binary fraction, so that a time said here and told back there is exactly the same.
    this.#offsetMs = Math.round(offsetMs * 1_024) / 1_024
  }

  doorOf(address: string): number {
    return doorOfAddress(address, this.#doors)
  }

  claim(door: number, nowMs: number, claimant: object): number {
    const words = this.#words
    const at = this.#wordOf(door)
    const nowTicks = ticksBefore(nowMs + this.#offsetMs)
    const canRest = this.#ipDelayMs > 0
    let rest = NO_REST
    if (canRest) {
      rest = Atomics.load(words, at)
      const ahead = aheadTicks(rest, nowTicks, this.#restTicksMax)
      if (ahead > 0) return this.#refuse(at, nowTicks, ahead)
      const isFirst = ahead <= -DRAWN_TICKS || this.#isDrawn(at, nowTicks, rest)
      if (!isFirst) return this.#refuse(at, nowTicks, ahead + DRAWN_TICKS)
    }
    // Nobody else to wait for.
    if (this.#countAt(at) >= this.#ipConnections) return this.#timeOf(nowTicks + RETRY_ALL_OWN_TICKS)
    const retryTicks = this.#enter(at, nowTicks)
    if (retryTicks > 0) return this.#refuse(at, nowTicks, retryTicks)
    if (!canRest) return 0
    const word = ticksAfter(nowMs + this.#offsetMs + this.#ipDelayMs) | OF_CLAIM
    for (;;) {
      const found = Atomics.compareExchange(words, at, rest, word)
      if (found === rest) break
      rest = found
      const ahead = aheadTicks(rest, nowTicks, this.#restTicksMax)
      if (ahead > 0) {
        this.#leave(at)
        return this.#refuse(at, nowTicks, ahead)
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

  /** Counts this agent in, once more, and returns 0; or says in how many ticks to ask again. */
  #enter(at: number, nowTicks: number): number {
    const words = this.#words
    const own = at + 1 + this.#agent
    const count = this.#countAt(at)
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
        if (doesWait(word, nowWait, this.#waitMax)) {
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
    return count > 0 ? RETRY_HOLDING_TICKS : RETRY_TICKS
  }

  /** Whether this agent is the one of those who wait that may come first after this rest. */
  #isDrawn(at: number, nowTicks: number, rest: number): boolean {
    const nowWait = waitOf(nowTicks)
    let waiting = 0
    let waitingBefore = 0
    for (let agent = 0; agent < this.#agents; agent++) {
      if (agent === this.#agent || !doesWait(Atomics.load(this.#words, at + 1 + agent), nowWait, this.#waitMax))
        continue
      waiting++
      if (agent < this.#agent) waitingBefore++
    }
    return waiting === 0 || isDrawn(waiting + 1, waitingBefore, rest)
  }

  /** Notes that this agent waits, and says until when. */
  #refuse(at: number, nowTicks: number, ticks: number): number {
    const until = waitOf(nowTicks + Math.min(ticks, WAIT_TICKS_MAX) + LATE_TICKS)
    Atomics.store(this.#words, at + 1 + this.#agent, this.#countAt(at) | (until << COUNT_BITS))
    return this.#timeOf(nowTicks + ticks)
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

  #timeOf(ticks: number): number {
    return ticks / TICKS_PER_MS - this.#offsetMs
  }

  #wordOf(door: number): number {
    return HEADER_WORDS + door * (this.#agents + 1)
  }
}

/** 32 bits of a text, FNV-1a with a last stir so that neighbours do not stand side by side. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** One of so many doors; addresses that count as one have the same. */
export function doorOfAddress(address: string, doors: number = DOORS): number {
  return hashOf(politenessKeyOf(address)) % doors
}
