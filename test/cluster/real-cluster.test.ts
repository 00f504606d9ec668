// A crawl by real nodes over a real NATS server, to which the three commonest things happen: a node dies, one is drained, one joins.
// `npm run chaos` does the same a hundred times over.

import { expect, test } from 'vitest'
import { ClusterCrawl } from '../../src/control/cluster-crawl.ts'
import { judgeCluster } from './judge-cluster.ts'
import { RealCluster } from './real-cluster.ts'

test(
  'a node that is killed, one that is drained and one that joins cost no page and no manners',
  { timeout: 600_000 },
  async () => {
    await using cluster = await RealCluster.start({
      web: {
        hosts: 30,
        pages: 50,
        meanBytes: 1_000,
        linksPerPage: 6,
        branching: 5,
        crossHostShare: 0.3,
        latencyMs: 2,
        variants: { missing: 0.02, lost: 0.01 },
      },
      shares: 4,
      leaseMs: 5_000,
      delayMs: 100,
      config: { frontier: { backoff: '20ms', backoffMax: '100ms' } },
    })
    for (const name of ['a', 'b', 'c']) cluster.start(name)
    await cluster.settled()
    await cluster.askedMore(150)
    await cluster.kill('b')
    cluster.start('d')
    await cluster.settled()
    const drained = cluster.command('drain', ['a'])
    await cluster.askedMore(50)
    await drained
    await cluster.until('a to have nothing', () => cluster.node('a').shares.size === 0)
    const ends = await cluster.finished()

    // A node that had nothing at the end has ended as well as the others.
    expect([...ends.values()].map(({ code }) => code)).toEqual([0, 0, 0])
    const verdict = await judgeCluster(cluster)
    expect(verdict.problems, cluster.story()).toEqual([])
    // Nothing of that was for nothing: all of it happened while there was work.
    expect(verdict.pages).toBeGreaterThan(1_400)
    expect(verdict.costs).toHaveLength(1)
    // Nobody is left to ask, and the cluster knows what it came to all the same.
    const { stdout } = await cluster.command('status', ['--json'])
    const { state, nodes, left } = JSON.parse(stdout) as {
      state: string
      nodes: unknown[]
      left: { pages: number; waiting: number }[]
    }
    expect({ state, nodes }).toEqual({ state: 'finished', nodes: [] })
    expect(left.reduce((sum, { pages }) => sum + pages, 0)).toBe(verdict.pages)
    expect(left.every(({ waiting }) => waiting === 0)).toBe(true)
    // And how it came to that, whoever had kept it, though nobody looked at it meanwhile.
    const seen = await ClusterCrawl.open({ servers: cluster.nats.urls, crawl: cluster.crawl })
    const { samples } = await seen.timeline()
    await seen.close()
    expect(samples.length).toBeGreaterThan(1)
    expect(samples.at(-1)?.pages).toBe(verdict.pages)
    expect(samples[0]?.pages).toBeLessThan(verdict.pages)
  },
)
