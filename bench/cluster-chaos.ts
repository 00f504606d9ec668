// Clusters in which whatever can happen does: thousands of seeds, no sockets, virtual time; the laws are checked after every event.
//
//   node bench/cluster-chaos.ts [runs] [first seed]      exits 1 with the story of the first seed that broke a law

import { chaos, doubt } from '../test/cluster/chaotic-cluster.ts'

const runs = Number(process.argv[2] ?? 5_000)
const first = Number(process.argv[3] ?? 1)
const sums: Record<string, number> = {}
const settledMs: number[] = []
const startMs = performance.now()
for (let seed = first; seed < first + runs; seed++) {
  try {
    await doubt(seed)
    const result = await chaos(seed)
    settledMs.push(result.settledMs)
    for (const [name, count] of Object.entries(result.counts)) sums[name] = (sums[name] ?? 0) + count
  } catch (error) {
    console.error(error instanceof Error ? error.stack : error)
    process.exit(1)
  }
}
settledMs.sort((a, b) => a - b)
console.log(
  JSON.stringify({
    runs,
    first,
    ...sums,
    settledSecondsMedian: (settledMs[runs >> 1] ?? 0) / 1_000,
    settledSecondsMax: (settledMs.at(-1) ?? 0) / 1_000,
    seconds: Math.round(performance.now() - startMs) / 1_000,
  }),
)
