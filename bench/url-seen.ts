// How many URLs per second can be asked about, and what does one cost in memory? How long is the
// longest pause while the set grows?
//
//   node bench/url-seen.ts [millions of URLs, 10]
//
// Fingerprints come from a fixed seed, by batches of 35 as the links of a page would; 30 % are new,
// which is what a broad crawl meets. CPU time of this process; making the fingerprints is not counted.
//
// The last line is of the set on disk while its memory still holds all, with the caches of the processor swept between two pages as the rest
// of a page's walk does: what a crawl of a day pays for the links of one page (Generation.touch()).

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Random } from '../src/base/index.ts'
import { DiskUrlSeen, MemoryUrlSeen, newBatch } from '../src/url-seen/index.ts'

const SEED = 'bench-url-seen'
const BAR_PER_SECOND = 1_000_000
const NEW_SHARE = 0.3
const BATCH = 35
/** Batches asked between two readings of the clock: their time is the grain of the pause. */
const BATCHES_PER_READING = 20
const URLS = Number(process.argv[2] ?? 10) * 1e6

const random = new Random(SEED)
const seen = new MemoryUrlSeen()
const known = { high: new Uint32Array(URLS), low: new Uint32Array(URLS), count: 0 }
const batches = Array.from({ length: BATCHES_PER_READING }, () => newBatch(BATCH))

/** Fills the batches with new and known fingerprints. */
function fill(newShare: number): void {
  for (const batch of batches) {
    batch.count = BATCH
    for (let i = 0; i < BATCH; i++) {
      if (known.count === 0 || (known.count < URLS && random.fraction() < newShare)) {
        known.high[known.count] = random.next32()
        known.low[known.count] = random.next32()
        known.count++
      }
      const pick = random.fraction() < newShare ? known.count - 1 : random.below(known.count)
      batch.high[i] = known.high[pick] as number
      batch.low[i] = known.low[pick] as number
    }
  }
}

interface Measured {
  checks: number
  cpuMs: number
  longestMs: number
}

function measure(checks: number, newShare: number): Measured {
  const total: Measured = { checks: 0, cpuMs: 0, longestMs: 0 }
  while (total.checks < checks) {
    fill(newShare)
    const before = process.cpuUsage()
    for (const batch of batches) seen.meet(batch)
    const { user, system } = process.cpuUsage(before)
    const cpuMs = (user + system) / 1_000
    total.cpuMs += cpuMs
    total.longestMs = Math.max(total.longestMs, cpuMs)
    total.checks += BATCH * BATCHES_PER_READING
  }
  return total
}

const rows: Record<string, number>[] = []
for (const size of [1e4, 1e5, 1e6, URLS].filter((one, i, all) => one <= URLS && all.indexOf(one) === i)) {
  const growing = measure((size - seen.size) / NEW_SHARE, NEW_SHARE)
  const still = measure(Math.min(2e6, 20 * size), 0)
  const row = {
    urls: seen.size,
    growingNs: Math.round((growing.cpuMs * 1e6) / growing.checks),
    knownNs: Math.round((still.cpuMs * 1e6) / still.checks),
    longestPauseMs: Number(growing.longestMs.toFixed(1)),
    bytesPerUrl: Number((seen.memoryBytes / seen.size).toFixed(1)),
  }
  rows.push(row)
  console.log(
    `${row.urls} URLs: ${(1e3 / row.growingNs).toFixed(1)} M checks/s with ${NEW_SHARE * 100} % new (${row.growingNs} ns), ` +
      `${(1e3 / row.knownNs).toFixed(1)} M/s all known (${row.knownNs} ns), longest pause ${row.longestPauseMs} ms, ${row.bytesPerUrl} bytes a URL`,
  )
}

/** µs for the links of one page, the least of some rounds. */
async function pagesThroughDiskSet(): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'portolan-url-seen-'))
  const set = await DiskUrlSeen.open({ directory, memoryBytes: 256 * 2 ** 20, state: null })
  const swept = new Uint8Array(2 ** 23)
  let least = Infinity
  known.count = 0
  try {
    for (let round = 0; round < 20; round++) {
      let ms = 0
      for (let reading = 0; reading < 200; reading++) {
        fill(NEW_SHARE)
        for (const batch of batches) {
          for (let i = 0; i < 100_000; i += 64) swept[(reading * 7_919 + i) & (swept.length - 1)] = reading
          const beganMs = performance.now()
          const waits = set.meet(batch)
          ms += performance.now() - beganMs
          await waits
        }
      }
      if (round > 10) least = Math.min(least, (ms * 1_000) / (200 * BATCHES_PER_READING))
    }
  } finally {
    await set.close()
    rmSync(directory, { recursive: true })
  }
  return least
}

const pageMicros = Number((await pagesThroughDiskSet()).toFixed(2))
console.log(`${BATCH} links of a page through the set on disk, ${known.count} URLs known: ${pageMicros} µs`)
console.log(JSON.stringify({ bench: 'url-seen', seed: SEED, barPerSecond: BAR_PER_SECOND, rows, pageMicros }))
if (rows.some((row) => 1e9 / (row['growingNs'] ?? Infinity) < BAR_PER_SECOND)) process.exitCode = 1
