// A giant host over real nodes: its owner has room for one request at a time and lends turns to nodes that have nothing to do. One of
// them is frozen with a turn in its hands and wakes when its turn is long over, one is killed. The web's log is the judge: never two
// requests at once, never sooner than the delay, every page once.

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/base/index.ts'
import { judgeCluster } from './judge-cluster.ts'
import type { NodeProcess } from './node-process.ts'
import { RealCluster } from './real-cluster.ts'

const DELAY_MS = 10
/** Whoever has the turn asks within this, on a crowded machine too. */
const SILENCE_MS = 1_500

test('a giant host is asked by several nodes, and by one at a time', { timeout: 240_000 }, async () => {
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
  // It is waited out, and the owner goes on.
  await cluster.askedMore(3)
  one.wake()
  await cluster.askedMore(20)
  const startMs = systemClock.nowMs()
  await other.kill()
  await cluster.disturbances.note('kill', `kill -9 of ${other.name}`, [owner, other], startMs + 30_000)
  const ends = await cluster.finished()

  expect([...ends.values()].map(({ code }) => code)).toEqual([0, 0])
  const verdict = await judgeCluster(cluster)
  expect(verdict.problems, cluster.story(30)).toEqual([])
  const turns = owner.said.map(({ line }) =>
    /others asked ([\d,]+) URLs? in ([\d,]+) turns? .* ([\d,]+) of which/.exec(line),
  )
  const [, brought = 0, , lost = 0] =
    turns.findLast((found) => found !== null)?.map((text) => Number(text.replaceAll(',', ''))) ?? []
  // Both asked, the owner what came before there was a giant at least; the turn that froze did not come back.
  expect(brought).toBeGreaterThan(verdict.requests / 10)
  expect(verdict.requests - brought).toBeGreaterThan(5)
  expect(lost).toBeGreaterThan(0)
})

/** The node that has the share of the host that was asked. */
async function ownerOf({ disturbances, running, web }: RealCluster): Promise<NodeProcess> {
  await disturbances.learnHosts(running)
  const [first] = [...web.log.requests()]
  const share = disturbances.shareOf.get(first?.host ?? '')
  const owner = running.find(({ shares }) => share !== undefined && shares.has(share))
  if (owner === undefined) throw new Error('nobody has the host')
  return owner
}

/** Freezes it in a moment in which the host's turn is with it: then nobody asks. */
async function freezeWithTurn(cluster: RealCluster, node: NodeProcess, owner: NodeProcess): Promise<void> {
  const { log } = cluster.web
  for (;;) {
    await cluster.askedMore(2)
    const disturbance = await cluster.disturbances.note('freeze', `freeze of ${node.name}`, [node, owner])
    await node.freeze()
    // What it had written may have arrived meanwhile.
    await sleep(100)
    const before = log.length
    await sleep(SILENCE_MS)
    disturbance.endMs = systemClock.nowMs() + 20_000
    if (log.length === before) return
    node.wake()
  }
}
