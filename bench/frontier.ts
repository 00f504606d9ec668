// What does a URL cost in the frontier, going in and coming out, with few hosts and with a million,
// and how much memory does it take while it waits?
//
//   node bench/frontier.ts          needs about 1 GB of memory for the million hosts
//
// Both frontiers: the one in memory, and the one on disk with room for everything, which must cost little more. What
// the disk costs when it is needed is told by bench/frontier-scale.ts.
//
// Hosts, URLs and order come from a fixed seed. Time is CPU time of this process; making the URLs is
// not counted. Each row runs in a process of its own, so that no row warms the code or the heap of the next.
// Two rests: none (20 URLs a turn), and one second on a clock that jumps to the next host that is rested.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ManualClock, Random } from '../src/base/index.ts'
import { DiskFrontier, type Frontier, type FrontierEntry, MemoryFrontier, type Turn } from '../src/frontier/index.ts'
import type { CanonicalUrl, HostKey } from '../src/url/index.ts'

const SEED = 'bench-frontier'
const LINKS_PER_PAGE = 35
const HOSTS_PER_ADDRESS = 4
const OUT_MAX = 256

interface Row {
  readonly kind?: 'memory' | 'disk'
  readonly hosts: number
  readonly urls: number
  readonly delayMs: number
}

const ROWS: readonly Row[] = [
  { hosts: 64, urls: 1_000_000, delayMs: 0 },
  { hosts: 64, urls: 1_000_000, delayMs: 1_000 },
  { hosts: 10_000, urls: 1_000_000, delayMs: 0 },
  { hosts: 10_000, urls: 1_000_000, delayMs: 1_000 },
  { hosts: 1_000_000, urls: 2_000_000, delayMs: 0 },
  { hosts: 1_000_000, urls: 2_000_000, delayMs: 1_000 },
]

/** A text with memory of its own, as the url room hands them out: not a chain of pieces. */
function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

function makeEntries({ hosts, urls }: Row): FrontierEntry[] {
  const random = new Random(SEED)
  const keys = Array.from({ length: hosts }, (_, i) => flat(`www.site-${i}.example`) as HostKey)
  let via: CanonicalUrl | null = null
  return Array.from({ length: urls }, (_, i) => {
    const host = keys[i < hosts ? i : random.below(hosts)] as HostKey
    if (i % LINKS_PER_PAGE === 0) via = flat(`https://${host}/index/page-${i}.html`) as CanonicalUrl
    const path = `section-${random.below(100)}/subsection-${random.below(100)}/a-page-with-a-name-${i}.html`
    return {
      url: flat(`https://${host}/${path}`) as CanonicalUrl,
      host,
      via,
      depth: 3,
      hops: 0,
      band: 4,
      isSeed: false,
      tries: 0,
      pauses: 0,
    }
  })
}

function memoryBytes(): number {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function cpuNs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) * 1_000
}

/** Takes everything out, up to OUT_MAX turns at a time, as visitors would; the number of turns. */
function drain(
  frontier: Frontier,
  clock: ManualClock,
  restMs: number,
  addresses: ReadonlyMap<HostKey, string>,
): number {
  const out: Turn[] = []
  let granted = 0
  let settled = 0
  let turns = 0
  const settleFirst = (): void => {
    const turn = out[settled % OUT_MAX] as Turn
    for (const entry of turn.entries) frontier.conclude(entry, true)
    frontier.settle(turn, { restMs })
    settled++
  }
  for (;;) {
    const turn = frontier.take()
    if (turn === null) {
      if (settled < granted) {
        settleFirst()
        continue
      }
      const atMs = frontier.nextReadyMs()
      if (atMs === null) return turns
      clock.advance(atMs - clock.nowMs())
      continue
    }
    turns++
    if (frontier.claimAddress(turn, addresses.get(turn.host) as string) !== 0)
      frontier.settle(turn, { restMs: 0, unvisited: turn.entries })
    else out[granted++ % OUT_MAX] = turn
    if (granted - settled === OUT_MAX) settleFirst()
  }
}

async function run(row: Row): Promise<object> {
  const clock = new ManualClock()
  let entries = makeEntries(row)
  const settings = { clock, delayMs: row.delayMs, ipDelayMs: 0, ipConnections: 8 }
  const directory = mkdtempSync(join(tmpdir(), 'portolan-bench-frontier-'))
  const onDisk = row.kind === 'disk' ? await DiskFrontier.open({ ...settings, directory, memoryBytes: 1e12 }) : null
  await onDisk?.endReplay()
  const frontier = onDisk ?? new MemoryFrontier(settings)
  const withEntriesBytes = memoryBytes()
  const offerNs = cpuNs(() => {
    for (const entry of entries) frontier.offer(entry)
  })
  const waitingBytes = memoryBytes() - withEntriesBytes
  const textBytes = entries.reduce((sum, entry) => sum + entry.url.length, 0)
  const addresses = new Map(
    [...new Set(entries.map((entry) => entry.host))].map((host, i) => {
      const number = Math.floor(i / HOSTS_PER_ADDRESS)
      return [host, flat(`10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`)] as const
    }),
  )
  entries = []
  let turns = 0
  const drainNs = cpuNs(() => {
    turns = drain(frontier, clock, row.delayMs, addresses)
  })
  await onDisk?.close()
  rmSync(directory, { recursive: true })
  if (frontier.figures().waiting > 0) throw new Error('the frontier was not drained')
  return {
    ...row,
    offerNs: Math.round(offerNs / row.urls),
    takeNsPerUrl: Math.round(drainNs / row.urls),
    takeNsPerTurn: Math.round(drainNs / turns),
    // The texts of the URLs belong to the caller in this bench; the frontier keeps them alive.
    bytesPerUrlBesideText: Math.round(waitingBytes / row.urls),
    meanUrlLength: Math.round(textBytes / row.urls),
  }
}

function perSecond(ns: number | undefined): string {
  return `${(1e3 / (ns ?? 1)).toFixed(2)} M/s`
}

const chosen = process.argv[2]
if (chosen === undefined) {
  const rows = ROWS.flatMap((row) => [
    { kind: 'memory', ...row },
    { kind: 'disk', ...row },
  ]).map((row) => {
    const flags = ['--expose-gc', '--max-old-space-size=3000']
    const { stdout } = spawnSync(process.execPath, [...flags, fileURLToPath(import.meta.url), JSON.stringify(row)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const result = JSON.parse(stdout) as Record<string, number>
    console.log(
      `${row.kind}: ${row.hosts} hosts, ${row.urls} URLs, rest ${row.delayMs} ms: offer ${result['offerNs']} ns (${perSecond(result['offerNs'])}), ` +
        `take and settle ${result['takeNsPerTurn']} ns a turn, ${result['takeNsPerUrl']} ns a URL (${perSecond(result['takeNsPerUrl'])}), ` +
        `${result['bytesPerUrlBesideText']} bytes per waiting URL beside its text of ${result['meanUrlLength']}`,
    )
    return result
  })
  console.log(JSON.stringify({ bench: 'frontier', seed: SEED, rows }))
} else {
  console.log(JSON.stringify(await run(JSON.parse(chosen) as Row)))
}
