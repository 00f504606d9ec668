// Members of a cluster in a simulated world in which whatever can happen does (test/cluster): the laws are checked after every
// event. Thousands of seeds: node bench/cluster-chaos.ts. That the laws would notice a broken rule: node bench/cluster-mutations.ts.

import { expect, test } from 'vitest'
import { chaos, doubt } from '../../test/cluster/chaotic-cluster.ts'

const SEEDS = Number(process.env['PORTOLAN_FUZZ_RUNS'] ?? 80)

test(
  'two nodes never act on one share, and every share finds its place when things are quiet',
  { timeout: 600_000 },
  async () => {
    const sums = { takeovers: 0, fences: 0, rebirths: 0, refused: 0 }
    for (let seed = 1; seed <= SEEDS; seed++) {
      await doubt(seed)
      const { counts } = await chaos(seed)
      for (const name of ['takeovers', 'fences', 'rebirths', 'refused'] as const) sums[name] += counts[name]
    }
    // A simulation in which nothing happens proves nothing.
    for (const count of Object.values(sums)) expect(count).toBeGreaterThan(0)
  },
)
