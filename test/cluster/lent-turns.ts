// A giant host over real nodes: its owner has room for one request at a time and lends turns to nodes that have nothing to do. One of
// them is frozen with a turn in its hands and wakes when that is long over, another is killed with one. The web's log is the judge:
// never two requests at once, never sooner than the delay, every page once.

import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../src/base/index.ts'
import { type ClusterVerdict, judgeCluster } from './judge-cluster.ts'
import type { NodeProcess } from './node-process.ts'
import { RealCluster } from './real-cluster.ts'

export interface GiantVerdict extends ClusterVerdict {
  /** URLs that nodes asked for others, and turns that did not come back. */
  readonly brought: number
  readonly lost: number
  readonly story: string
}

const DELAY_MS = 10
/** An owner does not go on before, where a turn is out that does not come back; where it has the turn itself it asks long before. */
const WAITED_OUT_MS = 5_000
/** A turn that was lost is asked for again when it was waited out. */
const DISTURBED_MS = 30_000

export async function crawlGiant(pages: number, mishaps: readonly ('freeze' | 'kill')[]): Promise<GiantVerdict> {
  await using cluster = await RealCluster.start({
    web: { hosts: 1, pages, meanBytes: 2_000, linksPerPage: 8, branching: 20, latencyMs: 20 },
    seeds: 1,
    shares: 3,
    leaseMs: 5_000,
    delayMs: DELAY_MS,
    config: {
      agent: { giantHost: 5, connections: 1 },
      fetch: { connectTimeout: '500ms', requestTimeout: '1500ms' },
    },
  })
  for (const name of ['a', 'b', 'c']) cluster.start(name)
  await cluster.settled()
  await cluster.asked(30)
  const owner = await ownerOf(cluster)
  for (const mishap of mishaps) {
    const helper = await freezeWithTurn(cluster, owner, mishap === 'kill')
    if (helper.isFrozen) helper.wake()
  }
  await cluster.finished()
  const verdict = await judgeCluster(cluster)
  let brought = 0
  let lost = 0
  for (const { line } of [...cluster.nodes.values()].flatMap(({ said }) => said)) {
    const found = /others asked ([\d,]+) URLs? in [\d,]+ turns? .* ([\d,]+) of which/.exec(line)
    brought += Number(found?.[1]?.replaceAll(',', '') ?? 0)
    lost += Number(found?.[2]?.replaceAll(',', '') ?? 0)
  }
  return { ...verdict, brought, lost, story: cluster.story(30) }
}

/** The node that has the share of the host that was asked. */
async function ownerOf({ disturbances, running, web }: RealCluster): Promise<NodeProcess> {
  await disturbances.learnHosts(running)
  const [first] = [...web.log.requests()]
  const share = disturbances.shareOf.get(first?.host ?? '')
  const owner = running.find(({ shares }) => share !== undefined && shares.has(share))
  if (owner === undefined) throw new Error('nobody has the host')
  return owner
}

/** Freezes somebody in a moment in which the host's turn is with it, and waits until the owner has waited that out. */
async function freezeWithTurn(cluster: RealCluster, owner: NodeProcess, kills: boolean): Promise<NodeProcess> {
  for (let attempt = 0; ; attempt++) {
    await cluster.askedMore(2)
    // One after the other: who has helped is asked again first, so some may never be.
    const helpers = cluster.running.filter((one) => one !== owner)
    const node = helpers[attempt % helpers.length]
    if (node === undefined) throw new Error('nobody is left to help')
    const disturbance = await cluster.disturbances.note('freeze', `freeze of ${node.name}`, [node, owner])
    await node.freeze()
    const frozenMs = systemClock.nowMs()
    // What it had written may arrive meanwhile.
    await sleep(100)
    const before = cluster.web.log.length
    if (kills) await sleep(WAITED_OUT_MS / 2)
    const killsNow = kills && cluster.web.log.length === before
    if (killsNow) await node.kill()
    await cluster.until('the owner to go on', () => cluster.web.log.length > before)
    const nowMs = systemClock.nowMs()
    disturbance.endMs = nowMs + DISTURBED_MS
    if (killsNow || nowMs - frozenMs > WAITED_OUT_MS) return node
    node.wake()
  }
}
