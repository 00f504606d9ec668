// What does keeping a page cost: as WARC by compression, as a line of pages.jsonl, as a line of the index?
// And a choice behind it: JSON.stringify or by hand. (For those of compression see bench/compression.ts.)
//
//   node bench/store.ts [pages] [folder]
//
// Pages are 14 kB of HTML made from a fixed seed, 35 links each; or, because made-up text does not compress
// as real text does, the HTML files of 9 to 24 KiB below a folder, e.g. /usr/share/doc. Figures are CPU time per page, of the whole
// process with all its threads and of the thread that crawls alone; the median of five rounds.

import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Random, systemClock } from '../src/base/index.ts'
import { sortLines } from '../src/disk/index.ts'
import type { Body, Document } from '../src/document/index.ts'
import { type ArchiveFacts, CdxjWriter, JsonLines, type PageRecord, WarcWriter } from '../src/store/index.ts'
import { storeOptions } from '../src/store/options.ts'
import { surt } from '../src/url/index.ts'
import { digestOf, plainDocument } from '../test/plain-document.ts'

const SEED = 'bench-store'
const ROUNDS = 5
const wanted = Number(process.argv[2] ?? 10_000)
const htmlFolder = process.argv[3]
const random = new Random(SEED)
const words = Array.from({ length: 3_000 }, () =>
  Array.from({ length: 2 + random.below(9) }, () => String.fromCharCode(97 + random.below(26))).join(''),
)

function text(length: number): string {
  let out = ''
  // Squared, so that some words are common and most are rare.
  while (out.length < length) out += `${words[Math.floor(random.fraction() ** 2 * words.length)]} `
  return out
}

function page(): Buffer {
  let html = `<!doctype html><html lang="en"><head><title>${text(30)}</title></head><body>`
  for (let i = 0; i < 35; i++) {
    const link = `<a href="/${random.pick(words)}/${random.pick(words)}.html">${text(20)}</a>`
    html += `<div class="entry"><p>${text(330)}${link}</p></div>\n`
  }
  return Buffer.from(`${html}</body></html>`)
}

function pagesBelow(folder: string): Buffer[] {
  const found: Buffer[] = []
  for (const name of globSync('**/*.html', { cwd: folder }).toSorted()) {
    const bytes = readFileSync(join(folder, name))
    if (bytes.length > 9 * 1_024 && bytes.length < 24 * 1_024) found.push(bytes)
    if (found.length === wanted) break
  }
  return found
}

const contents = htmlFolder === undefined ? Array.from({ length: wanted }, page) : pagesBelow(htmlFolder)
const count = contents.length
const facts: ArchiveFacts[] = []
const documents: Document[] = contents.map((body, i) => {
  facts.push({ payloadDigest: digestOf(body), revisitOf: null, via: 'http://127.0.0.1/', depth: 3 })
  const rawHeaders = ['Server', 'nginx', 'Date', 'Thu, 01 Jan 2026 00:00:00 GMT', 'Content-Type', 'text/html']
  rawHeaders.push('Content-Length', String(body.length), 'Connection', 'keep-alive', 'ETag', `"${i}-abc"`)
  const document = plainDocument(`http://127.0.0.1/${random.pick(words)}/${i}.html`, '', { rawHeaders })
  const wire = inMemory(body)
  return Object.assign(document, { wire, body: wire })
})
/** The same pages as most of the web sends them. */
const gzipped: Document[] = documents.map((document) => ({
  ...document,
  wire: inMemory(gzipSync(document.body.bytes())),
  decoding: 'decoded',
}))

/** As small bodies are in a crawl: one piece, not copied. */
function inMemory(body: Buffer): Body {
  return { length: body.length, bytes: () => body, chunks: () => [body], release: () => undefined }
}

const meanBytes = documents.reduce((sum, { wire }) => sum + wire.length, 0) / count
const folder = await mkdtemp(join(tmpdir(), 'portolan-bench-'))
const figures: Record<string, number> = {}
/** Archives that are still there, as a crawl's are: memory that a removed file gave back is cheaper to write to than fresh memory. */
const written: string[] = []

/** CPU microseconds per page: the first round warms up and is not counted. */
async function measure(name: string, round: () => Promise<void> | void): Promise<void> {
  const all: number[] = []
  const own: number[] = []
  for (let i = 0; i <= ROUNDS; i++) {
    const allBefore = process.cpuUsage()
    const ownBefore = process.threadCpuUsage()
    await round()
    const ofAll = process.cpuUsage(allBefore)
    const ofOwn = process.threadCpuUsage(ownBefore)
    if (i === 0) continue
    all.push((ofAll.user + ofAll.system) / count)
    own.push((ofOwn.user + ofOwn.system) / count)
  }
  for (const directory of written.splice(0)) await rm(directory, { recursive: true })
  figures[name] = median(all)
  figures[`${name}, own thread`] = median(own)
  console.log(`${name.padEnd(52)} ${String(median(all)).padStart(8)} µs, own thread ${String(median(own)).padStart(8)}`)
}

