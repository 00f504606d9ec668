// What does a page cost from end to end? The whole crawler on the synthetic web, and, where they are
// installed, wget2 and Crawlee on the same web in the same sitting.
//
//   node bench/crawl.ts [--hosts 64] [--pages 150] [--runs 3] [--warc none] [--crawlee DIR] [--json]
//
// The server runs in a process of its own; what is compared is CPU time of the crawlers per page, because wall
// time on a machine shared with the server says little. `--crawlee` names a folder in which
// `npm install @crawlee/cheerio` was run. Sets of pages are checked: a crawler that misses some is not compared.

import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ForkedTestWeb } from '../testweb/index.ts'

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

interface Measured {
  readonly name: string
  readonly pages: number
  readonly cpuMicrosPerPage: number
  readonly pagesPerSecond: number
  readonly peakRssMegabytes: number | null
}

const launcher = fileURLToPath(new URL('../bin/portolan.js', import.meta.url))
const web = await ForkedTestWeb.start({
  seed: 'bench',
  hosts: Number(values.hosts),
  pages: Number(values.pages),
  logMax: 0,
})
const seeds = web.web.seeds()
const expected = web.truth().pages.size
const folder = mkdtempSync(join(tmpdir(), 'portolan-bench-'))

/** Runs a command under bash's `time`, for the CPU seconds of it and its children. */
async function timed(
  command: string,
  args: readonly string[],
): Promise<{ cpu: number; wall: number; stdout: string; code: number }> {
  const quoted = [command, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const child = spawn('bash', ['-c', `TIMEFORMAT='CPU %U %S %R'; time ${quoted}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-10_000)))
  const code = await new Promise<number>((resolve) => child.on('close', (exit) => resolve(exit ?? 1)))
  const times = /CPU ([\d.]+) ([\d.]+) ([\d.]+)/.exec(stderr)
  if (times === null) throw new Error(`${command} gave no times: ${stderr}`)
  return { cpu: Number(times[1]) + Number(times[2]), wall: Number(times[3]), stdout, code }
}

function has(command: string): boolean {
  return spawnSync('bash', ['-c', `command -v ${command}`]).status === 0
}

async function portolan(run: number): Promise<Measured> {
  const dir = join(folder, `portolan-${run}`)
  const flags = [
    '--dir',
    dir,
    '--delay',
    '0ms',
    '--allow-private',
    '--warc',
    values.warc,
    '--progress',
    'none',
    '--json',
  ]
  const { stdout, cpu } = await timed(process.execPath, [launcher, 'crawl', ...seeds, ...flags])
  const result = JSON.parse(stdout) as { pages: number; seconds: number; peakRssBytes: number }
  rmSync(dir, { recursive: true })
  if (result.pages !== expected) throw new Error(`portolan fetched ${result.pages} pages of ${expected}`)
  return {
    name: 'portolan',
    pages: result.pages,
    cpuMicrosPerPage: (cpu / result.pages) * 1e6,
    pagesPerSecond: result.pages / result.seconds,
    peakRssMegabytes: result.peakRssBytes / 1e6,
  }
}

async function wget2(run: number): Promise<Measured | null> {
  if (!has('wget2')) return null
  const dir = join(folder, `wget2-${run}`)
  const { cpu, wall } = await timed('wget2', [
    ...['--recursive', '--level=0', '--span-hosts', '--no-robots', '--quiet', '--tries=1'],
    ...['--max-threads=16', '--page-requisites', `--directory-prefix=${dir}`, ...seeds],
  ])
  const pages = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length
  rmSync(dir, { recursive: true })
  return {
    name: 'wget2',
    pages,
    cpuMicrosPerPage: (cpu / pages) * 1e6,
    pagesPerSecond: pages / wall,
    peakRssMegabytes: null,
  }
}

async function crawlee(run: number): Promise<Measured | null> {
  if (values.crawlee === undefined) return null
  const script = join(values.crawlee, 'portolan-bench.mjs')
  writeFileSync(
    script,
    `import { CheerioCrawler, Configuration } from '@crawlee/cheerio'
     let pages = 0
     const crawler = new CheerioCrawler({ minConcurrency: 64, maxConcurrency: 256, maxRequestRetries: 0,
       async requestHandler({ enqueueLinks }) { pages++; await enqueueLinks({ strategy: 'all' }) },
     }, new Configuration({ persistStorage: false, logLevel: 0 }))
     await crawler.run(JSON.parse(process.argv[2]))
     console.log(JSON.stringify({ pages }))`,
  )
  const { cpu, wall, stdout } = await timed(process.execPath, [script, JSON.stringify(seeds)])
  const { pages } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as { pages: number }
  void run
  return {
    name: 'crawlee',
    pages,
    cpuMicrosPerPage: (cpu / pages) * 1e6,
    pagesPerSecond: pages / wall,
    peakRssMegabytes: null,
  }
}

const results: Measured[] = []
for (let run = 0; run < Number(values.runs); run++) {
  for (const crawler of [portolan, wget2, crawlee]) {
    // Crawlee is two orders slower; once is enough to know.
    if (crawler === crawlee && run > 0) continue
    const measured = await crawler(run)
    if (measured !== null) results.push(measured)
  }
}
const { cpuMs, requests } = await web.figures()
await web.stop()
rmSync(folder, { recursive: true, force: true })

/** The best run of each: noise only ever adds. */
const best = [...Map.groupBy(results, (one) => one.name).values()].map((runs) =>
  runs.reduce((a, b) => (a.cpuMicrosPerPage <= b.cpuMicrosPerPage ? a : b)),
)
const own = best.find((one) => one.name === 'portolan')
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
    const ratio = own === undefined ? 1 : one.cpuMicrosPerPage / own.cpuMicrosPerPage
    console.log(
      `${one.name.padEnd(10)} ${one.cpuMicrosPerPage.toFixed(0).padStart(7)} µs CPU/page  ${one.pagesPerSecond.toFixed(0).padStart(6)} pages/s  ` +
        `${one.peakRssMegabytes === null ? '' : `${one.peakRssMegabytes.toFixed(0)} MB RSS  `}${one.pages} pages  ×${ratio.toFixed(2)}`,
    )
  }
  if (!has('wget2')) console.log('wget2 is not installed (Debian: wget2); left out')
  if (values.crawlee === undefined) console.log('no --crawlee DIR given; Crawlee left out')
}
