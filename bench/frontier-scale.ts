// The frontier on disk, larger than its memory: what does it cost to put in millions of URLs and to take them out, how many
// bytes do they take on disk, how much memory, how long is the longest pause, and how soon is it open again?
//
//   node bench/frontier-scale.ts [--urls 1000000] [--memory 180MiB] [--take 300000] [--dir DIR] [--part take]
//
// Taking has a process of its own, as a crawl has that goes on after it was stopped; `--part take` does only that, with what
// waits in DIR.
//
// URLs are those of bench/synthetic-web.ts, one host for ten URLs, by a power law. Checkpoints are made when the frontier
// wants one; the journal is not part of this. Taking is one URL a turn with a rest of a second, on a clock that jumps to
// the next host that is rested. µs are CPU time of the process with the store's threads; making the URLs is counted apart and taken off. The
// result is a line of JSON; how far it has come is told on stderr.
//
// Bytes a URL are looked at while it runs, each time something was written and every tenth of a million URLs: all files of the
// directory, tables that are about to be removed and logs included, by the URLs that wait in the last checkpoint and since.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { ManualClock, parseSize } from '../src/base/index.ts'
import { DiskFrontier, type Turn } from '../src/frontier/index.ts'
import { numberOfHost, SyntheticWeb } from './synthetic-web.ts'

const SEED = 'bench-frontier-scale'
const URLS_PER_HOST = 10
const OUT_MAX = 256
/** Offers, or turns, between two chances for everything else, as a page has links. */
const STEP = 100

// As a crawl does that has used up some of its memory (src/cli/heap-bound.ts).
setFlagsFromString('--heap-growing-percent=20')

const { values } = parseArgs({
  options: {
    urls: { type: 'string', default: '1000000' },
    memory: { type: 'string', default: '180MiB' },
    take: { type: 'string', default: '300000' },
    dir: { type: 'string' },
    part: { type: 'string' },
  },
})
const urls = Number(values.urls)
const memoryBytes = parseSize(values.memory) ?? 2 ** 28
if (values.part !== undefined && (values.part !== 'take' || values.dir === undefined))
  throw new Error('--part take needs --dir; there is no other part')
const directory = values.dir ?? mkdtempSync(join(tmpdir(), 'portolan-frontier-scale-'))

const TELL_URLS = Math.max(100_000, urls / 100)
const LOOK_MS = 200
let lookedMs = 0
let toldAt = 0
/** URLs offered, or taken, since `cpu` was set. */
let handled = 0
let cpu = 0
const samples: { readonly waiting: number; readonly bytesPerUrl: number }[] = []

const clock = new ManualClock()
const settings = { directory, memoryBytes, clock, delayMs: 1_000, ipDelayMs: 0, ipConnections: 8 }

let batch = 0
let checkpoints = 0
let longestSealMs = 0
let peakRss = 0
let peakOwn = 0

/** What the agent does at each tick: seals when it is wanted, and waits when memory is used up. */
async function tick(frontier: DiskFrontier): Promise<void> {
  if (frontier.wantsSeal()) {
    const beganMs = performance.now()
    frontier.seal(++batch)
    longestSealMs = Math.max(longestSealMs, performance.now() - beganMs)
    frontier.committed(batch)
    checkpoints++
  }
  await frontier.pressure()
  if (performance.now() - lookedMs > LOOK_MS) look(frontier)
}

/** Memory and disk at this moment. Rss counts pages of mapped tables too, which the kernel takes back when it needs them; own does not. */
function look(frontier: DiskFrontier): void {
  lookedMs = performance.now()
  const { waiting, hosts } = frontier.figures()
  const status = readFileSync('/proc/self/status', 'utf8')
  const ofStatus = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) * 1_024
  const own = ofStatus('RssAnon')
  peakRss = Math.max(peakRss, ofStatus('VmRSS'))
  peakOwn = Math.max(peakOwn, own)
  if (waiting < toldAt + TELL_URLS && waiting > toldAt - TELL_URLS) return
  toldAt = waiting
  const bytes = bytesOnDisk() / waiting
  samples.push({ waiting, bytesPerUrl: Number(bytes.toFixed(1)) })
  const seconds = Math.round(performance.now() / 1_000)
  const cpuUs = ((cpuSeconds() - cpu) / Math.max(1, handled)) * 1e6
  console.error(
    `${seconds} s: ${waiting} wait, ${hosts} hosts, ${bytes.toFixed(1)} bytes a URL, ${cpuUs.toFixed(1)} µs of CPU a URL, ` +
      `${checkpoints} checkpoints, RSS ${mib(ofStatus('VmRSS'))} MiB, own ${mib(own)}, heap ${mib(process.memoryUsage().heapTotal)}, counted ${mib(frontier.bytesInMemory)}`,
  )
}

