// Who owns what, seen by one of the agents of a crawl. Which assignment it is by stands in `placement`.

import { type Assignment, shareOfSlot } from '../placement/index.ts'

/** Hosts go by their slot, digests by their first two bytes. */
export class Owners {
  readonly self: number
  readonly agents: number
  readonly #owners: Uint16Array

  /** `self` of `agents`: an agent of one machine, or the share of a cluster that this agent works on. */
  constructor(self: number, agents: number, assignment?: Assignment) {
    this.self = self
    this.agents = agents
    this.#owners = shareOfSlot(agents, assignment)
  }

  /** The agent of a slot, which is the upper half of the upper word of a fingerprint. */
  ofSlot(slot: number): number {
    return this.#owners[slot] as number
  }

  ofDigest(digest: Uint8Array): number {
    return this.ofSlot(((digest[0] as number) << 8) | (digest[1] as number))
  }
}
