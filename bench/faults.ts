// What does a fault cost? A crawl of two agents whose parts are broken on purpose, again and again, while it runs: how long until
// the part works again, what was lost (nothing, or this ends with 1), and what was asked for twice.
//
//   npm run faults -- [--only visitor,stage,…] [--scale 1] [--seed 1] [--json FILE]
//
// --scale 0.1 injects a tenth of the faults; all of them take three hours. The web runs in a process of its own. Time to repair is counted from the fault itself:
//
//   visitor, stage       until the next visit begins in the place of the one that broke
//   agent …, books       until the thread that replaces the broken one is told to run; opening its share is in it
//   process …            until the first request of the process that replaces the killed one reaches the server

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { systemClock } from '../src/base/index.ts'
import type { CrewCare } from '../src/supervise/index.ts'
import { type BrokenCrawl, crawlBroken } from '../test/agents/broken-crawl.ts'
import { startPortolan } from '../test/cli/portolan.ts'
import { FAST } from '../test/crawl/run-crawl.ts'
import { ForkedTestWeb, startTestWeb } from '../testweb/index.ts'

/** Dominos (Hafri and Djeraba, 2004), measured by fault injection in Erlang. */
const DOMINOS = { worker: '115 µs', supervisor: '60 µs', database: '9 s (10⁷ tuples)' }
const AGENTS = 2
const HOUR_MS = 3_600_000
/** Of a host: fewer, and a crawl is over before anything breaks. */
const PAGES_MIN = 60

interface Kind {
  /** How many, at scale 1. */
  readonly count: number
  /** How probable, each time the point is passed; null for the process, which is killed from outside. */
  readonly rate: number | null
  readonly web: { readonly hosts: number; readonly pages: number; readonly latencyMs?: number }
  /** Where the supervisor is to look more often than for a user. */
  readonly care?: Partial<CrewCare>
  readonly beside: string
}

/** Pages enough for a thousand faults: a thread that breaks lives for some tens of pages, or is slowed down so that it does. */
const KINDS: Readonly<Record<string, Kind>> = {
  visitor: { count: 1_000, rate: 0.1, web: { hosts: 24, pages: 500 }, beside: `worker ${DOMINOS.worker}` },
  stage: { count: 1_000, rate: 0.1, web: { hosts: 24, pages: 500 }, beside: `worker ${DOMINOS.worker}` },
  'agent-throw': {
    count: 1_000,
    rate: 0.3,
    web: { hosts: 24, pages: 800 },
    beside: `supervisor ${DOMINOS.supervisor}`,
  },
  books: { count: 1_000, rate: 0.3, web: { hosts: 24, pages: 6_000 }, beside: `database ${DOMINOS.database}` },
  'agent-memory': {
    count: 1_000,
    rate: 0.2,
    web: { hosts: 24, pages: 3_000, latencyMs: 500 },
    beside: '–',
  },
  // Thirty looks at a thread that hangs are half a minute for a user, and would be four hours here.
  'agent-hang': {
    count: 1_000,
    rate: 0.2,
    web: { hosts: 24, pages: 1_500, latencyMs: 100 },
    care: { lookMs: 50 },
    beside: '–',
  },
  'process-SIGKILL': {
    count: 1_000,
    rate: null,
    web: { hosts: 24, pages: 2_000 },
    beside: `database ${DOMINOS.database}`,
  },
  'process-SIGABRT': {
    count: 1_000,
    rate: null,
    web: { hosts: 24, pages: 2_000 },
    beside: `database ${DOMINOS.database}`,
  },
}

interface Row {
  readonly kind: string
  readonly struck: number
  /** Fewer than struck where a fault fell into the repair of another. */
  readonly repaired: number
  readonly meanMs: number
  readonly medianMs: number
  readonly mostMs: number
  /** Of 1, were there one such fault an hour: MTTF / (MTTF + MTTR). */
  readonly availability: number
  readonly pages: number
  readonly lost: number
  readonly twice: number
  /** Requests beyond those of the same crawl without faults; null where not counted. */
  readonly askedAgain: number | null
  readonly seconds: number
  /** CPU time of the process for each fault, beyond that of the same crawl without; null where not counted. */
  readonly cpuMsEach: number | null
  /** Of the process, after the tenth part of the restarts and at their end. */
  readonly openFiles: readonly [number, number] | null
  readonly rssMiB: readonly [number, number] | null
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    scale: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
})
const names = values.only?.split(',') ?? Object.keys(KINDS)
const rows: Row[] = []
let unhandled = 0
process.on('unhandledRejection', (cause) => {
  unhandled++
  console.log('  ! a promise nobody waited for:', cause)
})
const dir = mkdtempSync(join(tmpdir(), 'portolan-bench-faults-'))
const loadBefore = loadavg()[0] ?? 0
try {
  for (const name of names) {
    const kind = KINDS[name]
    if (kind === undefined)
      throw new Error(`no kind of fault is called ${name}; there are ${Object.keys(KINDS).join(', ')}`)
    const scaled = scaledKind(kind, Number(values.scale))
    mkdirSync(join(dir, name))
    const row =
      kind.rate === null
        ? await killProcess(name, name.slice('process-'.length) as NodeJS.Signals, scaled)
        : await breakParts(name, kind.rate, scaled)
    rows.push(row)
    console.log(lineOf(row, kind))
  }
} finally {
  rmSync(dir, { recursive: true, force: true })
}
const problems = rows.reduce((sum, { lost, twice }) => sum + lost + twice, 0) + unhandled
console.log(`\n${tableOf()}\n\n${problems} pages lost, twice in the result, or promises nobody waited for`)
if (problems > 0) process.exitCode = 1
const today = new Date().toISOString().slice(0, 10)
const to = values.json ?? `bench/results/faults-${today}.json`
const about = {
  bench: 'faults',
  date: new Date().toISOString(),
  node: process.version,
  cpu: cpus()[0]?.model,
  cores: availableParallelism(),
  load: [loadBefore, loadavg()[0]],
}
writeFileSync(to, `${JSON.stringify({ ...about, options: values, agents: AGENTS, unhandled, rows }, null, 1)}\n`)

