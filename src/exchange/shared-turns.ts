// An address that hosts of several agents stand behind is asked in turns, also where the agents have no memory in common: every
// address has an owner, as every host has, and the owner gives the others rights to ask it.
//
//   agent that has a host there          owner of the address
//   claim ── want ─────────────────────▶ its gate: free?
//   asks, again and again ◀─ given ───── a right, for a time
//   … and the last answer came ─ back ─▶ free
//                          ◀─ later ──── not now
//
// A right allows one request at a time. Where addresses do not rest it is kept and used again until its time is over or nobody
// has needed it for a moment, so that a busy host costs two messages in some seconds; where they rest it is for one request.
//
// Laws
//   - A request is begun only while its right lasts. Its time counts from when it was wanted, on the clock of who wanted it; the
//     owner counts from when it was given, which is later: a right is never used after the owner has stopped counting it.
//   - Where addresses rest nobody else asks one while a right to it is out: when in its time it is used is not known.
//   - A right that does not come back counts until its time and that of the longest request are over.
//   - Rights last less than a lease: whoever begins a share after its owner died finds all rights run out. Whoever gives its
//     share up in order gives none any more and waits for those that are out (`settle`).

import { assert, type Clock, type ClockMs } from '../base/index.ts'
import { doorOfAddress, type IpGate, type IpGateSettings, MemoryIpGate } from '../frontier/index.ts'
import type { PeerMessage, TurnGate } from './peer-message.ts'

export type TurnMessage = Extract<PeerMessage, { kind: `turn-${string}` }>

export interface SharedTurnsParts {
  readonly gate: TurnGate
  readonly self: number
  /** The agent that owns a door. */
  readonly ownerOf: (door: number) => number
  readonly clock: Clock
  readonly settings: IpGateSettings
  /** No request takes longer. */
  readonly requestMs: number
  /** Numbers of rights begin here: no life of an agent has those of another. */
  readonly firstId: number
}

/** How long a right lasts; well below the least lease (5 s). */
export const RIGHT_MS = 4_000
/** A right that nobody has used for so long goes back. */
const IDLE_MS = 500
/** Somebody who was told nothing asks again after this. */
const UNANSWERED_MS = 1_000
const POLL_MS = 20
/** What the owner tells others who find nothing free: there is no line, whoever asks next may be luckier. */
const LATER_MS = 50

interface Door {
  readonly number: number
  readonly owner: number
  /** Rights we have, of another's address. */
  readonly rights: Right[]
  /** When the one we want was asked for; null when we want none. */
  want: { readonly id: number; readonly sinceMs: number } | null
  /** Not before this, said the owner. */
  laterMs: number
}

interface Right {
  readonly id: number
  readonly untilMs: number
  usedBy: object | null
  idleSinceMs: number
}

/** A right that another has of an address of ours. */
interface Given {
  readonly door: number
  readonly claimant: object
  readonly agent: number
  readonly id: number
  readonly lostMs: number
}

export class SharedTurns implements IpGate {
  readonly #parts: SharedTurnsParts
  #send: (agent: number, message: TurnMessage) => void = () => {}
  readonly #own: MemoryIpGate
  /** Of others, by number: those that were asked for. */
  readonly #doors = new Map<number, Door>()
  /** Doors by what was asked for and not answered. */
  readonly #wants = new Map<number, Door>()
  /** By agent and the number of its right. */
  readonly #given = new Map<string, Given>()
  /** By door of ours: requests of our own hosts, and rights that others have. */
  readonly #claims = new Map<number, number>()
  readonly #rightsOut = new Map<number, number>()
  #lastId: number
  #isSettling = false
  /** Doors at which we have rights. */
  readonly #held = new Set<Door>()
  #cancelSweep: (() => void) | null = null

  constructor(parts: SharedTurnsParts) {
    this.#parts = parts
    this.#own = new MemoryIpGate(parts.settings)
    this.#lastId = parts.firstId
  }

  /** The way to the others. What is said before there is one is lost, and asked for again. */
  connect(send: (agent: number, message: TurnMessage) => void): void {
    this.#send = send
  }

