// The key of a crawl says which agent has which host, and is drawn by chance. So a few are drawn, and the one is taken by which the agents have
// equally many of the seeds' hosts: of two sites on two processors each agent has one, and of 64 nobody has 38 and works alone in the end.
//
// A key that is the best of sixty-four by what everybody may know is as good as one six bits shorter: fifty-eight bits that nobody knows.

import { fingerprintKeyOf } from '../agent/index.ts'
import type { CrawlIdentity } from '../ledger/index.ts'
import { shareOfSlot } from '../placement/index.ts'
import { type CanonicalUrl, Fingerprinter, hostKeyOf, slotOf } from '../url/index.ts'

const DRAWS_MAX = 64
/** Of more, chance gives everybody about as many; and it takes a tenth of a second to look at them. */
const HOSTS_MAX = 4_096

export function evenIdentity(draw: () => CrawlIdentity, seeds: readonly CanonicalUrl[], agents: number): CrawlIdentity {
  const hosts = [...new Map(seeds.map((seed) => [hostKeyOf(seed), seed])).values()]
  let best = draw()
  if (agents === 1 || hosts.length < 2 || hosts.length > HOSTS_MAX) return best
  const owners = shareOfSlot(agents)
  const least = Math.ceil(hosts.length / agents)
  let bestMost = mostOf(best, hosts, owners, agents)
  for (let draws = 1; draws < DRAWS_MAX && bestMost > least; draws++) {
    const identity = draw()
    const most = mostOf(identity, hosts, owners, agents)
    if (most < bestMost) {
      best = identity
      bestMost = most
    }
  }
  return best
}

/** How many hosts the agent has that has most. */
function mostOf(identity: CrawlIdentity, hosts: readonly CanonicalUrl[], owners: Uint16Array, agents: number): number {
  const fingerprinter = new Fingerprinter(fingerprintKeyOf(identity))
  const counts = new Uint32Array(agents)
  for (const url of hosts) {
    fingerprinter.compute(url)
    const owner = owners[slotOf(fingerprinter.high)] as number
    counts[owner] = (counts[owner] as number) + 1
  }
  return Math.max(...counts)
}
