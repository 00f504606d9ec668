// What does a page cost in the sets of contents, in memory and on disk?
//
//   node --expose-gc bench/content-seen.ts [--set memory|disk|both] [--pages 1000000] [--memory MIB, 64]
//                                          [--records file|made] [--begin-with PAGES [--filter-bytes 32]] [--dir DIR] [--cold COMMAND]
//
// Contents are a function of a number. In memory: each claimed, kept, and claimed again as a duplicate. On disk: 30 % of
// the claims are duplicates, drawn evenly from all that was kept, which is the worst case; originals are read back from a
// file of lines like those of pages.jsonl (`file`), or made up from their position (`made`: the set alone, for sizes whose
// pages.jsonl would not fit here). `--begin-with` makes one run of so many pages at once, in seconds, and measures the set
// that goes on from there (with `made` records). A state is committed every 5,000 claims. Making digests and lines is not counted.
// Claims are timed 16 at a time: by the clock, and by the CPU time of this thread, which knows nothing of other work on the
// machine.
//
// `--cold COMMAND` is run by a shell in the directory before reopening, to drop its files from the page cache:
// 'for f in *; do dd if=$f iflag=nocache count=0 status=none; done' drops them and no others.

import { execSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Random } from '../src/base/index.ts'
import {
  type ContentSeen,
  type ContentState,
  DiskContentSeen,
  type FoundOriginal,
  MemoryContentSeen,
  type Original,
} from '../src/content-seen/index.ts'
import { PositionRunWriter } from '../src/content-seen/position-run-writer.ts'
import { AppendFile, LineReader } from '../src/disk/index.ts'
import type { CanonicalUrl } from '../src/url/index.ts'

const SEED = 'bench-content-seen'
const DUPLICATE_SHARE = 0.3
const CLAIMS_PER_BATCH = 1_000
const CLAIMS_PER_COMMIT = 5_000
const CLAIMS_TIMED = 16
const AFTER_REOPEN_CLAIMS = 200_000
const RECORD_BYTES = 420
/** In place of a position. */
const DUPLICATE = -1

const { values } = parseArgs({
  options: {
    set: { type: 'string', default: 'both' },
    pages: { type: 'string', default: '1000000' },
    memory: { type: 'string', default: '64' },
    records: { type: 'string', default: 'file' },
    'begin-with': { type: 'string', default: '0' },
    'filter-bytes': { type: 'string', default: '32' },
    dir: { type: 'string', default: tmpdir() },
    cold: { type: 'string' },
  },
})

const pagesAtFirst = Number(values['begin-with'])

/** A digest like those of SHA-256: 256 bits that look like chance. Those of the pages at first ascend with their numbers. */
function setDigest(digest: Buffer, page: number): void {
  setAnyDigest(digest, page)
  if (page >= pagesAtFirst) return
  const jitter = digest.readUInt32BE(0) / 2 ** 32
  digest.writeUInt32BE(Math.floor(((page + 0.9 * jitter) / pagesAtFirst) * 2 ** 32), 0)
}

function setAnyDigest(digest: Buffer, page: number): void {
  let state = Math.imul(page + 1, 0x9e3779b1)
  for (let i = 0; i < 8; i++) {
    state = (state + 0x9e3779b9) | 0
    let z = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97)
    digest.writeInt32LE(z ^ (z >>> 15), 4 * i)
  }
}

const textOf = (digest: Buffer): string => `sha256:${digest.toString('hex')}`

function originalOf(page: number, digest: Buffer): Original {
  const url = `https://www.site-${page % 5_003}.example/section/page-with-a-name-${page}.html` as CanonicalUrl
  return { url, fetchedAtMs: 1.7e12 + page, payloadDigest: textOf(digest) }
}

