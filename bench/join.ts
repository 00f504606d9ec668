// Does anybody wait when a node joins? Two nodes crawl at a rate that rests set, a third comes and takes its shares; requests for hosts whose
// shares do not move are counted before and meanwhile.
//
//   node bench/join.ts [--shares 9] [--hosts 300] [--pages 200] [--json FILE]
//
//    ── ten seconds before ──┤ the third is started ═══ all shares run where they belong ═══ ten seconds more ├──
//
// The bar: hosts that stay where they are are asked as often as before, within a tenth.

import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { systemClock } from '../src/base/index.ts'
import { RealCluster } from '../test/cluster/real-cluster.ts'

const { values } = parseArgs({
  options: {
    shares: { type: 'string', default: '9' },
    hosts: { type: 'string', default: '300' },
    pages: { type: 'string', default: '200' },
    json: { type: 'string' },
  },
})
const BAR = 0.9
const WINDOW_MS = 10_000

await using cluster = await RealCluster.start({
  web: { hosts: Number(values.hosts), pages: Number(values.pages), crossHostShare: 0.15 },
  seeds: Number(values.hosts),
  shares: Number(values.shares),
  leaseMs: 12_000,
  delayMs: 1_000,
})
cluster.start('n1')
cluster.start('n2')
await cluster.settled()
await cluster.asked(Number(values.hosts) * 20)
// Which share has which host is read from the nodes' disks.
await cluster.disturbances.learnHosts(cluster.running)
const { shareOf } = cluster.disturbances
const { log } = cluster.web
const owners = (): Map<number, string> =>
  new Map(cluster.running.flatMap((node) => [...node.shares].map((share) => [share, node.name] as const)))

const first = log.length
const fromMs = systemClock.nowMs()
await sleep(WINDOW_MS)
const ownersBefore = owners()
const joinMs = systemClock.nowMs()
cluster.start('n3')
await cluster.until('the third to have shares', () => cluster.node('n3').shares.size > 0)
await cluster.settled()
const settledMs = systemClock.nowMs()
await sleep(WINDOW_MS)
const endMs = systemClock.nowMs()
const ownersAfter = owners()

const stays = (host: string): boolean => {
  const share = shareOf.get(host)
  return share !== undefined && ownersBefore.get(share) === ownersAfter.get(share)
}
let before = 0
let meanwhile = 0
/** The same, second by second since the third was started. */
const course: number[] = []
for (const { host, startMs } of log.requests(first)) {
  if (!stays(host)) continue
  if (startMs < joinMs) before++
  else meanwhile++
  const second = Math.floor((startMs - joinMs) / 1_000)
  if (second >= 0) course[second] = (course[second] ?? 0) + 1
}
const rateBefore = (before * 1_000) / (joinMs - fromMs)
const rateMeanwhile = (meanwhile * 1_000) / (endMs - joinMs)
const result = {
  moved: [...ownersAfter].filter(([share, node]) => ownersBefore.get(share) !== node).length,
  stayed: [...ownersAfter].filter(([share, node]) => ownersBefore.get(share) === node).length,
  joinSeconds: Math.round((settledMs - joinMs) / 100) / 10,
  rateBefore: Math.round(rateBefore * 10) / 10,
  rateMeanwhile: Math.round(rateMeanwhile * 10) / 10,
  course: Array.from(course, (requests) => requests ?? 0),
  ratio: Math.round((rateMeanwhile / rateBefore) * 1_000) / 1_000,
}
console.log(JSON.stringify(result))
const isMissed = result.ratio < BAR
console.log(isMissed ? 'others wait' : 'nobody else waits')
if (isMissed) process.exitCode = 1
if (values.json !== undefined) {
  const { json: _, ...options } = values
  const about = { bench: 'join', date: new Date().toISOString(), node: process.version, cpu: cpus()[0]?.model }
  writeFileSync(values.json, `${JSON.stringify({ ...about, options, load: loadavg()[0], result }, null, 1)}\n`)
}
