// What does it cost a crawl to be looked at? The same crawl with nobody there, and with a dashboard open on it: its live stream, and what
// the overview, the list of hosts and the list of pages ask for, as often as the pages do.
//
//   node bench/watched.ts [--pages 40000] [--rounds 3] [--json FILE]
//
// CPU of the whole process per page, the catalogue's thread included; the two take turns, and the middle of the rounds counts. The bar is
// 3 % of the crawl's CPU.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createClient } from '../src/control/client.ts'
import { controlSocketOf } from '../src/control/index.ts'
import { startPortolan } from '../test/cli/portolan.ts'
import { ForkedTestWeb } from '../testweb/index.ts'

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '40000' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'string' },
  },
})
const HOSTS = 64
const pages = Math.ceil(Number(values.pages) / HOSTS)

interface Run {
  readonly pages: number
  readonly seconds: number
  readonly cpuMicrosPerPage: number
  readonly questions: number
}

const web = await ForkedTestWeb.start({
  hosts: HOSTS,
  pages,
  meanBytes: 14_000,
  linksPerPage: 20,
  crossHostShare: 0.1,
})
const seeds = web.web.seeds(HOSTS)

async function crawl(isWatched: boolean): Promise<Run> {
  const root = mkdtempSync(join(tmpdir(), 'portolan-watched-'))
  const dir = join(root, 'crawl')
  const { child, finished } = startPortolan(
    [
      'crawl',
      '--dir',
      dir,
      '--scope',
      'any',
      '--allow-private',
      '--delay',
      '0',
      '--agents',
      '1',
      '--progress',
      'none',
      ...seeds,
    ],
    {},
  )
  const watcher = isWatched ? watch(dir, child.pid ?? 0, () => child.exitCode === null) : Promise.resolve(0)
  const { code, stderr } = await finished
  if (code !== 0) throw new Error(`the crawl ended with ${code}: ${stderr}`)
  const questions = await watcher
  const { pages: found, run } = JSON.parse(readFileSync(join(dir, 'crawl.json'), 'utf8')) as {
    pages: number
    run: { seconds: number; cpuSeconds: number }
  }
  rmSync(root, { recursive: true, force: true })
  return { pages: found, seconds: run.seconds, cpuMicrosPerPage: (run.cpuSeconds * 1e6) / found, questions }
}

/** As a page does: the stream for as long as it lasts, and questions every ten seconds. Gives the number of answers. */
async function watch(dir: string, pid: number, isRunning: () => boolean): Promise<number> {
  let way = null
  while (way === null && isRunning()) {
    await sleep(50)
    way = await controlSocketOf(dir, pid)
  }
  if (way === null) throw new Error('nobody was there to watch')
  const client = createClient(way)
  let answers = 0
  try {
    const { crawls } = await client.call('crawls', {})
    const crawl = crawls[0]?.id ?? ''
    const end = new AbortController()
    const live = client.live(crawl, { onInfo: () => answers++, onEvent: () => answers++ }, end.signal).catch(() => {})
    await client.call('timeline', { crawl })
    while (isRunning()) {
      await client.call('agents', { crawl })
      await client.call('hosts', { crawl })
      await client.call('pages', { crawl })
      answers += 3
      await sleep(10_000)
    }
    end.abort()
    await live
  } catch {
    // It has ended.
  }
  return answers
}

const runs: Record<'alone' | 'watched', Run[]> = { alone: [], watched: [] }
for (let round = 0; round < Number(values.rounds); round++) {
  for (const how of ['alone', 'watched'] as const) {
    const run = await crawl(how === 'watched')
    runs[how].push(run)
    console.log(
      `${how.padEnd(8)} ${run.pages} pages, ${run.seconds.toFixed(1)} s, ${run.cpuMicrosPerPage.toFixed(0)} µs of CPU a page, ${run.questions} answers`,
    )
  }
}
const middle = (all: readonly Run[]): number =>
  all.map(({ cpuMicrosPerPage }) => cpuMicrosPerPage).toSorted((a, b) => a - b)[all.length >> 1] ?? Number.NaN
const ratio = middle(runs.watched) / middle(runs.alone)
console.log(`to be looked at costs ${((ratio - 1) * 100).toFixed(1)} % (load ${loadavg()[0]?.toFixed(1)})`)
if (values.json !== undefined) {
  const about = { bench: 'watched', date: new Date().toISOString(), node: process.version, cpu: cpus()[0]?.model }
  writeFileSync(values.json, `${JSON.stringify({ ...about, load: loadavg()[0], ratio, runs }, null, 1)}\n`)
}
await web.stop()