  get gate(): TurnGate {
    return this.#parts.gate
  }

  doorOf(address: string): number {
    return doorOfAddress(address)
  }

  claim(number: number, nowMs: number, claimant: object): number {
    const { self, ownerOf } = this.#parts
    const owner = ownerOf(number)
    if (owner === self) {
      this.#forgetLost(nowMs)
      const door = this.#ownDoor(number)
      const atMs = this.#isAlone(this.#rightsOut, door) ? this.#own.claim(door, nowMs, claimant) : Infinity
      if (atMs === 0) count(this.#claims, door, 1)
      // Others may give theirs back.
      return atMs === Infinity ? nowMs + POLL_MS : atMs
    }
    const door = this.#doorOf(number, owner)
    const right = door.rights.find((one) => one.usedBy === null && one.untilMs > nowMs)
    if (right !== undefined) {
      right.usedBy = claimant
      return 0
    }
    if (door.laterMs > nowMs) return door.laterMs
    if (this.#isSettling) return nowMs + UNANSWERED_MS
    if (door.want === null || door.want.sinceMs + UNANSWERED_MS <= nowMs) this.#want(door, nowMs)
    return nowMs + POLL_MS
  }

  release(number: number, nowMs: number, wasAsked: boolean, claimant: object): void {
    const { self, ownerOf, settings } = this.#parts
    if (ownerOf(number) === self) {
      const own = this.#ownDoor(number)
      this.#own.release(own, nowMs, wasAsked, claimant)
      return count(this.#claims, own, -1)
    }
    const door = this.#doors.get(number)
    const right = door?.rights.find((one) => one.usedBy === claimant)
    assert(door !== undefined && right !== undefined, `door ${number} is given back more often than it was given`)
    right.usedBy = null
    right.idleSinceMs = nowMs
    if (settings.ipDelayMs > 0 || right.untilMs <= nowMs || this.#isSettling) this.#giveBack(door, right, wasAsked)
  }

  /** Whether nobody of these is in the way. */
  #isAlone(others: ReadonlyMap<number, number>, door: number): boolean {
    return this.#parts.settings.ipDelayMs === 0 || !others.has(door)
  }

  #ownDoor(number: number): number {
    return this.#own.doorOf(String(number))
  }

  #doorOf(number: number, owner: number): Door {
    let door = this.#doors.get(number)
    if (door === undefined) {
      door = { number, owner, rights: [], want: null, laterMs: 0 }
      this.#doors.set(number, door)
    }
    return door
  }

  hear(agent: number, message: TurnMessage): void {
    const nowMs = this.#parts.clock.nowMs()
    switch (message.kind) {
      case 'turn-want':
        return this.#answer(agent, message.door, message.id, nowMs)
      case 'turn-given':
        return this.#granted(agent, message.id, message.forMs)
      case 'turn-later':
        return this.#refused(message.id, message.inMs, nowMs)
      case 'turn-back':
        return this.#back(agent, message.id, message.wasAsked, nowMs)
    }
  }

  /**
   * Gives nothing any more, and gives back what it has; nobody asks for us any more. Resolves when nobody has a right of ours, or could
   * begin a request with one.
   */
  async settle(): Promise<void> {
    this.#isSettling = true
    const { clock } = this.#parts
    for (const door of [...this.#held]) {
      // One that is used by a request which was cut and has not ended yet goes back when it has.
      for (const right of [...door.rights]) if (right.usedBy === null) this.#giveBack(door, right, true)
    }
    const endMs = clock.nowMs() + RIGHT_MS
    for (;;) {
      const nowMs = clock.nowMs()
      this.#forgetLost(nowMs)
      if (this.#given.size === 0 || nowMs >= endMs) return
      await new Promise<void>((resolve) => {
        clock.callAt((nowMs + LATER_MS) as ClockMs, resolve)
      })
    }
  }

  close(): void {
    this.#cancelSweep?.()
    this.#cancelSweep = null
  }

  #want(door: Door, nowMs: number): void {
    if (door.want !== null) this.#wants.delete(door.want.id)
    const id = ++this.#lastId
    door.want = { id, sinceMs: nowMs }
    this.#wants.set(id, door)
    this.#send(door.owner, { kind: 'turn-want', gate: this.#parts.gate, door: door.number, id })
  }

  #granted(agent: number, id: number, forMs: number): void {
    const door = this.#wants.get(id)
    const { gate, clock } = this.#parts
    // We have asked anew since: this one is not used.
    if (door?.want == null) return this.#send(agent, { kind: 'turn-back', gate, id, wasAsked: false })
    const nowMs = clock.nowMs()
    door.rights.push({ id, untilMs: door.want.sinceMs + forMs, usedBy: null, idleSinceMs: nowMs })
    this.#answered(door, id)
    this.#held.add(door)
    this.#sweepLater(nowMs)
  }

  #refused(id: number, inMs: number, nowMs: number): void {
    const door = this.#wants.get(id)
    if (door === undefined) return
    this.#answered(door, id)
    door.laterMs = nowMs + inMs
  }

