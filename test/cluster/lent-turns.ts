// A giant host over real nodes: its owner has room for one request at a time and lends turns to nodes that have nothing to do. One of
// them is frozen with a turn in its hands and wakes when its turn is long over, one is killed. The web's log is the judge: never two
// requests at once, never sooner than the delay, every page once.

import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { systemClock } from '../../src/base/index.ts'
import { judgeCluster } from './judge-cluster.ts'
import type { NodeProcess } from './node-process.ts'
import { RealCluster } from './real-cluster.ts'

const DELAY_MS = 10
/** A turn that was lost is asked for again when it was waited out. */
const DISTURBED_MS = 30_000
/** An owner does not go on before, where a turn is out that does not come back; where it has the turn itself it asks long before. */
const WAITED_OUT_MS = 5_000

/** Fails where the log has anything against it. */
export async function crawlGiant(): Promise<void> {
  await using cluster = await RealCluster.start({
    web: { hosts: 1, pages: 160, meanBytes: 2_000, linksPerPage: 8, branching: 20, latencyMs: 20 },
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
  await cluster.asked(40)
  const owner = await ownerOf(cluster)
  const [one, other] = cluster.running.filter((node) => node !== owner) as [NodeProcess, NodeProcess]

  await freezeWithTurn(cluster, one, owner)
  one.wake()
  await cluster.askedMore(20)
  const startMs = systemClock.nowMs()
  await other.kill()
  await cluster.disturbances.note('kill', `kill -9 of ${other.name}`, [owner, other], startMs + DISTURBED_MS)
  const ends = await cluster.finished()

  expect([...ends.values()].map(({ code }) => code)).toEqual([0, 0])
  const verdict = await judgeCluster(cluster)
  expect(verdict.problems, cluster.story(30)).toEqual([])
  let brought = 0
  let lost = 0
  for (const { line } of [...cluster.nodes.values()].flatMap(({ said }) => said)) {
    const found = /others asked ([\d,]+) URLs? in [\d,]+ turns? .* ([\d,]+) of which/.exec(line)
    brought += Number(found?.[1]?.replaceAll(',', '') ?? 0)
    lost += Number(found?.[2]?.replaceAll(',', '') ?? 0)
  }
  // Both asked, the owner what came before there was a giant at least; the turn that froze did not come back.
  expect(brought, cluster.story(30)).toBeGreaterThan(verdict.requests / 10)
  expect(verdict.requests - brought).toBeGreaterThan(5)
  expect(lost).toBeGreaterThan(0)
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

/** Freezes it in a moment in which the host's turn is with it, and waits until the owner has waited that out. */
async function freezeWithTurn(cluster: RealCluster, node: NodeProcess, owner: NodeProcess): Promise<void> {
  for (;;) {
    await cluster.askedMore(2)
    const disturbance = await cluster.disturbances.note('freeze', `freeze of ${node.name}`, [node, owner])
    await node.freeze()
    const frozenMs = systemClock.nowMs()
    // What it had written may arrive meanwhile.
    await sleep(100)
    await cluster.askedMore(1)
    const nowMs = systemClock.nowMs()
    disturbance.endMs = nowMs + DISTURBED_MS
    if (nowMs - frozenMs > WAITED_OUT_MS) return
    node.wake()
  }
}
