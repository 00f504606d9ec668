// What do hosts that misbehave cost those that do not? The same web twice, once clean and once with three hosts of ten of
// whose pages every second drips, resets, is a bomb, fails or leads in circles, in turn.
//
//   node bench/mixed-web.ts [--hosts 60] [--pages 150] [--share 0.3] [--runs 3] [--agents 1] [--json]
//
// A good page is one that came as its server should send it. Said are CPU time per good page (all CPU time, start-up taken off), and good pages per second while
// honest hosts are asked (until 99 of 100 of their pages are there: the last may be linked from nowhere but a host that takes its time).
// The server is a process of its own and shares the machine, so CPU time is the figure to look at.
// Ends with 1 if the mixed web is crawled at less than 70 % of the speed of the clean one, by both.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ForkedTestWeb, type Truth, turnAt, type Web } from '../testweb/index.ts'
import { measure } from './peers/measured-run.ts'

const { values } = parseArgs({
  options: {
    hosts: { type: 'string', default: '60' },
    pages: { type: 'string', default: '150' },
    share: { type: 'string', default: '0.3' },
    runs: { type: 'string', default: '3' },
    agents: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
})
const BAR = 0.7
const LIMIT_SECONDS = 600
const launcher = fileURLToPath(new URL('../bin/portolan.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'portolan-mixed-'))

/** Nobody is waited for longer than it takes to see that nothing comes; all else is as it is by default. */
const configFile = join(folder, 'config.json')
writeFileSync(
  configFile,
  JSON.stringify({
    fetch: { headTimeout: '500ms', requestTimeout: '800ms' },
    frontier: { backoff: '20ms', backoffMax: '100ms', retryAfterMax: '100ms' },
  }),
)

interface Measured {
  readonly name: string
  readonly good: number
  readonly others: number
  readonly cpuMicrosPerGoodPage: number
  readonly goodPagesPerSecond: number
}

interface Line {
  readonly url: string
  readonly fetchedAt: string
}

async function crawl(seeds: readonly string[]): Promise<{ cpuSeconds: number; lines: Line[] }> {
  const dir = mkdtempSync(join(folder, 'crawl-'))
  const seedFile = join(folder, 'seeds.txt')
  writeFileSync(seedFile, `${seeds.join('\n')}\n`)
  const { cpuSeconds, exitCode, stderr } = await measure(
    {
      command: process.execPath,
      args: [
        ...[launcher, 'crawl', '--seeds', seedFile, '--dir', dir, '--config', configFile, '--agents', values.agents],
        ...[
          '--warc',
          'none',
          '--delay',
          '0ms',
          '--robots',
          'ignore',
          '--allow-private',
          '--progress',
          'none',
          '--json',
        ],
      ],
    },
    LIMIT_SECONDS,
  )
  if (exitCode !== 0) throw new Error(`portolan ended with ${exitCode}: ${stderr}`)
  const text = readFileSync(join(dir, 'pages.jsonl'), 'utf8')
  rmSync(dir, { recursive: true })
  const lines = text.split('\n').filter((line) => line !== '')
  return { cpuSeconds, lines: lines.map((line) => JSON.parse(line) as Line) }
}

const question = { robots: 'ignore' } as const
const shape = { hosts: Number(values.hosts), pages: Number(values.pages), logMax: 0, retryAfterS: 0.02 }
const webs = [
  { name: 'clean', web: await ForkedTestWeb.start({ ...shape, seed: 'bench' }) },
  { name: 'mixed', web: await ForkedTestWeb.start({ ...shape, seed: 'bench', misbehaving: Number(values.share) }) },
]
const tiny = await ForkedTestWeb.start({ hosts: 1, pages: 1, logMax: 0 })

async function measured(name: string, web: ForkedTestWeb, truth: Truth, startSeconds: number): Promise<Measured> {
  await web.reset()
  const { cpuSeconds, lines } = await crawl(web.web.seeds())
  const good = lines.filter(({ url }) => isGood(web.web, truth, url))
  const expected = [...truth.pages.keys()].filter((url) => isGood(web.web, truth, url)).length
  if (good.length !== expected) throw new Error(`${name}: ${good.length} good pages of ${expected}`)
  const times = good.map((line) => Date.parse(line.fetchedAt))
  const honest = good.filter(({ url }) => isHonest(web.web, url)).map((line) => Date.parse(line.fetchedAt))
  honest.sort((a, b) => a - b)
  const [startMs = 0, endMs = 0] = [honest[0], honest[Math.floor(honest.length * 0.99)]]
  return {
    name,
    good: good.length,
    others: truth.pages.size + truth.failed.size - good.length,
    cpuMicrosPerGoodPage: ((cpuSeconds - startSeconds) / good.length) * 1e6,
    goodPagesPerSecond: times.filter((ms) => ms <= endMs).length / ((endMs - startMs) / 1_000),
  }
}

function isHonest({ options, hosts }: Web, url: string): boolean {
  const host = hosts.find(new URL(url).hostname)
  // Where page 1 misbehaves, every second does.
  return host !== null && turnAt(options.misbehaving, host, 1) === null
}

/** A page that came as it should, and is no misdeed of an honest server either. */
function isGood({ options, hosts }: Web, { pages }: Truth, url: string): boolean {
  const page = pages.get(url)
  const { hostname, pathname, search } = new URL(url)
  const number = Number(/(\d+)/.exec(pathname + search)?.[1] ?? 0)
  const host = hosts.find(hostname)
  return page?.status === 200 && !page.isBad && host !== null && turnAt(options.misbehaving, host, number) === null
}

const results: Measured[] = []
for (let run = 0; run < Number(values.runs); run++) {
  const start = await crawl(tiny.web.seeds())
  for (const { name, web } of webs) results.push(await measured(name, web, web.truth(question), start.cpuSeconds))
}
await Promise.all([tiny.stop(), ...webs.map(({ web }) => web.stop())])
rmSync(folder, { recursive: true, force: true })

/** The best run of each: noise only ever adds. */
const of = (name: string): readonly Measured[] => results.filter((one) => one.name === name)
const least = (name: string): number => Math.min(...of(name).map((one) => one.cpuMicrosPerGoodPage))
const fastest = (name: string): number => Math.max(...of(name).map((one) => one.goodPagesPerSecond))
const byCpu = least('clean') / least('mixed')
const byTime = fastest('mixed') / fastest('clean')
const rows = ['clean', 'mixed'].map((name) => ({
  web: name,
  good: of(name)[0]?.good ?? 0,
  others: of(name)[0]?.others ?? 0,
  cpuMicrosPerGoodPage: Math.round(least(name)),
  goodPagesPerSecond: Math.round(fastest(name)),
}))
if (values.json) {
  const date = new Date().toISOString()
  const { model } = cpus()[0] ?? {}
  console.log(
    JSON.stringify({
      bench: 'mixed-web',
      date,
      node: process.version,
      cpu: model,
      options: values,
      rows,
      byCpu,
      byTime,
    }),
  )
} else {
  for (const { web, good, others, cpuMicrosPerGoodPage, goodPagesPerSecond } of rows) {
    console.log(
      `${web.padEnd(6)} ${good} good pages, ${others} others: ${cpuMicrosPerGoodPage} µs CPU per good page, ${goodPagesPerSecond} good pages/s`,
    )
  }
  console.log(
    `mixed beside clean: ${(byCpu * 100).toFixed(0)} % by CPU, ${(byTime * 100).toFixed(0)} % by time (bar: ${BAR * 100} %)`,
  )
}
process.exitCode = byCpu >= BAR && byTime >= BAR ? 0 : 1
