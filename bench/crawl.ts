// What does a page cost from end to end? The whole crawler on the synthetic web, and, where they are
// installed, wget2 and Crawlee on the same web in the same sitting.
//
//   node bench/crawl.ts [--hosts 64] [--pages 150] [--runs 3] [--warc none] [--crawlee DIR] [--json]
//
// Needs nothing but a clone. bench/peers.ts compares more thoroughly, with nginx as server and its log as judge. Here the test web
// serves, in a process of its own; what is compared is CPU time of the crawlers per page, because wall time on a
// machine shared with the server says little. `--crawlee` names a folder in which `npm install @crawlee/cheerio` was run.
// Pages are counted by the crawlers themselves: Portolan must have all of them.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ForkedTestWeb } from '../testweb/index.ts'
import type { Contender } from './peers/contender.ts'
import { crawlee } from './peers/crawlee.ts'
import { measure } from './peers/measured-run.ts'
import { portolan } from './peers/portolan.ts'
import { wget2 } from './peers/wget2.ts'

const { values } = parseArgs({
  options: {
    hosts: { type: 'string', default: '64' },
    pages: { type: 'string', default: '150' },
    runs: { type: 'string', default: '3' },
    warc: { type: 'string', default: 'none' },
    crawlee: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})
/** Crawlee takes minutes for what the others do in seconds. */
const LIMIT_SECONDS = 600

interface Measured {
  readonly name: string
  readonly pages: number
  readonly cpuMicrosPerPage: number
  readonly pagesPerSecond: number
  readonly peakRssMegabytes: number
}

const web = await ForkedTestWeb.start({
  seed: 'bench',
  hosts: Number(values.hosts),
  pages: Number(values.pages),
  logMax: 0,
})
const expected = web.truth().pages.size
const folder = mkdtempSync(join(tmpdir(), 'portolan-bench-'))
const seedFile = join(folder, 'seeds.txt')
writeFileSync(seedFile, `${web.web.seeds().join('\n')}\n`)

async function measured(contender: Contender): Promise<Measured> {
  const dir = mkdtempSync(join(folder, 'crawl-'))
  const task = { seedFile, dir, authorityFile: null }
  const cost = await measure(contender.run(task), LIMIT_SECONDS)
  const pages = contender.countPages(task, cost)
  rmSync(dir, { recursive: true })
  if (contender === own && pages !== expected) throw new Error(`portolan fetched ${pages} pages of ${expected}`)
  return {
    name: contender.name,
    pages,
    cpuMicrosPerPage: (cost.cpuSeconds / pages) * 1e6,
    pagesPerSecond: pages / cost.wallSeconds,
    peakRssMegabytes: cost.peakRssBytes / 1e6,
  }
}

const own = portolan(values.warc, 'default')
const peers = [wget2(), ...(values.crawlee === undefined ? [] : [crawlee('manual', values.crawlee)])]
const results: Measured[] = []
for (let run = 0; run < Number(values.runs); run++) {
  for (const contender of [own, ...peers.filter((peer) => peer.version !== null)]) {
    // Two orders slower: once is enough to know.
    if (!contender.isSlow || run === 0) results.push(await measured(contender))
  }
}
const { cpuMs, requests } = await web.figures()
await web.stop()
rmSync(folder, { recursive: true, force: true })

/** The best run of each: noise only ever adds. */
const best = [...Map.groupBy(results, (one) => one.name).values()].map((runs) =>
  runs.reduce((a, b) => (a.cpuMicrosPerPage <= b.cpuMicrosPerPage ? a : b)),
)
const ownMicros = best.find((one) => one.name === own.name)?.cpuMicrosPerPage ?? Number.NaN
if (values.json) {
  console.log(
    JSON.stringify({
      bench: 'crawl',
      date: new Date().toISOString(),
      node: process.version,
      cpu: cpus()[0]?.model,
      options: values,
      expected,
      results: best,
    }),
  )
} else {
  console.log(
    `${values.hosts} hosts, ${expected} pages of 14 kB, 35 links each; server: ${((cpuMs / requests) * 1_000).toFixed(0)} µs CPU per request`,
  )
  for (const one of best) {
    console.log(
      `${one.name.padEnd(22)} ${one.cpuMicrosPerPage.toFixed(0).padStart(7)} µs CPU/page  ${one.pagesPerSecond.toFixed(0).padStart(6)} pages/s  ` +
        `${one.peakRssMegabytes.toFixed(0).padStart(4)} MB RSS  ${one.pages} pages  ×${(one.cpuMicrosPerPage / ownMicros).toFixed(2)}`,
    )
  }
  for (const peer of peers.filter((one) => one.version === null)) console.log(`${peer.name} is not installed; left out`)
  if (values.crawlee === undefined) console.log('no --crawlee DIR given; Crawlee left out')
}
