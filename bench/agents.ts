// What does a second agent cost, and what of that is the machine's doing?
//
//   node bench/agents.ts [--rounds 3] [--pages 204800] [--hosts 64] [--bytes 14000] [--warc gzip] [--json FILE]
//
//     one        a crawl with one agent
//     apart      two crawls with one agent each, at the same time: they share the machine and nothing else
//     together   a crawl with two agents
//
// `apart` beside `one` is what two processors take from each other, in caches, memory and the kernel: nothing that agents do or leave
// undone to each other is in it. `together` beside `apart` is what agents cost who know of each other.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { meanRatio, sayRatio } from './mean-ratio.ts'
import { portolan } from './peers/portolan.ts'
import { crawlWhole, startPlainWeb } from './peers/whole-crawl.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    pages: { type: 'string', default: '204800' },
    hosts: { type: 'string', default: '64' },
    bytes: { type: 'string', default: '14000' },
    warc: { type: 'string', default: 'gzip' },
    json: { type: 'string' },
  },
})
const rounds = Number(values.rounds)
if (!(rounds >= 2)) throw new Error('--rounds: two at least, or nothing can be said of the noise')

interface Figures {
  readonly cpuMicrosPerPage: number
  /** Of all crawls together, until the last has ended. */
  readonly pagesPerSecond: number
  readonly serverMicrosPerPage: number
}

/** Agents of each crawl, of all that run at the same time. */
const WAYS = { one: [1], apart: [1, 1], together: [2] } as const
type Way = keyof typeof WAYS
type Round = Readonly<Record<Way, Figures>> & { readonly load: number }

const origin = await startPlainWeb(values)
const folder = mkdtempSync(join(tmpdir(), 'portolan-agents-'))
const results: Round[] = []
try {
  // It compiles itself once, and keeps that; and the server has read its files.
  await crawl(WAYS.together)
  console.log('CPU µs a page, pages a second, the server’s µs a page')
  console.log('one'.padStart(22), 'apart'.padStart(22), 'together'.padStart(22))
  for (let round = 0; round < rounds; round++) {
    const one = await crawl(WAYS.one)
    const apart = await crawl(WAYS.apart)
    const together = await crawl(WAYS.together)
    results.push({ one, apart, together, load: load() })
    console.log(...[one, apart, together].map((figures) => said(figures).padStart(22)))
  }
} finally {
  await origin.stop()
  rmSync(folder, { recursive: true, force: true })
}

const ratioOf = (of: keyof Figures, one: Way, two: Way): ReturnType<typeof meanRatio> =>
  meanRatio(results.map((round) => round[one][of] / round[two][of]))
const ratios = {
  machine: ratioOf('cpuMicrosPerPage', 'apart', 'one'),
  agents: ratioOf('cpuMicrosPerPage', 'together', 'apart'),
  both: ratioOf('cpuMicrosPerPage', 'together', 'one'),
  speedApart: ratioOf('pagesPerSecond', 'apart', 'one'),
  speed: ratioOf('pagesPerSecond', 'together', 'one'),
}
console.log(`CPU a page, apart beside one:       ${sayRatio(ratios.machine)}`)
console.log(`            together beside apart:  ${sayRatio(ratios.agents)}`)
console.log(`            together beside one:    ${sayRatio(ratios.both)}`)
console.log(`Pages a second, apart beside one:   ${sayRatio(ratios.speedApart)}`)
console.log(`                together beside one: ${sayRatio(ratios.speed)}`)
if (values.json !== undefined) {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`
  const about = { bench: 'agents', date: new Date().toISOString(), machine, node: process.version, options: values }
  writeFileSync(values.json, `${JSON.stringify({ ...about, ratios, results }, null, 1)}\n`)
}

/** Crawls with so many agents each, all at the same time. Each fetches all pages. */
async function crawl(agents: readonly number[]): Promise<Figures> {
  const serverBefore = origin.cpuSeconds()
  // All have ended when it throws.
  const ended = await Promise.allSettled(
    agents.map((count) => crawlWhole(origin, portolan(values.warc, count), folder)),
  )
  const costs = ended.map((end) => {
    if (end.status === 'rejected') throw end.reason
    return end.value
  })
  origin.takeLog()
  const pages = origin.pages.size * costs.length
  const cpuSeconds = costs.reduce((sum, cost) => sum + cost.cpuSeconds, 0)
  return {
    cpuMicrosPerPage: (cpuSeconds / pages) * 1e6,
    pagesPerSecond: pages / Math.max(...costs.map((cost) => cost.wallSeconds)),
    serverMicrosPerPage: ((origin.cpuSeconds() - serverBefore) / pages) * 1e6,
  }
}

function said({ cpuMicrosPerPage, pagesPerSecond, serverMicrosPerPage }: Figures): string {
  return [cpuMicrosPerPage, pagesPerSecond, serverMicrosPerPage].map((figure) => Math.round(figure)).join(', ')
}

function load(): number {
  return Math.round((loadavg()[0] ?? 0) * 10) / 10
}
