// What does it cost to compress a page, and what is won? The figures behind decision 0020.
//
//   node bench/compression.ts [pages] [rounds]
//
// Real pages (Debian documentation, 9 to 24 KiB) and pages of the test web. All ways are tried in turn, round by round, so that
// what the machine does besides falls on all alike; the figures are the least of the rounds, because noise only ever adds.
// `cpu` is that of the whole process, `own` that of the thread that crawls.

import { hash, randomBytes } from 'node:crypto'
import type { Transform } from 'node:stream'
import {
  constants,
  crc32,
  createGzip,
  createZstdCompress,
  deflateRawSync,
  gzip,
  gzipSync,
  type ZlibOptions,
  zstdCompressSync,
} from 'node:zlib'
import { GzipKernel } from '../src/store/gzip-kernel.ts'
import { ForkedTestWeb } from '../testweb/index.ts'
import { corpusPages } from './corpus.ts'

const wanted = Number(process.argv[2] ?? 200)
const rounds = Number(process.argv[3] ?? 7)

function documentation(name: string): Buffer[] {
  const found: Buffer[] = []
  for (const { bytes } of corpusPages([name])) {
    if (bytes.length > 9 * 1_024 && bytes.length < 24 * 1_024) found.push(bytes)
    if (found.length === wanted) break
  }
  return found
}

async function testPages(): Promise<Buffer[]> {
  const web = await ForkedTestWeb.start({ seed: 'bench', hosts: 4, pages: wanted / 4, logMax: 0 })
  const found: Buffer[] = []
  for (const url of web.truth().pages.keys()) {
    const answer = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
    const bytes = Buffer.from(await answer.arrayBuffer())
    if (bytes.length > 9 * 1_024) found.push(bytes)
  }
  await web.stop()
  return found
}

interface Way {
  readonly name: string
  readonly pages: readonly Buffer[]
  /** Gives the bytes it made of all pages. */
  readonly run: (pages: readonly Buffer[]) => Promise<number> | number
}

const ways: Way[] = []
const add = (name: string, pages: readonly Buffer[], run: Way['run']): void => void ways.push({ name, pages, run })
const each =
  (compress: (page: Buffer) => number): Way['run'] =>
  (pages) =>
    pages.reduce((sum, page) => sum + compress(page), 0)

const gzipped = (options: ZlibOptions): Way['run'] =>
  each((page) => gzipSync(page, { chunkSize: Math.min(16_384, Math.max(1_024, page.length)), ...options }).length)
const zstd = (level: number): Way['run'] =>
  each(
    (page) =>
      zstdCompressSync(page, {
        pledgedSrcSize: page.length,
        chunkSize: Math.min(16_384, Math.max(1_024, page.length)),
        params: { [constants.ZSTD_c_compressionLevel]: level, [constants.ZSTD_c_checksumFlag]: 1 },
      }).length,
  )

/** As the archive does it unless told a level: by its own kernel, in place. */
const kernel = new GzipKernel()
const byKernel: Way['run'] = each((page) => kernel.memberOfBytes(page).length)

/** As the archive does it by level: engines that stay, four at once, one write for every member. */
function lanes(make: () => Transform & { reset?(): void }, resets: boolean): Way['run'] {
  const engines = Array.from({ length: 4 }, make)
  let bytes = 0
  for (const engine of engines) engine.on('data', (piece: Buffer) => (bytes += piece.length))
  return async (pages) => {
    bytes = 0
    let next = 0
    const go = async (engine: Transform & { reset?(): void }): Promise<void> => {
      for (let page = pages[next++]; page !== undefined; page = pages[next++]) {
        await new Promise((resolve) => engine.write(page, resolve))
        if (resets) engine.reset?.()
      }
    }
    await Promise.all(engines.map(go))
    return bytes
  }
}
const gzipLanes = (): Way['run'] =>
  lanes(() => createGzip({ level: 4, flush: constants.Z_FINISH, chunkSize: 65_536 }), true)
const zstdLanes = (): Way['run'] => {
  const params = { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 }
  return lanes(() => createZstdCompress({ params, flush: constants.ZSTD_e_end, chunkSize: 65_536 }), false)
}
const gzipCalls: Way['run'] = async (pages) => {
  let bytes = 0
  for (let i = 0; i < pages.length; i += 64) {
    await Promise.all(
      pages.slice(i, i + 64).map(
        (page) =>
          new Promise<void>((resolve, reject) => {
            gzip(page, { level: 4 }, (error, made) => {
              bytes += made.length
              if (error === null) resolve()
              else reject(error)
            })
          }),
      ),
    )
  }
  return bytes
}