function median(values: readonly number[]): number {
  return Number((values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0).toFixed(2))
}

async function archive(warc: 'gzip' | 'zstd' | 'none', extra: object = {}, pages = documents): Promise<void> {
  const directory = await mkdtemp(join(folder, 'crawl-'))
  const options = { ...storeOptions.parse({}), warc, ...extra }
  const writer = await WarcWriter.open({
    directory,
    crawlName: 'bench',
    agent: 0,
    options,
    info: {},
    clock: systemClock,
  })
  // 64 at a time, as many visitors would.
  for (let i = 0; i < count; i += 64) {
    await Promise.all(pages.slice(i, i + 64).map(async (document, k) => writer.write(document, facts[i + k]!)))
  }
  const file = writer.state().open?.file ?? ''
  await writer.close()
  const ratio = `${warc} ratio`
  if (pages === documents && figures[ratio] === undefined) {
    figures[ratio] = Number(((await stat(join(directory, file))).size / (meanBytes * count)).toFixed(4))
  }
  written.push(directory)
}

console.log(`${count} pages of ${Math.round(meanBytes)} bytes`)
await measure('archive, none, response only', () => archive('none', { requests: false }))
await measure('archive, none', () => archive('none'))
await measure('archive, none, through the page cache', () => archive('none', { pastCache: false }))
await measure('archive, none, with block digests', () => archive('none', { blockDigest: true }))
await measure('archive, zstd', () => archive('zstd'))
await measure('archive, gzip', () => archive('gzip'))
await measure('archive, gzip, response only', () => archive('gzip', { requests: false }))
await measure('archive, gzip, pages that came gzipped', () => archive('gzip', {}, gzipped))
await measure('archive, zstd, pages that came gzipped', () => archive('zstd', {}, gzipped))

const location = { file: 'archive/portolan-bench-20260101000000-0-00000.warc.gz', offset: 123_456_789, length: 4_321 }
const pages: PageRecord[] = documents.map(({ url, wire }, i) => ({
  url,
  status: 200,
  type: 'text/html',
  bytes: wire.length,
  wireBytes: wire.length,
  depth: 3,
  digest: facts[i]!.payloadDigest,
  fetchedAt: '2026-01-01T00:00:00.000Z',
  via: 'http://127.0.0.1/',
  title: 'A title of "some" length — é',
  firstByteMs: 1.2,
  durationMs: 3.4,
  ip: '127.0.0.1',
  warc: location,
}))
await measure('a line of pages.jsonl', async () => {
  const file = await JsonLines.open<PageRecord>(join(folder, 'pages.jsonl'), { committedLength: 0 })
  for (const record of pages) file.append(record)
  await file.close()
})
let characters = 0
await measure('  JSON.stringify', () => {
  for (const record of pages) characters += JSON.stringify(record).length
})
await measure('  by hand', () => {
  for (const record of pages) characters += byHand(record).length
})

function quoted(value: string | null): string {
  return value === null ? 'null' : JSON.stringify(value)
}

/** Only strings that may need escapes are quoted by the engine. */
function byHand(page: PageRecord): string {
  const { warc } = page
  const place = warc === null ? 'null' : `{"file":"${warc.file}","offset":${warc.offset},"length":${warc.length}}`
  return `{"url":${quoted(page.url)},"status":${page.status},"type":${quoted(page.type)},"bytes":${page.bytes},"wireBytes":${page.wireBytes},"depth":${page.depth},"digest":"${page.digest}","fetchedAt":"${page.fetchedAt}","via":${quoted(page.via)},"title":${quoted(page.title ?? null)},"firstByteMs":${page.firstByteMs},"durationMs":${page.durationMs},"ip":"${page.ip}","warc":${place}}`
}

const unsorted = join(folder, 'index-0.cdxj')
await measure('a line of the index', async () => {
  const index = await CdxjWriter.open({ path: unsorted, surt, committedLength: 0 })
  for (const [i, document] of documents.entries()) index.append(document, facts[i]!, location)
  await index.close()
})
const inputs = Array.from({ length: 50 }, () => unsorted)
await measure('sorting 50 lines of the index, 16 MiB of memory', async () => {
  await sortLines(inputs, join(folder, 'index.cdxj'), { memoryBytes: 16 * 2 ** 20 })
})

await rm(folder, { recursive: true })
console.log(
  JSON.stringify({ bench: 'store', seed: SEED, pages: count, meanBytes: Math.round(meanBytes), characters, figures }),
)