function memoryBytes(): number {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

interface Batch {
  readonly pages: Int32Array
  readonly digests: readonly Buffer[]
  readonly originals: Original[]
}

const batch: Batch = {
  pages: new Int32Array(CLAIMS_PER_BATCH),
  digests: Array.from({ length: CLAIMS_PER_BATCH }, () => Buffer.alloc(32)),
  originals: [],
}

interface Measured {
  claims: number
  cpuMs: number
  wallMs: number
  longestMs: number
  longestCpuMs: number
}

/** Where page records are written and read back. */
interface Records {
  append(record: FoundOriginal): number
  readonly readOriginal: (position: number) => FoundOriginal | Promise<FoundOriginal>
  close(): Promise<void>
}

async function openFile(directory: string): Promise<Records> {
  const path = join(directory, 'pages.jsonl')
  const file = await AppendFile.open(path)
  const lines = await LineReader.open(path)
  return {
    append: ({ digest, original }) => {
      const { url, fetchedAtMs } = original
      const line = JSON.stringify({
        url,
        status: 200,
        digest,
        fetchedAt: new Date(fetchedAtMs).toISOString(),
        rest: '',
      })
      return file.append(`${line.padEnd(RECORD_BYTES - 1)}\n`)
    },
    readOriginal: async (position) => {
      await file.flush()
      const record = JSON.parse(await lines.readAt(position)) as {
        url: CanonicalUrl
        digest: string
        fetchedAt: string
      }
      const { url, digest, fetchedAt } = record
      return { digest, original: { url, fetchedAtMs: Date.parse(fetchedAt), payloadDigest: digest } }
    },
    close: async () => {
      await lines.close()
      await file.close()
    },
  }
}

function madeUp(): Records {
  let length = pagesAtFirst * RECORD_BYTES
  return {
    append: () => (length += RECORD_BYTES) - RECORD_BYTES,
    readOriginal: (position) => {
      const page = position / RECORD_BYTES
      const digest = Buffer.alloc(32)
      setDigest(digest, page)
      return { digest: textOf(digest), original: originalOf(page, digest) }
    },
    close: () => Promise.resolve(),
  }
}

class Load {
  readonly #random = new Random(SEED)
  readonly #records: Records
  kept = pagesAtFirst

  constructor(records: Records) {
    this.#records = records
  }

  /** Fills the batch; new pages get the numbers that follow, in order. */
  fill(): void {
    let next = this.kept
    batch.originals.length = 0
    for (let i = 0; i < CLAIMS_PER_BATCH; i++) {
      const isDuplicate = next > 0 && this.#random.fraction() < DUPLICATE_SHARE
      const page = isDuplicate ? this.#random.below(next) : next++
      const digest = batch.digests[i] as Buffer
      batch.pages[i] = page
      setDigest(digest, page)
      batch.originals.push(originalOf(page, digest))
    }
  }

  async measure(seen: ContentSeen, claims: number, onCommit: () => void): Promise<Measured> {
    const total: Measured = { claims: 0, cpuMs: 0, wallMs: 0, longestMs: 0, longestCpuMs: 0 }
    const pending: Promise<void>[] = []
    while (total.claims < claims) {
      this.fill()
      const positions: number[] = []
      for (let i = 0, next = this.kept; i < CLAIMS_PER_BATCH; i++) {
        const isNew = batch.pages[i] === next
        if (isNew) next++
        const original = batch.originals[i] as Original
        positions.push(isNew ? this.#records.append({ digest: original.payloadDigest ?? '', original }) : DUPLICATE)
      }
      pending.length = 0
      const cpu = process.cpuUsage()
      const start = performance.now()
      for (let from = 0; from < CLAIMS_PER_BATCH; from += CLAIMS_TIMED) {
        const pieceCpu = process.threadCpuUsage()
        const pieceStart = performance.now()
        for (let i = from; i < Math.min(CLAIMS_PER_BATCH, from + CLAIMS_TIMED); i++)
          this.#ask(seen, i, positions, pending)
        const spent = process.threadCpuUsage(pieceCpu)
        total.longestMs = Math.max(total.longestMs, performance.now() - pieceStart)
        total.longestCpuMs = Math.max(total.longestCpuMs, (spent.user + spent.system) / 1_000)
      }
      await Promise.all(pending)
      // Syncs in the background need a turn of the loop.
      await new Promise((resolve) => void setImmediate(resolve))
      const spent = process.cpuUsage(cpu)
      total.wallMs += performance.now() - start
      total.cpuMs += (spent.user + spent.system) / 1_000
      total.claims += CLAIMS_PER_BATCH
      if (total.claims % CLAIMS_PER_COMMIT === 0) onCommit()
    }
    return total
  }

  #ask(seen: ContentSeen, i: number, positions: readonly number[], pending: Promise<void>[]): void {
    const answer = seen.claim(batch.digests[i] as Buffer)
    // A promise also where nobody had it, while the disk is behind.
    if (answer instanceof Promise) pending.push(answer.then((given) => this.#settle(seen, i, positions, given)))
    else this.#settle(seen, i, positions, answer)
  }

  #settle(seen: ContentSeen, i: number, positions: readonly number[], given: Original | null): void {
    const original = batch.originals[i] as Original
    const position = positions[i] as number
    if (given !== null) {
      expectSame(given, original)
      return
    }
    if (position === DUPLICATE) throw new Error(`page ${batch.pages[i]} was forgotten`)
    seen.keep(batch.digests[i] as Buffer, original, position)
    this.kept++
  }
}

function expectSame(given: Original | null, expected: Original): void {
  if (given?.url !== expected.url) throw new Error(`${expected.url}: answered ${given?.url ?? 'nobody'}`)
}

async function inMemory(pages: number): Promise<void> {
  const before = memoryBytes()
  const seen = new MemoryContentSeen()
  const load = new Load(madeUp())
  const { claims, cpuMs } = await load.measure(seen, pages / (1 - DUPLICATE_SHARE), () => undefined)
  const { size } = seen
  console.log(
    JSON.stringify({
      bench: 'content-seen',
      set: 'memory',
      seed: SEED,
      pages: size,
      claimCpuNs: Math.round((cpuMs * 1e6) / claims),
      bytesPerPageWithUrl: globalThis.gc === undefined ? null : Math.round((memoryBytes() - before) / seen.size),
    }),
  )
}

function runBytesIn(directory: string): number {
  const runs = readdirSync(directory).filter((name) => name.endsWith('.run'))
  return runs.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
}

/** The state of a set that has one run of all the pages at first. */
function makeRun(directory: string): ContentState {
  const filterBytes = Number(values['filter-bytes'])
  const facts = {
    path: join(directory, 'content-1.run'),
    number: 1,
    pages: pagesAtFirst,
    savedFilterBytes: filterBytes,
  }
  const writer = new PositionRunWriter(facts)
  const digest = Buffer.alloc(32)
  for (let page = 0; page < pagesAtFirst; page++) {
    setDigest(digest, page)
    writer.add(digest.readUInt32BE(0), digest.readUInt32BE(4), page * RECORD_BYTES)
  }
  for (const _ of writer.finish());
  writer.syncNow()
  writer.abandon()
  return { runs: [{ number: 1, pages: pagesAtFirst, filterBytes }], runsMade: 1, replayFrom: 0 }
}

const perSecond = ({ claims, wallMs }: Measured): number => Math.round((claims / wallMs) * 1_000)

async function onDisk(pages: number): Promise<void> {
  const directory = mkdtempSync(join(values.dir, 'portolan-bench-contents-'))
  const setBytes = Number(values.memory) * 2 ** 20
  try {
    const rssBefore = process.memoryUsage.rss()
    const records = values.records === 'file' ? await openFile(directory) : madeUp()
    const { readOriginal } = records
    const load = new Load(records)
    let diskBytesMax = 0
    let rssBytesMax = 0
    let bufferBytesMax = 0
    const stateAtFirst = pagesAtFirst === 0 ? null : makeRun(directory)
    const first = await DiskContentSeen.open({ directory, memoryBytes: setBytes, state: stateAtFirst, readOriginal })
    const onCommit = (seen: DiskContentSeen) => (): void => {
      seen.committed(seen.state())
      diskBytesMax = Math.max(diskBytesMax, runBytesIn(directory))
      const { rss, arrayBuffers } = process.memoryUsage()
      rssBytesMax = Math.max(rssBytesMax, rss)
      bufferBytesMax = Math.max(bufferBytesMax, arrayBuffers)
    }
    const growth = await load.measure(first, (0.8 * pages) / (1 - DUPLICATE_SHARE), onCommit(first))
    const last = await load.measure(first, (0.2 * pages) / (1 - DUPLICATE_SHARE), onCommit(first))
    await first.flush()
    const state = first.state()
    first.committed(state)
    // Without what a merge that is going on has written so far: that is in the peak.
    const { diskBytes } = first
    const pagesOnDisk = first.size
    const rssGrowth = rssBytesMax - rssBefore
    const bufferBytes = bufferBytesMax
    await first.close()
    if (values.cold !== undefined) execSync(values.cold, { cwd: directory })
    const openStart = performance.now()
    const openCpu = process.cpuUsage()
    const seen = await DiskContentSeen.open({ directory, memoryBytes: setBytes, state, readOriginal })
    const openMs = performance.now() - openStart
    const opened = process.cpuUsage(openCpu)
    const again = await load.measure(seen, Math.min(AFTER_REOPEN_CLAIMS, pages), onCommit(seen))
    console.log(
      JSON.stringify({
        bench: 'content-seen',
        set: 'disk',
        seed: SEED,
        pages: pagesOnDisk,
        memoryMiB: Number(values.memory),
        records: values.records,
        claimsPerSecond: perSecond(growth),
        lastFifthClaimsPerSecond: perSecond(last),
        lastFifthCpuUs: Number(((last.cpuMs * 1e3) / last.claims).toFixed(2)),
        longestPauseMs: Math.round(Math.max(growth.longestMs, last.longestMs)),
        longestPauseCpuMs: Math.round(Math.max(growth.longestCpuMs, last.longestCpuMs)),
        runs: state.runs.length,
        filterBytes: state.runs.map((run) => run.filterBytes),
        bytesPerPage: Number((diskBytes / pagesOnDisk).toFixed(2)),
        peakBytesPerPage: Number((diskBytesMax / pagesOnDisk).toFixed(2)),
        setMemoryMiB: Number((seen.memoryBytes / 2 ** 20).toFixed(1)),
        // The set has all its memory in buffers; the rest of the growth is the heap of this bench.
        buffersMiB: Math.round(bufferBytes / 2 ** 20),
        rssGrowthMiB: Math.round(rssGrowth / 2 ** 20),
        isCold: values.cold !== undefined,
        reopenMs: Math.round(openMs),
        reopenCpuMs: Math.round((opened.user + opened.system) / 1_000),
        afterReopenClaimsPerSecond: perSecond(again),
        afterReopenCpuUs: Number(((again.cpuMs * 1e3) / again.claims).toFixed(2)),
      }),
    )
    await seen.close()
    await records.close()
  } finally {
    rmSync(directory, { recursive: true })
  }
}

for (const pages of values.pages.split(',').map(Number)) {
  if (values.set !== 'disk') await inMemory(pages)
  if (values.set !== 'memory') await onDisk(pages)
}