function mib(bytes: number): number {
  return Math.round(bytes / 2 ** 20)
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

function bytesOnDisk(): number {
  // A table may be removed while we look.
  const sizeOf = (name: string): number => statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0
  return readdirSync(directory).reduce((sum, name) => sum + sizeOf(name), 0)
}

/** The least, the middle one, the most, and the most of the second half. */
function spread(of: typeof samples): Record<'least' | 'middle' | 'most' | 'mostLater', number | null> {
  const bytes = of.map(({ bytesPerUrl }) => bytesPerUrl)
  const sorted = bytes.toSorted((a, b) => a - b)
  return {
    least: sorted.at(0) ?? null,
    middle: sorted.at(sorted.length >> 1) ?? null,
    most: sorted.at(-1) ?? null,
    mostLater: bytes.slice(bytes.length >> 1).reduce((most, value) => Math.max(most, value), 0),
  }
}

async function checkpoint(frontier: DiskFrontier): Promise<void> {
  await frontier.written()
  frontier.seal(++batch)
  frontier.committed(batch)
  await frontier.written()
}

/** A URL of the web, made. */
function cpuOfMaking(): number {
  const other = new SyntheticWeb('warm', Math.ceil(urls / URLS_PER_HOST))
  const before = cpuSeconds()
  let made = 0
  while (made < 100_000) made += other.page().length
  return (cpuSeconds() - before) / made
}

function bytesPerWaiting(frontier: DiskFrontier): number {
  return Number((bytesOnDisk() / frontier.figures().waiting).toFixed(1))
}

/** Puts the URLs in, and says what that cost. */
async function fill(): Promise<object> {
  const web = new SyntheticWeb(SEED, Math.ceil(urls / URLS_PER_HOST))
  const makingCpu = cpuOfMaking()
  const baseRss = process.memoryUsage.rss()
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const frontier = await DiskFrontier.open(settings)
  await frontier.endReplay()
  delay.enable()
  cpu = cpuSeconds()
  const beganMs = performance.now()
  let characters = 0
  for (let made = 0, left = STEP; made < urls;) {
    for (const entry of web.page()) {
      frontier.offer(entry)
      characters += entry.url.length
      made++
      handled++
      left--
    }
    if (left > 0) continue
    left = STEP
    await setImmediate()
    await tick(frontier)
  }
  await checkpoint(frontier)
  delay.disable()
  const filled = {
    offerUs: ((cpuSeconds() - cpu) / urls - makingCpu) * 1e6,
    offersPerSecondWall: Math.round(urls / ((performance.now() - beganMs) / 1_000)),
    longestPauseMs: Math.round(delay.max / 1e6),
    p99PauseMs: Math.round(delay.percentile(99) / 1e6),
    longestSealMs: Number(longestSealMs.toFixed(2)),
    checkpoints,
    ...frontier.figures(),
    peakRssMiB: mib(peakRss),
    peakOwnMiB: mib(peakOwn),
  }
  const disk = {
    bytesPerUrlRunning: spread(samples),
    bytesPerUrl: bytesPerWaiting(frontier),
  }
  await frontier.close()
  return {
    meanUrlLength: Math.round(characters / urls),
    makingUs: makingCpu * 1e6,
    baseRssMiB: mib(baseRss),
    filled,
    ...disk,
  }
}

/** Opens what waits, takes some of it, and says what that cost. */
async function take(): Promise<object> {
  cpu = cpuSeconds()
  let beganMs = performance.now()
  const frontier = await DiskFrontier.open(settings)
  await frontier.endReplay()
  const reopened = {
    openMs: Math.round(performance.now() - beganMs),
    openCpuMs: Math.round((cpuSeconds() - cpu) * 1_000),
  }
  const bytesPerUrlAfterOpen = bytesPerWaiting(frontier)

  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  cpu = cpuSeconds()
  beganMs = performance.now()
  const out: Turn[] = []
  const served = new Uint8Array(Math.ceil(urls / URLS_PER_HOST))
  let taken = 0
  let waits = 0
  const toTake = Math.min(frontier.figures().waiting, Number(values.take))
  for (let step = 0; taken < toTake; step++) {
    const turn = frontier.take()
    if (turn !== null) {
      out.push(turn)
      served[numberOfHost(turn.host)] = 1
    }
    if (out.length >= OUT_MAX || (turn === null && out.length > 0)) {
      const settled = out.shift() as Turn
      for (const entry of settled.entries) frontier.conclude(entry, true)
      frontier.settle(settled, { restMs: 1_000 })
      taken += settled.entries.length
      handled = taken
    } else if (turn === null) {
      waits++
      await frontier.idle()
      const atMs = frontier.nextReadyMs()
      if (atMs !== null) clock.advance(atMs - clock.nowMs())
      else await tick(frontier)
    }
    if (step % STEP === 0) {
      await setImmediate()
      await tick(frontier)
    }
  }
  await frontier.written()
  delay.disable()
  const took = {
    taken,
    takeUs: ((cpuSeconds() - cpu) / taken) * 1e6,
    takesPerSecondWall: Math.round(taken / ((performance.now() - beganMs) / 1_000)),
    hostsServed: served.reduce((sum, is) => sum + is, 0),
    waits,
    longestPauseMs: Math.round(delay.max / 1e6),
    p99PauseMs: Math.round(delay.percentile(99) / 1e6),
    longestSealMs: Number(longestSealMs.toFixed(2)),
    checkpoints,
    peakRssMiB: mib(peakRss),
    peakOwnMiB: mib(peakOwn),
    bytesPerUrl: bytesPerWaiting(frontier),
    bytesPerUrlRunning: spread(samples),
  }
  await frontier.close()
  return { bytesPerUrlAfterOpen, reopened, took }
}

if (values.part === 'take') {
  console.log(JSON.stringify(await take()))
} else {
  const filling = await fill()
  const again = [
    import.meta.filename,
    '--part',
    'take',
    '--dir',
    directory,
    '--urls',
    values.urls,
    '--memory',
    values.memory,
  ]
  const taking = spawnSync(process.execPath, [...again, '--take', values.take], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (taking.status !== 0) throw new Error(`taking ended with ${taking.status ?? taking.signal}`)
  if (values.dir === undefined) rmSync(directory, { recursive: true })
  console.log(
    JSON.stringify({
      bench: 'frontier-scale',
      seed: SEED,
      urls,
      memoryMiB: mib(memoryBytes),
      ...filling,
      ...(JSON.parse(taking.stdout.toString()) as object),
    }),
  )
}
