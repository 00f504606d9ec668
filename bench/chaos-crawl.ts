// Can anything make a cluster lose a page, ask a host too soon, or tear its archive? A crawl by real nodes over real NATS servers, to which
// everything happens that a seed draws (test/cluster/chaos.ts), judged by the web's log and by what all nodes leave (judge-cluster.ts).
//
//   npm run chaos -- [--nodes 5] [--faults 100] [--seed 1] [--pages 100000] [--hosts 400] [--delay 1s] [--lease 5s] [--shares 16]
//                    [--servers 3] [--only kill,freeze] [--json FILE]
//
// Prints a line for each fault and the verdict; ends with 1 if anything does not hold. The delay makes the crawl last for as long as the
// faults do: pages / hosts × delay, at least. PORTOLAN_KEEP=1 keeps the directories.

import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { parseDuration } from '../src/base/index.ts'
import { Chaos, FAULT_KINDS, type FaultKind } from '../test/cluster/chaos.ts'
import { judgeCluster } from '../test/cluster/judge-cluster.ts'
import { RealCluster } from '../test/cluster/real-cluster.ts'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '5' },
    faults: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    pages: { type: 'string', default: '100000' },
    hosts: { type: 'string', default: '400' },
    delay: { type: 'string', default: '1s' },
    lease: { type: 'string', default: '5s' },
    shares: { type: 'string', default: '16' },
    servers: { type: 'string', default: '3' },
    only: { type: 'string' },
    json: { type: 'string' },
  },
})
const END_MS = 3_600_000
const [nodes, hosts, pages] = [Number(values.nodes), Number(values.hosts), Number(values.pages)]
const kinds =
  values.only === undefined ? FAULT_KINDS : FAULT_KINDS.filter((kind) => values.only?.split(',').includes(kind))
const startMs = performance.now()
const seconds = (): number => Math.round((performance.now() - startMs) / 100) / 10

await using cluster = await RealCluster.start({
  web: {
    seed: `chaos-${values.seed}`,
    hosts,
    pages: Math.ceil(pages / hosts),
    meanBytes: 600,
    linksPerPage: 6,
    branching: 6,
    crossHostShare: 0.3,
    latencyMs: 1,
    // A few answers that have to be asked for again, and a few that come to nothing.
    variants: { lost: 0.002, missing: 0.01, busy: 0.002 },
  },
  seeds: 8,
  shares: Number(values.shares),
  leaseMs: parseDuration(values.lease) ?? 5_000,
  delayMs: parseDuration(values.delay) ?? 1_000,
  servers: values.servers === '1' ? 1 : 3,
  patienceMs: 900_000,
})
const expected = cluster.web.truth({ seeds: cluster.seeds, scope: 'any' }).pages.size
console.log(
  `${expected} pages on ${hosts} hosts, ${nodes} nodes, seed ${values.seed}, load ${loadavg()[0]?.toFixed(1)}`,
)
process.on('SIGTERM', () => {
  console.log(cluster.story(60))
  process.exit(1)
})
const chaos = new Chaos(cluster, {
  seed: values.seed,
  faults: Number(values.faults),
  nodesMin: 2,
  nodesMax: nodes + 2,
  requestsMax: Math.floor(expected * 0.95),
  kinds: kinds as readonly FaultKind[],
  say: (line) => console.log(line),
})
for (let i = 0; i < nodes; i++) cluster.start(chaos.newName())
let failure: string | null = null
try {
  await cluster.settled()
  console.log(`all shares run after ${seconds()} s`)
  await chaos.run()
  console.log(`${chaos.done.length} faults in ${seconds()} s; ${cluster.web.log.length} requests so far`)
  await cluster.finished(END_MS)
} catch (error) {
  failure = error instanceof Error ? error.message : String(error)
}
const crawlSeconds = seconds()
const verdict = await judgeCluster(cluster)
const problems = [...(failure === null ? [] : [failure]), ...endProblems(), ...verdict.problems]
const byKind = Object.fromEntries(
  [...new Set(FAULT_KINDS)].map((kind) => {
    const own = chaos.done.filter((fault) => fault.kind === kind)
    const settled = own
      .flatMap(({ settledMs }) => (settledMs === null ? [] : [settledMs / 1_000]))
      .toSorted((a, b) => a - b)
    const median = settled[settled.length >> 1] ?? null
    return [kind, { faults: own.length, settledSeconds: { median, most: settled.at(-1) ?? null } }]
  }),
)
for (const problem of problems.slice(0, 60)) console.log(`  ! ${problem}`)
if (problems.length > 0) console.log(cluster.story(30))
const most = verdict.costs.reduce((max, { again }) => Math.max(max, again), 0)
console.log(
  `${chaos.done.length} faults, ${verdict.pages} pages (${expected} in truth), ${verdict.failures} failures, ${verdict.requests} requests, ` +
    `${verdict.again} asked for again (${most} at most for one fault; ${verdict.againBySelf} because a node fell silent by itself), ` +
    `${verdict.warcFiles} WARC files (${verdict.warcOpen} left open), ${crawlSeconds} s: ` +
    (problems.length === 0 ? 'holds' : `${problems.length} problems`),
)
if (problems.length > 0) process.exitCode = 1
if (values.json !== undefined) {
  const about = { bench: 'chaos-crawl', date: new Date().toISOString(), node: process.version, cpu: cpus()[0]?.model }
  const { json: _, ...options } = values
  const { problems: _judged, ...figures } = verdict
  writeFileSync(
    values.json,
    `${JSON.stringify({ ...about, options, seconds: crawlSeconds, load: loadavg()[0], problems, byKind, ...figures, faults: chaos.done }, null, 1)}\n`,
  )
}

/** A node that was not killed ends with 0 at the end of the crawl, and with 3 when it was told to go, if it was up to hear it. */
function endProblems(): string[] {
  return [...cluster.nodes.values()].flatMap(({ name, ends }) =>
    ends
      .filter(({ signal, wasSilent }) => signal !== 'SIGKILL' && !(signal === 'SIGINT' && wasSilent))
      .filter(({ code }) => code !== 0 && code !== 3)
      .map(({ code, signal }) => `node ${name} ended with ${code ?? signal}`),
  )
}
