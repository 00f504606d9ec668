// How fast one share of a cluster may go, by what operators have said: of the whole crawl, of which every share gets its part wherever it
// is; of a node, whose limits are shared by the shares it has; or of one share alone. The last word on a limit counts.

import { openFilesAllowed, planSockets, shareOfSpeed, type Speed } from '../agent/index.ts'
import type { SpeedWish } from '../cluster/index.ts'

export interface SharePlace {
  readonly node: string
  /** Of the whole crawl. */
  readonly shares: number
  /** Those that are on this node, in order. */
  readonly here: readonly number[]
}

export function speedOfShare(
  share: number,
  wishes: readonly SpeedWish[],
  { node, shares, here }: SharePlace,
  openFiles = openFilesAllowed(),
): Partial<Speed> {
  const speed: { -readonly [Limit in keyof Speed]?: Speed[Limit] } = {}
  for (const wish of wishes) {
    if (wish.share !== null && wish.share !== share) continue
    if (wish.node !== null && wish.node !== node) continue
    const own =
      wish.share !== null
        ? wish.change
        : wish.node === null
          ? shareOfSpeed(wish.change, shares, share)
          : shareOfSpeed(wish.change, Math.max(1, here.length), Math.max(0, here.indexOf(share)))
    Object.assign(speed, own)
  }
  const { connections } = speed
  // Sockets are files, and a wish does not know how many this machine allows.
  return connections === undefined
    ? speed
    : { ...speed, connections: planSockets(connections, 0, openFiles).connections }
}
