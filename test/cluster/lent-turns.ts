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
/** Where the turn is with somebody who is gone, its owner asks nobody for longer; where it has the turn itself it asks long before. */
const STANDS_MS = 2_500
/** Once the owner has gone on, within which it says that a turn did not come back. */
const TOLD_MS = 2_000
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
    if (kills) await sleep(STANDS_MS)
    if (kills && cluster.web.log.length === before) await node.kill()
    await cluster.until('the owner to go on', () => cluster.web.log.length > before)
    const nowMs = systemClock.nowMs()
    disturbance.endMs = nowMs + DISTURBED_MS
    // It also stands while it waits to hear from the frozen one whether a page is a copy, and then no turn is missing.
    if (nowMs - frozenMs > STANDS_MS && (await saysMissing(owner, frozenMs))) return node
    if (node.isRunning) node.wake()
    else cluster.start(node.name)
    await cluster.settled()
  }
}

/** Whether it says, since that moment, that a turn which it had lent did not come back. */
async function saysMissing(owner: NodeProcess, sinceMs: number): Promise<boolean> {
  const untilMs = systemClock.nowMs() + TOLD_MS
  for (;;) {
    const later = owner.said.filter(({ atMs }) => atMs >= sinceMs)
    if (later.some(({ line }) => line.includes('did not come back and were waited out'))) return true
    if (systemClock.nowMs() > untilMs) return false
    await sleep(50)
  }
}
