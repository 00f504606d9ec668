// Does a crawl keep to --memory when it has met far more URLs than fit? A real crawl of a large synthetic web, for a while, and what its
// process took meanwhile.
//
//   node bench/memory-bound.ts [--memory 368MiB,512MiB] [--urls 1000000] [--seconds 150] [--hosts 1000] [--pages 5000] [--bytes 100000] [--json FILE]
//
// The web runs in a process of its own and every page has some hundred links that are mostly new, so that what waits grows a hundred times
// faster than what is done with. --bytes makes pages of about that size, to see what large bodies take. The crawl is stopped like with Ctrl-C when it has met so many URLs, or when the time is over. Memory is
// what the kernel says (resident set, twice a second; its peak by the kernel's own count) and what Node says it is made of (once a second).
// Ends with 1 if a peak is above its budget.

import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parseSize } from '../src/base/index.ts'
import { sharesOf } from '../src/view/index.ts'
import { ForkedTestWeb } from '../testweb/index.ts'

const { values } = parseArgs({
  options: {
    memory: { type: 'string', default: '368MiB,512MiB' },
    urls: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '150' },
    hosts: { type: 'string', default: '1000' },
    pages: { type: 'string', default: '5000' },
    bytes: { type: 'string' },
    json: { type: 'string' },
  },
})
const LAUNCHER = fileURLToPath(new URL('../bin/portolan.js', import.meta.url))
const MIB = 2 ** 20
/** Loaded before the crawler: says once a second what its memory is made of, and how long the event loop was kept. */
const SAMPLER = `
  import { appendFileSync } from 'node:fs'
  import { monitorEventLoopDelay } from 'node:perf_hooks'
  import { getHeapSpaceStatistics } from 'node:v8'
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  setInterval(() => {
    const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
    const line = { ...process.memoryUsage(), young: young?.space_size ?? 0, loopMs: delay.percentile(50) / 1e6, loopMaxMs: delay.max / 1e6 }
    delay.reset()
    appendFileSync(process.env.MEMORY_SAMPLES, JSON.stringify(line) + '\\n')
  }, 1000).unref()
`

interface Sample {
  readonly rss: number
  readonly heapTotal: number
  readonly heapUsed: number
  readonly external: number
  readonly arrayBuffers: number
  readonly young: number
  readonly loopMs: number
  readonly loopMaxMs: number
}

/** Memory in MiB: the process's own, and pages of files it has mapped (its program and tables on disk), which the kernel takes back when it needs them. */
interface Row {
  readonly seconds: number
  readonly waiting: number
  readonly rss: number
  readonly ofFiles: number
  readonly heap: number
  readonly heapUsed: number
  readonly external: number
}

interface Watched {
  readonly memory: string
  readonly budgetMiB: number
  readonly peakMiB: number
  readonly isWithin: boolean
  readonly urlsMet: number
  readonly waitingMost: number
  readonly pages: number
  readonly seconds: number
  readonly cpuSeconds: number
  readonly atPeakMiB: Readonly<Record<string, number>>
  /** The run in about ten rows. */
  readonly course: readonly Row[]
  readonly stateOnDiskMiB: Readonly<Record<string, number>>
}

