// How many URLs per second can the seen set on disk be asked about, what does one cost on disk, how much memory does
// it take, and how long does it take to open it again?
//
//   node bench/url-seen-scale.ts [--urls 1000000,10000000] [--memory MIB, 256] [--batch URLS, 4096] [--known uniform|popular]
//                                [--dir DIR] [--cold COMMAND] [--quick]
//
// Fingerprints are a function of a number: hosts by a power law (the first of 200,000 has 1.7 % of the URLs), 30 % of the
// checks are new. The known ones are drawn evenly over all that was met, the worst case (`uniform`), or half of them
// from the oldest thousandth (`popular`), as links to front pages would. Making the fingerprints is not counted.
// A state is committed every 100,000 checks.
//
// `--quick` meets new URLs only up to four fifths of the size, which takes a quarter of the time. The last fifth is what is
// reported, and met as always.
//
// `--cold COMMAND` is run by a shell in the set's directory before and after reopening, to drop its files from the page
// cache: 'for f in *; do dd if=$f iflag=nocache count=0 status=none; done' drops them and no others.

import { execSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Random } from '../src/base/index.ts'
import { DiskUrlSeen, newBatch } from '../src/url-seen/index.ts'

const SEED = 'bench-url-seen-scale'
const NEW_SHARE = 0.3
const HOSTS = 200_000
const CHECKS_PER_COMMIT = 100_000
const STILL_CHECKS = 4_000_000
/** A batch that took longer by the clock is counted; the CPU time beside tells our own part from what others took. */
const PAUSE_MS = 50

const { values } = parseArgs({
  options: {
    urls: { type: 'string', default: '1000000,10000000' },
    memory: { type: 'string', default: '256' },
    batch: { type: 'string', default: '4096' },
    known: { type: 'string', default: 'uniform' },
    dir: { type: 'string', default: tmpdir() },
    cold: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
const memoryBytes = Number(values.memory) * 2 ** 20
const batchUrls = Number(values.batch)

function mix(number: number): number {
  let z = Math.imul(number ^ (number >>> 16), 0x21f0aaad)
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97)
  return (z ^ (z >>> 15)) >>> 0
}

class Load {
  readonly batch = newBatch(batchUrls)
  readonly #random = new Random(SEED)
  known = 0

  fill(newShare: number): void {
    const { batch } = this
    batch.count = batchUrls
    for (let i = 0; i < batchUrls; i++) {
      const isNew = this.known === 0 || this.#random.fraction() < newShare
      this.#set(i, isNew ? this.known++ : this.#knownUrl())
    }
  }

  #knownUrl(): number {
    const isPopular = values.known === 'popular' && this.#random.fraction() < 0.5
    return this.#random.below(isPopular ? Math.ceil(this.known / 1_000) : this.known)
  }

  #set(place: number, url: number): void {
    const host = Math.floor(HOSTS * (mix(url ^ 0x5bd1e995) / 2 ** 32) ** 3)
    this.batch.high[place] = ((mix(host + 1) & 0xffff) << 16) | (mix(url + 0x1b873593) & 0xffff)
    this.batch.low[place] = mix(mix(url) ^ 0x2545f491)
  }
}

interface Measured {
  checks: number
  wallMs: number
  cpuMs: number
  longestMs: number
  longestCpuMs: number
  longPauses: number
  loadMax: number
  diskBytesMax: number
  rssBytesMax: number
  /** What the set says of itself. */
  setBytesMax: number
}

