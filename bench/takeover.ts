// How long does a cluster stand still where a node has died? Three nodes at the default lease, about a million URLs known; one is killed
// with SIGKILL, and it is counted until the first page of one of its hosts by an heir, and until all of its shares run.
//
//   node bench/takeover.ts [--urls 1000000] [--nodes 3] [--shares 9] [--lease 12s] [--kills 1] [--servers 1] [--json FILE]
//
// The bar: 25 s. Of it lease and margin, 16 s by default, are waited on purpose: until then the dead one might have been alive. The web:
// pages of 200 links, of which three of ten lead to other hosts. Beside it how many requests the other hosts had meanwhile.

import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseDuration, systemClock } from '../src/base/index.ts'
import { RealCluster } from '../test/cluster/real-cluster.ts'

const { values } = parseArgs({
  options: {
    urls: { type: 'string', default: '1000000' },
    nodes: { type: 'string', default: '3' },
    shares: { type: 'string', default: '9' },
    lease: { type: 'string', default: '12s' },
    kills: { type: 'string', default: '1' },
    servers: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
})
const BAR_S = 25
const urls = Number(values.urls)

interface Kill {
  readonly node: string
  readonly shares: number
  readonly urlsKnown: number
  readonly pages: number
  readonly firstPageSeconds: number
  readonly allSharesSeconds: number
  /** Requests a second of all hosts in the ten seconds before, and of the hosts of others while the shares had no owner. */
  readonly rateBefore: number
  readonly rateOfOthers: number
}

await using cluster = await RealCluster.start({
  web: {
    hosts: 1_000,
    pages: Math.ceil(urls / 500),
    meanBytes: 500,
    linksPerPage: 200,
    branching: 100,
    crossHostShare: 0.3,
  },
  seeds: 50,
  shares: Number(values.shares),
  leaseMs: parseDuration(values.lease) ?? 12_000,
  delayMs: 1_000,
  servers: values.servers === '3' ? 3 : 1,
})
process.on('SIGTERM', () => {
  console.log(cluster.story(30))
  process.exit(1)
})
const names = Array.from({ length: Number(values.nodes) }, (_, i) => `n${i + 1}`)
for (const name of names) cluster.start(name)
await cluster.settled()
const kills: Kill[] = []
for (let i = 0; i < Number(values.kills); i++) {
  let known = await urlsKnown()
  while (known.urls < urls) {
    console.log(`${known.urls} URLs known, ${known.pages} pages`)
    await sleep(5_000)
    known = await urlsKnown()
  }
  const { log } = cluster.web
  const before = log.length
  await sleep(10_000)
  const rateBefore = (log.length - before) / 10
  const node = names[i % names.length] ?? ''
  const { shares } = cluster.node(node)
  const count = shares.size
  // Before the hosts are read from its disk, which takes a while.
  const killed = cluster.kill(node)
  const killMs = systemClock.nowMs()
  const { shares: lost } = await killed
  const from = log.length
  await cluster.settled()
  const settledMs = systemClock.nowMs()
  const { shareOf } = cluster.disturbances
  const isLost = (host: string): boolean => lost.has(shareOf.get(host) ?? -1)
  let firstMs = Infinity
  let others = 0
  await cluster.until('the first page of an heir', () => {
    for (const request of log.requests(from)) if (isLost(request.host)) firstMs = Math.min(firstMs, request.startMs)
    return firstMs < Infinity
  })
  for (const { host, startMs } of log.requests(from)) if (!isLost(host) && startMs < firstMs) others++
  const seconds = (ms: number): number => Math.round((ms - killMs) / 100) / 10
  const kill = {
    node,
    shares: count,
    urlsKnown: known.urls,
    pages: known.pages,
    firstPageSeconds: seconds(firstMs),
    allSharesSeconds: seconds(settledMs),
    rateBefore: Math.round(rateBefore),
    rateOfOthers: Math.round(others / Math.max(1, seconds(firstMs))),
  }
  kills.push(kill)
  console.log(JSON.stringify(kill))
  cluster.start(node)
  await cluster.until(`${node} to have shares`, () => cluster.node(node).shares.size > 0)
  await cluster.settled()
}
const isMissed = kills.some(
  ({ firstPageSeconds, allSharesSeconds }) => Math.max(firstPageSeconds, allSharesSeconds) > BAR_S,
)
console.log(isMissed ? `the bar of ${BAR_S} s is missed` : `within ${BAR_S} s`)
if (isMissed) process.exitCode = 1
if (values.json !== undefined) {
  const about = { bench: 'takeover', date: new Date().toISOString(), node: process.version, cpu: cpus()[0]?.model }
  const { json: _, ...options } = values
  writeFileSync(values.json, `${JSON.stringify({ ...about, options, load: loadavg()[0], kills }, null, 1)}\n`)
}

async function urlsKnown(): Promise<{ urls: number; pages: number }> {
  const { stdout } = await cluster.command('status', ['--json'])
  const { nodes } = JSON.parse(stdout) as { nodes: { figures: { pages: number; waiting: number } | null }[] }
  const sum = (of: 'pages' | 'waiting'): number => nodes.reduce((total, { figures }) => total + (figures?.[of] ?? 0), 0)
  return { urls: sum('pages') + sum('waiting'), pages: sum('pages') }
}