async function watch(web: ForkedTestWeb, memory: string): Promise<Watched> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-memory-'))
  try {
    const dir = join(folder, 'crawl')
    const seedFile = join(folder, 'seeds.txt')
    const samplePath = join(folder, 'samples.jsonl')
    writeFileSync(seedFile, web.web.seeds().join('\n'))
    writeFileSync(samplePath, '')
    const command = [
      'crawl',
      '--seeds',
      seedFile,
      '--dir',
      dir,
      '--memory',
      memory,
      '--allow-private',
      '--delay',
      '0ms',
    ]
    const sampler = `--import=data:text/javascript,${encodeURIComponent(SAMPLER)}`
    const child = spawn(process.execPath, [sampler, LAUNCHER, ...command, '--progress', 'none', '--json'], {
      env: { ...process.env, MEMORY_SAMPLES: samplePath },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let stdout = ''
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    const startMs = performance.now()
    const seconds = (): number => (performance.now() - startMs) / 1_000
    const course: Row[] = []
    let peakKib = 0
    let isStopped = false
    while (child.exitCode === null && child.signalCode === null) {
      await sleep(500)
      const status = readOr(`/proc/${child.pid}/status`)
      const kib = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0)
      peakKib = Math.max(peakKib, kib('VmHWM'))
      const last = lastLine<{ waiting: number; pages: number }>(join(dir, 'state/timeline.jsonl'))
      const sample = lastLine<Sample>(samplePath)
      if (sample !== null && kib('VmRSS') > 0) {
        course.push({
          seconds: Math.round(seconds()),
          waiting: last?.waiting ?? 0,
          rss: Math.round(kib('VmRSS') / 1_024),
          ofFiles: Math.round(kib('RssFile') / 1_024),
          heap: Math.round(sample.heapTotal / MIB),
          heapUsed: Math.round(sample.heapUsed / MIB),
          external: Math.round(sample.external / MIB),
        })
      }
      const met = (last?.waiting ?? 0) + (last?.pages ?? 0)
      if (!isStopped && (met >= Number(values.urls) || seconds() > Number(values.seconds))) {
        isStopped = child.kill('SIGINT')
      }
    }
    const code = await ended
    if (code !== 0 && code !== 3) throw new Error(`the crawl ended with ${code}: ${stdout}`)
    const result = JSON.parse(stdout) as { urlsSeen: number; pages: number; seconds: number; cpuSeconds: number }
    const samples = readFileSync(samplePath, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Sample)
    const top = samples.reduce((a, b) => (b.rss > a.rss ? b : a))
    const inMiB = (bytes: number): number => Math.round(bytes / MIB)
    const budgetMiB = inMiB(parseSize(memory) ?? 0)
    const peakMiB = Math.round(peakKib / 1_024)
    const shares = await sharesOf(dir)
    return {
      memory,
      budgetMiB,
      peakMiB,
      isWithin: peakMiB <= budgetMiB,
      urlsMet: result.urlsSeen,
      waitingMost: course.reduce((most, { waiting }) => Math.max(most, waiting), 0),
      pages: result.pages,
      seconds: Math.round(result.seconds),
      cpuSeconds: Math.round(result.cpuSeconds),
      atPeakMiB: {
        rss: inMiB(top.rss),
        heapTotal: inMiB(top.heapTotal),
        heapUsed: inMiB(top.heapUsed),
        young: inMiB(top.young),
        external: inMiB(top.external),
        arrayBuffers: inMiB(top.arrayBuffers),
        elsewhere: inMiB(top.rss - top.heapTotal - top.external),
        loopMs: Math.round(top.loopMs),
      },
      course: course.filter((_, i) => i % Math.max(1, Math.floor(course.length / 10)) === 0),
      stateOnDiskMiB: Object.fromEntries(
        ['journal', 'frontier', 'seen', 'contents'].map((name) => [
          name,
          sizeMiB(shares.map((share) => join(share, 'state', name))),
        ]),
      ),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function lastLine<T>(path: string): T | null {
  const line = readOr(path).split('\n').slice(0, -1).at(-1)
  return line === undefined ? null : (JSON.parse(line) as T)
}

function sizeMiB(folders: readonly string[]): number {
  const all = folders.flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
  const files = all.filter((entry) => entry.isFile())
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
  return Math.round((bytes / MIB) * 10) / 10
}

const [hosts, pages] = [Number(values.hosts), Number(values.pages)]
const meanBytes = values.bytes === undefined ? {} : { meanBytes: Number(values.bytes) }
const web = await ForkedTestWeb.start({
  ...{ seed: 'memory', hosts, pages, linksPerPage: 150, branching: 120, logMax: 0 },
  ...meanBytes,
})
const results: Watched[] = []
try {
  for (const memory of values.memory.split(',')) {
    const one = await watch(web, memory)
    results.push(one)
    console.log(
      `--memory ${memory}: peak ${one.peakMiB} MiB${one.isWithin ? '' : ' (above the budget)'}; ${one.urlsMet} URLs met, ${one.waitingMost} ` +
        `waiting at most, ${one.pages} pages in ${one.seconds} s, ${one.cpuSeconds} s CPU`,
    )
    console.log(`  at the peak, MiB: ${JSON.stringify(one.atPeakMiB)}; on disk: ${JSON.stringify(one.stateOnDiskMiB)}`)
    console.table(one.course)
  }
} finally {
  await web.stop()
}
if (results.some(({ isWithin }) => !isWithin)) process.exitCode = 1
if (values.json !== undefined) {
  const about = { bench: 'memory-bound', date: new Date().toISOString(), node: process.version, cpu: cpus()[0]?.model }
  writeFileSync(values.json, `${JSON.stringify({ ...about, options: values, results }, null, 1)}\n`)
}