const postgres = documentation('postgresql-doc-15')
const sets: [string, Buffer[]][] = [
  ['postgresql-doc', postgres],
  ['apache2-doc', documentation('apache2-doc')],
  ['python-doc', documentation('python3.11-doc')],
  ['test web', await testPages()],
]
for (const [set, pages] of sets.filter(([, pages]) => pages.length > 0)) {
  const mean = pages.reduce((sum, page) => sum + page.length, 0) / pages.length
  console.log(`${set}: ${pages.length} pages of ${mean.toFixed(0)} bytes`)
  add(`${set}, kernel`, pages, byKernel)
  for (let level = 1; level <= 9; level++) add(`${set}, gzip -${level}`, pages, gzipped({ level }))
  for (const level of [-5, 1, 2, 3, 4, 5, 6, 9]) add(`${set}, zstd ${level}`, pages, zstd(level))
}
const someHtml = postgres.length > 0 ? postgres : (sets[3]?.[1] ?? [])
for (const memLevel of [6, 7, 9]) add(`gzip -4, memLevel ${memLevel}`, someHtml, gzipped({ level: 4, memLevel }))
for (const windowBits of [13, 14]) add(`gzip -4, windowBits ${windowBits}`, someHtml, gzipped({ level: 4, windowBits }))
for (const [name, strategy] of [
  ['filtered', constants.Z_FILTERED],
  ['Huffman only', constants.Z_HUFFMAN_ONLY],
  ['run lengths', constants.Z_RLE],
  ['fixed codes', constants.Z_FIXED],
] as const) {
  add(`gzip -4, ${name}`, someHtml, gzipped({ level: 4, strategy }))
}
for (const bytes of [500, 1_000, 2_000, 4_000, 8_000, 14_000]) {
  const cut = someHtml.map((page) => page.subarray(0, bytes))
  add(`${bytes} bytes, kernel`, cut, byKernel)
  add(`${bytes} bytes, gzip in place`, cut, gzipped({ level: 4 }))
  add(`${bytes} bytes, gzip in lanes`, cut, gzipLanes())
  add(`${bytes} bytes, zlib.gzip`, cut, gzipCalls)
  add(`${bytes} bytes, zstd in place`, cut, zstd(3))
  add(`${bytes} bytes, zstd in lanes`, cut, zstdLanes())
}
for (const bytes of [4_000, 14_000]) {
  const packed = Array.from({ length: wanted }, () => randomBytes(bytes))
  const head = (someHtml[0] ?? Buffer.alloc(900)).subarray(0, 900)
  const stored = each((body) => {
    const member = Buffer.allocUnsafe(body.length + 23)
    member.set(body, 15)
    member.writeUInt32LE(crc32(body))
    return member.length
  })
  add(`packed, ${bytes} bytes, gzip -4`, packed, gzipped({ level: 4 }))
  add(`packed, ${bytes} bytes, gzip -0`, packed, gzipped({ level: 0, chunkSize: bytes + 100 }))
  add(`packed, ${bytes} bytes, stored by hand`, packed, stored)
  add(`packed, ${bytes} bytes, head of 900 deflated in place, stored by hand`, packed, (pages) => {
    const heads = each(
      () => deflateRawSync(head, { level: 4, chunkSize: 1_024, finishFlush: constants.Z_SYNC_FLUSH }).length,
    )
    return (heads(pages) as number) + (stored(pages) as number)
  })
  const withHead = packed.map((body) => Buffer.concat([head, body]))
  add(
    `packed, ${bytes} bytes, head of 900 and stored by the kernel`,
    withHead,
    each((record) => kernel.memberOfBytes(record, head.length).length),
  )
  add(`packed, ${bytes} bytes, zstd 3 in lanes`, packed, zstdLanes())
}
add(
  'sha-256',
  someHtml,
  each((page) => hash('sha256', page, 'hex').length),
)
add(
  'sha-256 of 600 bytes',
  someHtml,
  each((page) => hash('sha256', page.subarray(0, 600), 'hex').length),
)

const least = new Map<string, { cpu: number; own: number; ratio: number }>()
for (let round = 0; round <= rounds; round++) {
  for (const { name, pages, run } of ways) {
    if (pages.length === 0) continue
    const cpuBefore = process.cpuUsage()
    const ownBefore = process.threadCpuUsage()
    const bytes = await run(pages)
    const cpu = process.cpuUsage(cpuBefore)
    const own = process.threadCpuUsage(ownBefore)
    // The first round warms up.
    if (round === 0) continue
    const before = least.get(name) ?? { cpu: Infinity, own: Infinity }
    least.set(name, {
      cpu: Math.min(before.cpu, (cpu.user + cpu.system) / pages.length),
      own: Math.min(before.own, (own.user + own.system) / pages.length),
      ratio: bytes / pages.reduce((sum, page) => sum + page.length, 0),
    })
  }
}
const figures: Record<string, number> = {}
for (const [name, { cpu, own, ratio }] of least) {
  console.log(
    `${name.padEnd(66)} cpu ${cpu.toFixed(1).padStart(6)} µs  own ${own.toFixed(1).padStart(6)} µs  to ${ratio.toFixed(4)}`,
  )
  figures[`${name} cpu`] = Number(cpu.toFixed(1))
  figures[`${name} own`] = Number(own.toFixed(1))
  figures[`${name} ratio`] = Number(ratio.toFixed(4))
}
console.log(JSON.stringify({ bench: 'compression', rounds, figures }))