/** So many of the faults, and as many of the pages as they need. */
function scaledKind(kind: Kind, scale: number): Kind {
  const pages = Math.max(PAGES_MIN, Math.round(kind.web.pages * scale))
  return { ...kind, count: Math.max(1, Math.round(kind.count * scale)), web: { ...kind.web, pages } }
}

async function breakParts(name: string, rate: number, { count, web: size, care = {} }: Kind): Promise<Row> {
  const options = { seed: `faults-${values.seed}`, ...size, meanBytes: 2_000 }
  const flags = { ...FAST, connections: '16', retries: '10', memory: '512MiB' }
  const run = (web: ForkedTestWeb, faults: string, to: string): Promise<BrokenCrawl> =>
    crawlBroken({ seeds: web.web.seeds(), dir: join(dir, name, to), agents: AGENTS, flags, faults, care })
  const cpuStartMs = cpuMs()
  // Nobody waits for the server where nothing is to be broken.
  const quick = await ForkedTestWeb.start({ ...options, latencyMs: 0 })
  let needed = 0
  try {
    await run(quick, 'seed:0', 'whole')
    needed = (await quick.figures()).requests
  } finally {
    await quick.stop()
  }
  const cpuWholeMs = cpuMs() - cpuStartMs
  const web = await ForkedTestWeb.start(options)
  try {
    const truth = web.truth()
    const plan = `seed:${values.seed},${name}:${rate}:${count}`
    const { result, repairs, faults, seconds } = await run(web, plan, 'broken')
    const cpuBrokenMs = cpuMs() - cpuStartMs - cpuWholeMs
    const { requests } = await web.figures()
    const own = faults[name as keyof typeof faults]
    const times = repairs.map(({ ms }) => ms).toSorted((a, b) => a - b)
    const isMendedInside = own !== undefined && own.mended > 0
    const meanMs = isMendedInside ? (own.meanUs ?? 0) / 1_000 : mean(times)
    const first = repairs[Math.floor(repairs.length / 10)]
    const last = repairs.at(-1)
    return {
      kind: name,
      struck: own?.struck ?? 0,
      repaired: isMendedInside ? own.mended : repairs.length,
      meanMs,
      medianMs: isMendedInside ? (own.medianUs ?? 0) / 1_000 : (times[times.length >> 1] ?? 0),
      mostMs: isMendedInside ? (own.mostUs ?? 0) / 1_000 : (times.at(-1) ?? 0),
      availability: HOUR_MS / (HOUR_MS + meanMs),
      ...judge(
        result.pages.map(({ url }) => url),
        truth.pages,
      ),
      askedAgain: requests - needed,
      seconds,
      cpuMsEach: own === undefined ? null : (cpuBrokenMs - cpuWholeMs) / own.struck,
      openFiles: first === undefined || last === undefined ? null : [first.openFiles, last.openFiles],
      rssMiB: first === undefined || last === undefined ? null : [mib(first.rssBytes), mib(last.rssBytes)],
    }
  } finally {
    await web.stop()
  }
}

