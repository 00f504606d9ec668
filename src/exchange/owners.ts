// Whose is a slot? A function of who takes part, and of nothing else: everybody who knows the agents and their weights
// comes to the same answer without asking anybody.
//
// Weighted rendezvous: for every slot each agent draws a number that depends on the two alone, and the highest wins.
// An agent that joins or leaves moves only the slots that it wins or had won; the others do not change hands.

/** How many shares the space of hosts has: a slot is the top 16 bits of a fingerprint. */
export const SLOTS = 65_536

export interface AgentWeight {
  /** The same in every view it takes part in. */
  readonly id: number
  /** Its part of the slots is its part of the sum of weights. */
  readonly weight: number
}

/** The owner of every slot, as places in the list. */
export function assignSlots(agents: readonly AgentWeight[]): Uint16Array {
  const owners = new Uint16Array(SLOTS)
  if (agents.length === 1) return owners
  for (let slot = 0; slot < SLOTS; slot++) {
    let best = -Infinity
    for (const [place, { id, weight }] of agents.entries()) {
      // With draws of -ln(u) / w the least is an agent's with probability w / Σw.
      const score = weight / -Math.log(drawOf(slot, id))
      if (score > best) {
        best = score
        owners[slot] = place
      }
    }
  }
  return owners
}

/** Between 0 and 1, exclusive, and for two agents independent enough. */
function drawOf(slot: number, id: number): number {
  let bits = Math.imul(slot + 1, 0x9e37_79b1) ^ Math.imul(id + 1, 0x85eb_ca77)
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0_aaad)
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a_2d97)
  return (((bits ^ (bits >>> 15)) >>> 0) + 0.5) / 2 ** 32
}

/** Who owns what, seen by one of the agents of a crawl. Hosts go by their slot, digests by their first two bytes. */
export class Owners {
  readonly self: number
  readonly agents: number
  readonly #owners: Uint16Array

  constructor(self: number, agents: number) {
    this.self = self
    this.agents = agents
    this.#owners = assignSlots(Array.from({ length: agents }, (_, id) => ({ id, weight: 1 })))
  }

  /** The agent of a slot, which is the upper half of the upper word of a fingerprint. */
  ofSlot(slot: number): number {
    return this.#owners[slot] as number
  }

  ofDigest(digest: Uint8Array): number {
    return this.ofSlot(((digest[0] as number) << 8) | (digest[1] as number))
  }
}