async function measure(
  seen: DiskUrlSeen,
  load: Load,
  directory: string,
  share: number,
  checks: number,
): Promise<Measured> {
  const total: Measured = {
    checks: 0,
    wallMs: 0,
    cpuMs: 0,
    longestMs: 0,
    longestCpuMs: 0,
    longPauses: 0,
    loadMax: 0,
    diskBytesMax: 0,
    rssBytesMax: 0,
    setBytesMax: 0,
  }
  let sinceCommit = 0
  while (total.checks < checks) {
    load.fill(share)
    const cpu = process.cpuUsage()
    const start = performance.now()
    const wait = seen.meet(load.batch)
    // Where the answer is there at once we wait for nothing, but syncs in the background need a turn of the loop.
    await (wait ?? new Promise((resolve) => void setImmediate(resolve)))
    const ms = performance.now() - start
    const { user, system } = process.cpuUsage(cpu)
    total.wallMs += ms
    total.cpuMs += (user + system) / 1_000
    total.longestMs = Math.max(total.longestMs, ms)
    total.longestCpuMs = Math.max(total.longestCpuMs, (user + system) / 1_000)
    if (ms > PAUSE_MS) total.longPauses++
    total.checks += batchUrls
    sinceCommit += batchUrls
    if (sinceCommit < CHECKS_PER_COMMIT) continue
    sinceCommit = 0
    total.diskBytesMax = Math.max(total.diskBytesMax, bytesIn(directory))
    total.rssBytesMax = Math.max(total.rssBytesMax, process.memoryUsage.rss())
    total.setBytesMax = Math.max(total.setBytesMax, seen.memoryBytes)
    total.loadMax = Math.max(total.loadMax, loadavg()[0] ?? 0)
    seen.committed(seen.state())
  }
  return total
}

function bytesIn(directory: string): number {
  return readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
}

function beforeColdReads(directory: string): void {
  if (values.cold !== undefined) execSync(values.cold, { cwd: directory })
}

const perSecond = (checks: number, ms: number): number => Math.round((checks / ms) * 1_000)

for (const urls of values.urls.split(',').map(Number)) {
  const directory = mkdtempSync(join(values.dir, 'portolan-bench-seen-'))
  try {
    const load = new Load()
    const rssBefore = process.memoryUsage.rss()
    const first = await DiskUrlSeen.open({ directory, memoryBytes, state: null })
    const shareAtFirst = values.quick ? 1 : NEW_SHARE
    const most = await measure(first, load, directory, shareAtFirst, (0.8 * urls) / shareAtFirst)
    const last = await measure(first, load, directory, NEW_SHARE, (0.2 * urls) / NEW_SHARE)
    const runs = first.state().runs.length
    const compactStart = performance.now()
    await first.compact()
    const compactMs = performance.now() - compactStart
    const state = first.state()
    first.committed(state)
    const diskBytes = bytesIn(directory)
    await first.close()
    beforeColdReads(directory)
    const openStart = performance.now()
    const seen = await DiskUrlSeen.open({ directory, memoryBytes, state })
    const openMs = performance.now() - openStart
    beforeColdReads(directory)
    const again = await measure(seen, load, directory, NEW_SHARE, Math.min(STILL_CHECKS, urls))
    const row = {
      bench: 'url-seen-scale',
      date: new Date().toISOString().slice(0, 10),
      node: process.version,
      loadAverageMax: Number(Math.max(most.loadMax, last.loadMax, again.loadMax).toFixed(1)),
      seed: SEED,
      urls: seen.size,
      memoryMiB: Number(values.memory),
      batch: batchUrls,
      known: values.known,
      isQuick: values.quick,
      checksPerSecond: perSecond(most.checks + last.checks, most.wallMs + last.wallMs),
      lastFifthChecksPerSecond: perSecond(last.checks, last.wallMs),
      lastFifthCpuNs: Math.round((last.cpuMs * 1e6) / last.checks),
      longestPauseMs: Math.round(Math.max(most.longestMs, last.longestMs)),
      longestPauseCpuMs: Math.round(Math.max(most.longestCpuMs, last.longestCpuMs)),
      pausesOver50Ms: most.longPauses + last.longPauses,
      runs,
      bytesPerUrl: Number((diskBytes / state.urls).toFixed(2)),
      peakBytesPerUrl: Number((Math.max(most.diskBytesMax, last.diskBytesMax) / state.urls).toFixed(2)),
      setMemoryMiB: Math.round(Math.max(most.setBytesMax, last.setBytesMax, again.setBytesMax) / 2 ** 20),
      rssGrowthMiB: Math.round((Math.max(most.rssBytesMax, last.rssBytesMax) - rssBefore) / 2 ** 20),
      compactMs: Math.round(compactMs),
      isCold: values.cold !== undefined,
      reopenMs: Math.round(openMs),
      afterReopenChecksPerSecond: perSecond(again.checks, again.wallMs),
      afterReopenCpuNs: Math.round((again.cpuMs * 1e6) / again.checks),
    }
    console.log(JSON.stringify(row))
    await seen.close()
  } finally {
    rmSync(directory, { recursive: true })
  }
}
