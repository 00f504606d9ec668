// Weighted rendezvous: for every point each member draws a number that depends on the two alone, and the highest wins.

import { type Assignment, highestAffinity, inOrder, type Member } from './assignment.ts'

export const RENDEZVOUS: Assignment = {
  name: 'rendezvous',

  affinities(points, { id, weight }) {
    const affinities = new Float64Array(points)
    // With draws of -ln(u) / w the least is a member's with probability w / Σw.
    for (let point = 0; point < points; point++) {
      affinities[point] = weight / -Math.log((bitsOf(point, id) + 0.5) / 2 ** 32)
    }
    return affinities
  },

  owners(points, members) {
    const weight = members[0]?.weight
    if (weight === undefined || !members.every((member) => member.weight === weight)) {
      return highestAffinity(RENDEZVOUS, points, members)
    }
    return highestDraw(points, members)
  },
}

/**
 * The same where all weigh the same: the logarithm keeps the order of the draws, so they can be compared as they are. 65,536
 * slots among 1,024 in 0.15 s of CPU time instead of 1.7 (`node bench/placement.ts`); every agent of a cluster does it when it starts.
 */
function highestDraw(points: number, members: readonly Member[]): Uint16Array {
  const owners = new Uint16Array(points)
  if (members.length === 1) return owners
  const best = new Uint32Array(points)
  let isFirst = true
  for (const { id, place } of inOrder(members)) {
    for (let point = 0; point < points; point++) {
      const bits = bitsOf(point, id)
      if (bits <= (best[point] as number) && !isFirst) continue
      best[point] = bits
      owners[point] = place
    }
    isFirst = false
  }
  return owners
}

/** 32 bits, for two members independent enough. Crawls that exist rely on these: they never change. */
function bitsOf(point: number, id: number): number {
  let bits = Math.imul(point + 1, 0x9e37_79b1) ^ Math.imul(id + 1, 0x85eb_ca77)
  bits = Math.imul(bits ^ (bits >>> 16), 0x21f0_aaad)
  bits = Math.imul(bits ^ (bits >>> 15), 0x735a_2d97)
  return (bits ^ (bits >>> 15)) >>> 0
}
