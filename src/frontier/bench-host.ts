// A host as the workbench sees it: what it may be asked for, since when, and where it stands.

import type { ClockMs } from '../base/index.ts'
import type { HostKey } from '../url/index.ts'
import type { Resting } from './rest-heap.ts'

/** The band of a host that has nothing to be asked for now. */
export const NO_BAND = -1

/** The door of a host whose address is not known, or whose domain does not rest. */
export const NO_DOOR = -1

/** Where a host stands. Numbers, because the workbench compares them for every turn. */
export const ASIDE = 0
export const READY = 1
/** Its address or domain is free again; it goes before those that are ready in its band. */
export const CALLED = 2
/** Its turn had come, but its address was not free, or its domain. */
export const AT_ADDRESS = 3
export const RESTING = 4
export const OUT = 5
export type Place = typeof ASIDE | typeof READY | typeof CALLED | typeof AT_ADDRESS | typeof RESTING | typeof OUT

/** All fields but `key` are written by the workbench alone. */
export class BenchHost implements Resting {
  readonly key: HostKey
  place: Place = ASIDE
  /** The best band it has something in, or NO_BAND. */
  band: number = NO_BAND
  /** Earliest time it may be asked again. Never decreases. */
  restUntilMs: ClockMs = 0 as ClockMs
  /** Its address's number at the gate, once known. */
  door: number = NO_DOOR
  /** It is out and holds a claim on its door. */
  holdsClaim = false
  /** Its domain's number at the gate of domains, where there is one. */
  domainDoor: number = NO_DOOR
  /** It holds its domain: it is out, or waits for its address, which comes second. */
  holdsDomain = false
  heapIndex = -1
  /** Neighbours in the one list it stands in (ready, called, at its address or domain). */
  before: BenchHost | null = null
  after: BenchHost | null = null

  constructor(key: HostKey) {
    this.key = key
  }
}