  #answered(door: Door, id: number): void {
    this.#wants.delete(id)
    door.want = null
  }

  #giveBack(door: Door, right: Right, wasAsked: boolean): void {
    door.rights.splice(door.rights.indexOf(right), 1)
    if (door.rights.length === 0) this.#held.delete(door)
    this.#send(door.owner, { kind: 'turn-back', gate: this.#parts.gate, id: right.id, wasAsked })
  }

  /** Rights that nobody uses go back. One that is in use goes back when its request has ended. */
  #sweepLater(nowMs: number): void {
    if (this.#cancelSweep !== null || this.#held.size === 0) return
    this.#cancelSweep = this.#parts.clock.callAt((nowMs + IDLE_MS) as ClockMs, () => {
      this.#cancelSweep = null
      const sweptMs = this.#parts.clock.nowMs()
      for (const door of this.#held) {
        for (const right of [...door.rights]) {
          if (right.usedBy !== null) continue
          if (right.untilMs <= sweptMs || right.idleSinceMs + IDLE_MS <= sweptMs) this.#giveBack(door, right, true)
        }
      }
      this.#sweepLater(sweptMs)
    })
  }

  #answer(agent: number, number: number, id: number, nowMs: number): void {
    const { gate, requestMs, ownerOf, self } = this.#parts
    this.#forgetLost(nowMs)
    const later = (inMs: number): void => this.#send(agent, { kind: 'turn-later', gate, id, inMs })
    if (this.#isSettling || ownerOf(number) !== self) return later(UNANSWERED_MS)
    const door = this.#ownDoor(number)
    const claimant = {}
    const isAlone = this.#isAlone(this.#claims, door) && this.#isAlone(this.#rightsOut, door)
    const atMs = isAlone ? this.#own.claim(door, nowMs, claimant) : Infinity
    if (atMs !== 0) return later(atMs === Infinity ? LATER_MS : Math.max(1, atMs - nowMs))
    count(this.#rightsOut, door, 1)
    this.#given.set(`${agent} ${id}`, { door, claimant, agent, id, lostMs: nowMs + RIGHT_MS + requestMs })
    this.#send(agent, { kind: 'turn-given', gate, id, forMs: RIGHT_MS })
  }

  #back(agent: number, id: number, wasAsked: boolean, nowMs: number): void {
    const name = `${agent} ${id}`
    const given = this.#given.get(name)
    if (given === undefined) return
    this.#given.delete(name)
    this.#own.release(given.door, nowMs, wasAsked, given.claimant)
    count(this.#rightsOut, given.door, -1)
  }

  /** Whoever had them is gone, or its answer was lost. */
  #forgetLost(nowMs: number): void {
    for (const { agent, id, lostMs } of this.#given.values()) {
      // In the order in which they were given, so the first that may still come back ends it.
      if (lostMs > nowMs) return
      this.#back(agent, id, true, nowMs)
    }
  }
}

function count(counts: Map<number, number>, door: number, by: number): void {
  const sum = (counts.get(door) ?? 0) + by
  if (sum === 0) counts.delete(door)
  else counts.set(door, sum)
}
