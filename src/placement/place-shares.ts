// Which node should hold which share: a function of the view alone, so that all who know the view agree.
//
// Left to affinity alone, 16 shares fall on 4 nodes like 16 dice: 7, 4, 3, 2. A share is much of a crawl, so there is a bound, as in
// "consistent hashing with bounded loads", and as tight as can be: a node's *part* is shares · weight / sum of weights,
// and every node has its part rounded down or up. What is left when all parts are rounded down are the *odd places*.
// All pairs of share and node are gone through, highest affinity first; a share that is free goes to the node if it has room:
//
//   less than its part rounded down, or less than its part rounded up while an odd place is left, which it takes then
//
// Laws (place-shares.test.ts)
//   - Balance: each node has its part rounded down or up. Weight 0 (draining): none. Nobody left: nobody.
//   - Nobody is passed over: a share that is drawn more to j than to the node it is on was turned away by j, which was full with shares
//     that are drawn to it more, up to its part rounded up, or rounded down and the odd places gone to pairs drawn more.
//     There is only one placement of which that is true, so neither the order of the list nor anything that was before can matter.
//   - Contravariance as far as the bound allows: if a share moves between two nodes that are in both views, then it was turned away, in the
//     former view by the one it goes to, or in the new one by the one it comes from. Where no bound turns anybody away, whoever joins
//     takes shares, and none changes hands between the others.
//   - Few moves: beside the joiner's part about half as many again among few nodes; decision 0038 has the figures, and what else was tried.

import { assert } from '../base/index.ts'
import type { Assignment, Member } from './assignment.ts'
import { assignmentNamed } from './assignment-names.ts'

/** Somebody in the view. */
export interface PlacedNode {
  readonly name: string
  /** Capacity in relation to the others'; 0 for one that is to be empty. */
  readonly weight: number
}

/** Parts that are whole but for the errors of floating point are whole. */
const WHOLE = 1e-9

/** By share: the name of the node that should hold it; null where there is nobody. `kind` names an assignment. */
export function placeShares(shares: number, nodes: readonly PlacedNode[], kind: string): (string | null)[] {
  const placed: (string | null)[] = Array.from({ length: shares }, () => null)
  const able = nodes.filter(({ weight }) => weight > 0 && Number.isFinite(weight)).sort(byName)
  if (able.length === 0) return placed
  const pairs = pairsByAffinity(shares, able, assignmentNamed(kind))
  const { parts, oddPlaces } = partsOf(shares, able)
  const counts = new Uint32Array(able.length)
  let oddLeft = oddPlaces
  for (const pair of pairs) {
    const share = Math.floor(pair / able.length)
    if (placed[share] !== null) continue
    const place = pair % able.length
    const { down, up } = parts[place] as RoundedPart
    const count = counts[place] as number
    if (count >= down) {
      if (count >= up || oddLeft === 0) continue
      oddLeft--
    }
    counts[place] = count + 1
    placed[share] = (able[place] as PlacedNode).name
  }
  return placed
}

function byName(a: PlacedNode, b: PlacedNode): number {
  assert(a.name !== b.name || a === b, `two nodes of a view are called ${a.name}`)
  return a.name < b.name ? -1 : 1
}

interface RoundedPart {
  readonly down: number
  readonly up: number
}

/** There are fewer odd places than nodes with a part that is not whole, so each share finds room. */
function partsOf(shares: number, nodes: readonly PlacedNode[]): { parts: readonly RoundedPart[]; oddPlaces: number } {
  const sum = nodes.reduce((total, { weight }) => total + weight, 0)
  const parts = nodes.map(({ weight }) => {
    const part = (shares * weight) / sum
    return { down: Math.floor(part + WHOLE), up: Math.ceil(part - WHOLE) }
  })
  return { parts, oddPlaces: shares - parts.reduce((total, { down }) => total + down, 0) }
}

/** share · nodes + node for each pair, highest affinity first; of equal ones the lower share, then the earlier name. */
function pairsByAffinity(shares: number, nodes: readonly PlacedNode[], assignment: Assignment): Uint32Array {
  const affinities = new Float64Array(shares * nodes.length)
  for (const [place, node] of nodes.entries()) {
    for (const [share, affinity] of affinitiesOf(assignment, shares, node).entries()) {
      affinities[share * nodes.length + place] = affinity
    }
  }
  return new Uint32Array(affinities.length)
    .map((_, pair) => pair)
    .sort((a, b) => (affinities[b] as number) - (affinities[a] as number) || a - b)
}

/** How much a node is drawn to each share. */
export function affinitiesOf(assignment: Assignment, shares: number, node: PlacedNode): Float64Array {
  return assignment.affinities(shares, memberOf(node))
}

/** Two names with one number would be drawn to the same shares; the bound still gives each its part. */
function memberOf({ name, weight }: PlacedNode): Member {
  let hash = 0x811c_9dc5
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x0100_0193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x21f0_aaad)
  hash = Math.imul(hash ^ (hash >>> 15), 0x735a_2d97)
  return { id: (hash ^ (hash >>> 15)) >>> 0, weight }
}