async function killProcess(name: string, signal: NodeJS.Signals, { count, web: size }: Kind): Promise<Row> {
  // Slow enough that it lasts.
  const web = await startTestWeb({ seed: `faults-${values.seed}`, ...size, meanBytes: 2_000, latencyMs: 20 })
  const startMs = systemClock.nowMs()
  const to = join(dir, name, 'crawl')
  const flags = ['--allow-private', '--delay', '0ms', '--warc', 'none', '--agents', String(AGENTS)]
  const args = ['crawl', ...web.seeds(), '--dir', to, ...flags, '--guard', '--json', '--progress', 'none']
  // An experiment: deaths are no loop.
  const { finished } = startPortolan(args, { environment: { PORTOLAN_FAULTS: `seed:${values.seed}` } })
  let isOver = false
  void finished.then(() => (isOver = true))
  const times: number[] = []
  try {
    let pid: number | null = null
    while (times.length < count) {
      const before: number | null = pid
      pid = await until(
        () => pidOf(to, before),
        () => isOver,
      )
      if (pid === null) break
      const asked = web.log.length
      await until(
        () => (web.log.length > asked + 20 ? true : null),
        () => isOver,
      )
      if (isOver) break
      process.kill(pid, signal)
      const killedMs = systemClock.nowMs()
      const dead = pid
      await until(
        () => pidOf(to, dead),
        () => isOver,
      )
      const known = web.log.length
      const first = await until(
        () => (web.log.length > known ? web.log.at(known) : null),
        () => isOver,
      )
      if (first !== null) times.push(first.startMs - killedMs)
    }
    const { stdout, code, stderr } = await finished
    const lines = stdout.trim().split('\n')
    if (code !== 0 || lines.length !== 1) throw new Error(`ended with ${code}, ${lines.length} objects: ${stderr}`)
    times.sort((a, b) => a - b)
    const truth = web.truth()
    const requests = Map.groupBy(web.log.requests(), ({ scheme, host, path }) => `${scheme}://${host}${path}`)
    const askedAgain = [...truth.pages].reduce((sum, [url, { throttled }]) => {
      const { protocol, hostname, pathname, search } = new URL(url)
      return sum + (requests.get(`${protocol}//${hostname}${pathname}${search}`)?.length ?? 0) - 1 - throttled
    }, 0)
    const pages = readFileSync(join(to, 'pages.jsonl'), 'utf8').trim().split('\n')
    return {
      kind: name,
      struck: times.length,
      repaired: times.length,
      meanMs: mean(times),
      medianMs: times[times.length >> 1] ?? 0,
      mostMs: times.at(-1) ?? 0,
      availability: HOUR_MS / (HOUR_MS + mean(times)),
      ...judge(
        pages.map((line) => (JSON.parse(line) as { url: string }).url),
        truth.pages,
      ),
      askedAgain,
      seconds: (systemClock.nowMs() - startMs) / 1_000,
      cpuMsEach: null,
      openFiles: null,
      rssMiB: null,
    }
  } finally {
    await web.stop()
  }
}

/** The process that crawls there now, if it is another one than before. */
function pidOf(crawlDir: string, before: number | null): number | null {
  try {
    const pid = Number(readFileSync(join(crawlDir, 'state/pid'), 'utf8'))
    return pid > 0 && pid !== before ? pid : null
  } catch {
    return null
  }
}

async function until<T>(look: () => T | null, isOver: () => boolean): Promise<T | null> {
  for (;;) {
    const found = look()
    if (found !== null || isOver()) return found
    await sleep(2)
  }
}

function judge(urls: readonly string[], truth: ReadonlyMap<string, unknown>): Pick<Row, 'pages' | 'lost' | 'twice'> {
  const found = new Set(urls)
  return {
    pages: found.size,
    lost: [...truth.keys()].filter((url) => !found.has(url)).length,
    twice: urls.length - found.size,
  }
}

function mean(numbers: readonly number[]): number {
  return numbers.length === 0 ? 0 : numbers.reduce((sum, one) => sum + one, 0) / numbers.length
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

function mib(bytes: number): number {
  return Math.round(bytes / 2 ** 20)
}

function span(ms: number): string {
  if (ms < 1) return `${Math.round(ms * 1_000)} µs`
  return ms < 1_000 ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

function lineOf(row: Row, { beside }: Kind): string {
  const kept =
    row.openFiles === null || row.rssMiB === null
      ? ''
      : `, files ${row.openFiles.join(' → ')}, ${row.rssMiB.join(' → ')} MiB`
  return (
    `${row.kind}: ${row.struck} faults, ${row.repaired} repaired in ${span(row.meanMs)} (middle ${span(row.medianMs)}, most ${span(row.mostMs)}; ` +
    `Dominos: ${beside}), ${row.pages} pages, ${row.lost} lost, ${row.twice} twice, ${row.askedAgain} asked again${kept}, ${Math.round(row.seconds)} s`
  )
}

/** As docs/durability.md shows it. */
function tableOf(): string {
  const head =
    '| broken | faults | mean time to repair | middle | most | CPU each | available, at one an hour | pages lost | asked again | Dominos |\n' +
    '| --- | --: | --: | --: | --: | --: | --: | --: | --: | --- |\n'
  return (
    head +
    rows
      .map(
        (row) =>
          `| ${row.kind} | ${row.struck} | ${span(row.meanMs)} | ${span(row.medianMs)} | ${span(row.mostMs)} | ${row.cpuMsEach === null ? '–' : span(row.cpuMsEach)} | ` +
          `${(row.availability * 100).toFixed(row.availability > 0.99999 ? 7 : 3)} % | ${row.lost} of ${row.pages} | ${row.askedAgain} | ${KINDS[row.kind]?.beside} |`,
      )
      .join('\n')
  )
}
