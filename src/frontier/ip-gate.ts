// May this address be asked now? Thousands of hosts can stand behind one address, each rested by its
// own clock; the gate bounds how many of them are asked at once and how fast one after another.
//
// An address rests from the start of a request and again from its end: neither two starts nor an
// answer and the next start are closer than the rest. That is slower than spacing the starts alone,
// and right under either reading of "one request every ipDelay".
//
// The interface speaks of numbered doors, not of texts, because agents in several threads keep the
// stamps in one SharedArrayBuffer (shared-ip-gate.ts): there a door is a hash of the address, and two
// addresses that meet in one door merely share its politeness.

import { assert } from '../base/index.ts'

export interface IpGate {
  /** The door of an address: the same number for every address that shares its politeness. */
  doorOf(address: string): number
  /**
   * Claims one connection through a door: 0 when granted, else the time at which asking again may
   * help; Infinity when only a release() by the asker itself can, which a gate shared with others
   * must therefore never answer. A time answered lies ahead of nowMs. The claimant, told apart by
   * identity, may hold one claim at a time.
   */
  claim(door: number, nowMs: number, claimant: object): number
  /** Gives back what claim() granted. Where nothing was asked after all, the door does not rest for it. */
  release(door: number, nowMs: number, wasAsked: boolean, claimant: object): void
}

export interface IpGateSettings {
  /** The least time between two requests through a door. */
  readonly ipDelayMs: number
  /** Hosts asked at once through a door. */
  readonly ipConnections: number
}

const FIRST_CAPACITY = 64

/** The gate of one thread: 28 bytes per door, and a map from the address. */
export class MemoryIpGate implements IpGate {
  readonly #ipDelayMs: number
  readonly #ipConnections: number
  readonly #doors = new Map<string, number>()
  /** By door: not before this time. Shrinks only when the latest claim turns out to have asked nothing. */
  #restUntilMs = new Float64Array(FIRST_CAPACITY)
  /** By door: when the latest claim was granted. */
  #claimedAtMs = new Float64Array(FIRST_CAPACITY)
  /** By door: whose claim the rest stems from; null when it stems from the end of a request, or there is none. */
  readonly #latest: (object | null)[] = []
  /** By door: claims granted and not given back. Never above ipConnections, never below 0. */
  #out = new Int32Array(FIRST_CAPACITY)

  constructor(settings: IpGateSettings) {
    assert(settings.ipConnections >= 1, `ipConnections is ${settings.ipConnections}; no host could ever be asked`)
    this.#ipDelayMs = settings.ipDelayMs
    this.#ipConnections = settings.ipConnections
  }

  doorOf(address: string): number {
    const key = politenessKeyOf(address)
    const known = this.#doors.get(key)
    if (known !== undefined) return known
    const door = this.#doors.size
    this.#doors.set(key, door)
    this.#latest.push(null)
    if (door === this.#out.length) this.#grow()
    return door
  }

  claim(door: number, nowMs: number, claimant: object): number {
    const out = this.#out[door] as number
    if (out >= this.#ipConnections) return Infinity
    const restUntilMs = this.#restUntilMs[door] as number
    if (restUntilMs > nowMs) return restUntilMs
    this.#out[door] = out + 1
    this.#restUntilMs[door] = nowMs + this.#ipDelayMs
    this.#claimedAtMs[door] = nowMs
    this.#latest[door] = claimant
    return 0
  }

  release(door: number, nowMs: number, wasAsked: boolean, claimant: object): void {
    const out = this.#out[door] as number
    if (out <= 0) assert(false, `door ${door} was released more often than claimed`)
    this.#out[door] = out - 1
    if (wasAsked) {
      this.#restUntilMs[door] = Math.max(this.#restUntilMs[door] as number, nowMs + this.#ipDelayMs)
      this.#latest[door] = null
    } else if (this.#latest[door] === claimant) {
      // Nobody came after it: the rest is its own, and before it the door had rested enough to grant it.
      this.#restUntilMs[door] = this.#claimedAtMs[door] as number
      this.#latest[door] = null
    }
  }

  #grow(): void {
    const restUntilMs = new Float64Array(this.#out.length * 2)
    const out = new Int32Array(this.#out.length * 2)
    const claimedAtMs = new Float64Array(this.#out.length * 2)
    claimedAtMs.set(this.#claimedAtMs)
    this.#claimedAtMs = claimedAtMs
    restUntilMs.set(this.#restUntilMs)
    out.set(this.#out)
    this.#restUntilMs = restUntilMs
    this.#out = out
  }
}

/**
 * What of an address counts for politeness: IPv4 whole, also when mapped into IPv6; of IPv6 the first
 * 48 bits, the least a site is given (RFC 6177), because one machine may answer on 2⁸⁰ addresses.
 */
export function politenessKeyOf(address: string): string {
  if (!address.includes(':')) return address
  const groups = groupsOf(address.replace(/%.*$/, ''))
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  if (isMapped) {
    const [high = 0, low = 0] = groups.slice(6)
    return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`
  }
  return `${groups
    .slice(0, 3)
    .map((group) => group.toString(16))
    .join(':')}::/48`
}

/** The eight 16-bit groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = address.split('::')
  const before = groupsOfPart(head)
  if (tail === undefined) return before
  const after = groupsOfPart(tail)
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after]
}

/** The groups between two `::`; a dotted IPv4 tail is two. */
function groupsOfPart(part: string): number[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => {
    const [a, b, c, d] = group.split('.').map(Number)
    if (a === undefined || b === undefined || c === undefined || d === undefined) return [Number.parseInt(group, 16)]
    return [(a << 8) | b, (c << 8) | d]
  })
}
