// What does a page cost in a cluster of 1, 2 and 4 nodes? The same web and the same number of shares each time, on this one machine: CPU
// time of all nodes together, and of the NATS server beside it, between two numbers of requests, so that starting up does not count.
//
//   node bench/cluster-scaling.ts [--nodes 1,2,4] [--shares 8] [--hosts 300] [--pages 60] [--delay 1s] [--rounds 1] [--json FILE]
//
//    start ── first tenth ──┤════ window ════├── last tenth ── end
//
// The delay keeps the rate the same for all, so that none is cheaper because it is late. The bar: four nodes cost at most 1.15 of one.

import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { parseDuration } from '../src/base/index.ts'
import { cpuMsOf } from '../test/cluster/node-process.ts'
import { RealCluster } from '../test/cluster/real-cluster.ts'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1,2,4' },
    shares: { type: 'string', default: '8' },
    hosts: { type: 'string', default: '300' },
    pages: { type: 'string', default: '60' },
    delay: { type: 'string', default: '1s' },
    rounds: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
})
const BAR = 1.15

interface Point {
  readonly nodes: number
  readonly pages: number
  readonly pagesPerSecond: number
  readonly microsPerPage: number
  readonly natsMicrosPerPage: number
  readonly load: number
}

async function measure(nodes: number): Promise<Point> {
  await using cluster = await RealCluster.start({
    web: {
      hosts: Number(values.hosts),
      pages: Number(values.pages),
      crossHostShare: 0.15,
      linksPerPage: 35,
      meanBytes: 14_000,
    },
    seeds: Number(values.hosts),
    shares: Number(values.shares),
    leaseMs: 15_000,
    delayMs: parseDuration(values.delay) ?? 1_000,
  })
  const total = Number(values.hosts) * Number(values.pages)
  for (let i = 1; i <= nodes; i++) cluster.start(`n${i}`)
  await cluster.settled()
  await cluster.asked(total / 10)
  const read = (): { nodes: number; nats: number; requests: number; ms: number } => ({
    nodes: cluster.running.reduce((sum, node) => sum + node.cpuMs(), 0),
    nats: cluster.nats.servers.reduce((sum, { pid }) => sum + cpuMsOf(pid), 0),
    requests: cluster.web.log.length,
    ms: performance.now(),
  })
  const from = read()
  await cluster.asked((total * 9) / 10)
  const to = read()
  const pages = to.requests - from.requests
  await cluster.finished()
  return {
    nodes,
    pages,
    pagesPerSecond: Math.round((pages * 1_000) / (to.ms - from.ms)),
    microsPerPage: Math.round(((to.nodes - from.nodes) * 1_000) / pages),
    natsMicrosPerPage: Math.round(((to.nats - from.nats) * 1_000) / pages),
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
  }
}

const counts = values.nodes.split(',').map(Number)
const points: Point[] = []
for (let round = 0; round < Number(values.rounds); round++) {
  for (const nodes of counts) {
    const point = await measure(nodes)
    points.push(point)
    console.log(JSON.stringify(point))
  }
}
const least = (nodes: number): number =>
  Math.min(...points.filter((point) => point.nodes === nodes).map(({ microsPerPage }) => microsPerPage))
const ratios = counts.map((nodes) => ({
  nodes,
  ratio: Math.round((least(nodes) / least(counts[0] ?? 1)) * 1_000) / 1_000,
}))
console.log(ratios.map(({ nodes, ratio }) => `${nodes}: ${ratio}`).join(', '))
const isMissed = ratios.some(({ ratio }) => ratio > BAR)
console.log(isMissed ? `the bar of ${BAR} is missed` : `within ${BAR}`)
if (isMissed) process.exitCode = 1
if (values.json !== undefined) {
  const about = {
    bench: 'cluster-scaling',
    date: new Date().toISOString(),
    node: process.version,
    cpu: cpus()[0]?.model,
  }
  const { json: _, ...options } = values
  writeFileSync(values.json, `${JSON.stringify({ ...about, options, points, ratios }, null, 1)}\n`)
}
