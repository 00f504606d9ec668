// What does a page cost from the moment it is parsed to the moment its batch is durable: digest, archive, links, traps, page
// line, contents, journal? Everything is as in a crawl, but the seen set and the frontier, which do nothing here.
//
//   node bench/settle.ts [pages] [rounds]
//
// Pages are those of the test web, 14 kB and 35 links each, of 64 hosts, parsed before. Figures are CPU time per page, of the whole
// process with all its threads and of the thread that crawls alone; the best of the rounds behind the first.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Admission, AdmissionSink } from '../src/agent/admission.ts'
import { Books, type CommittedFile } from '../src/agent/books.ts'
import { CrawlFigures } from '../src/agent/figures.ts'
import { IndexedArchive } from '../src/agent/indexed-archive.ts'
import { PageSettler } from '../src/agent/page-settler.ts'
import { PageWishes } from '../src/agent/page-wishes.ts'
import { NO_FAULTS, Random, systemClock } from '../src/base/index.ts'
import { DiskContentSeen } from '../src/content-seen/index.ts'
import { FetchedDocument, parseContentType, Spool, SpooledBody } from '../src/document/index.ts'
import type { FrontierEntry } from '../src/frontier/index.ts'
import { SegmentedJournal } from '../src/ledger/index.ts'
import { parseDocument, type ParsedPage } from '../src/parse/index.ts'
import { parseOptions } from '../src/parse/options.ts'
import { LinkLog, type LinkTargets, PageStatistics, ProcessorChain } from '../src/processors/index.ts'
import { OptOutPolicy } from '../src/robots/index.ts'
import { robotsOptions } from '../src/robots/options.ts'
import { CdxjWriter, JsonLines, type PageRecord, WarcWriter } from '../src/store/index.ts'
import { storeOptions } from '../src/store/options.ts'
import { TrapWatch } from '../src/traps/index.ts'
import { trapsOptions } from '../src/traps/options.ts'
import { BaseUrl, canonicalise, type CanonicalUrl, Fingerprinter, hostKeyOf, surt } from '../src/url/index.ts'
import { truth, Web } from '../testweb/index.ts'

const SEED = 'bench-settle'
const wanted = Number(process.argv[2] ?? 6_400)
const rounds = Number(process.argv[3] ?? 5)
const HOSTS = 64
/** As they come in one turn of the event loop. */
const PAGES_TOGETHER = 20
/** What a crawl of 3,000 pages a second commits ten times a second. */
const TURNS_PER_BATCH = 300 / PAGES_TOGETHER

interface Found {
  readonly entry: FrontierEntry
  readonly document: FetchedDocument
  readonly parsed: ParsedPage
  readonly targets: LinkTargets
  /** Links that lead to pages nobody has led to before. */
  readonly leads: readonly FrontierEntry[]
}

const random = new Random(SEED)
const folder = await mkdtemp(join(tmpdir(), 'portolan-bench-'))
const spool = new Spool(join(folder, 'spool'), 2 ** 20)
const fingerprinter = new Fingerprinter([1, 2])
const pages = crawledPages()
const byDocument = new Map(pages.map((page) => [page.document.url, page]))

function entryOf(url: CanonicalUrl, via: CanonicalUrl | null, depth: number): FrontierEntry {
  const isSeed = via === null
  return { url, host: hostKeyOf(url), via, depth, hops: 0, band: 0, isSeed, tries: 0, pauses: 0 }
}

/** The test web, breadth first, with what each page was the first to lead to. */
function crawledPages(): Found[] {
  const web = new Web({ seed: SEED, hosts: HOSTS, pages: Math.ceil(wanted / HOSTS) }, { http: 8080, https: null })
  const known = truth(web, { seeds: web.seeds() }).pages
  const met = new Set<string>(web.seeds())
  const line = web.seeds().map((url) => entryOf(url as CanonicalUrl, null, 0))
  const found: Found[] = []
  for (let entry = line.shift(); entry !== undefined; entry = line.shift()) {
    const bytes = web.body(entry.url)
    if (bytes === undefined || bytes === null) continue
    const page = pageOf(entry, bytes, (url) => known.has(url) && !met.has(url))
    for (const lead of page.leads) {
      met.add(lead.url)
      line.push(lead)
    }
    found.push(page)
  }
  return found
}

function pageOf(entry: FrontierEntry, bytes: Buffer, isNew: (url: CanonicalUrl) => boolean): Found {
  const parsed = parseDocument({ mediaType: 'text/html', charset: 'utf-8', bytes }, parseOptions.parse({}))
  if (parsed === null) throw new Error(`${entry.url} cannot be read`)
  const base = BaseUrl.of(entry.url)
  const urls: CanonicalUrl[] = []
  for (const { href } of parsed.links) {
    const url = canonicalise(href, base)
    if (typeof url === 'string') urls.push(url)
  }
  const high = new Uint32Array(urls.length)
  const low = new Uint32Array(urls.length)
  const leads = new Map<CanonicalUrl, FrontierEntry>()
  for (const [i, url] of urls.entries()) {
    fingerprinter.compute(url)
    high[i] = fingerprinter.high
    low[i] = fingerprinter.low
    if (isNew(url)) leads.set(url, entryOf(url, entry.url, entry.depth + 1))
  }
  return {
    entry,
    document: documentOf(entry.url, bytes),
    parsed,
    targets: { count: urls.length, urls, high, low },
    leads: [...leads.values()],
  }
}

function documentOf(url: CanonicalUrl, bytes: Buffer): FetchedDocument {
  const { pathname, host } = new URL(url)
  const rawHeaders = ['Server', 'nginx/1.22.1', 'Date', 'Tue, 17 Nov 2026 01:58:11 GMT']
  rawHeaders.push('Content-Type', 'text/html; charset=utf-8', 'Content-Length', String(bytes.length))
  rawHeaders.push('Last-Modified', 'Tue, 17 Nov 2026 01:46:44 GMT', 'Connection', 'keep-alive')
  rawHeaders.push('ETag', `"${random.next32().toString(16)}-44de"`, 'Accept-Ranges', 'bytes')
  let responseHead = 'HTTP/1.1 200 OK\r\n'
  for (let i = 0; i < rawHeaders.length; i += 2) responseHead += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`
  const wire = SpooledBody.of(bytes, spool)
  return new FetchedDocument({
    url,
    requestHead: `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: portolan\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n\r\n`,
    httpVersion: '1.1',
    status: 200,
    statusText: 'OK',
    rawHeaders,
    responseHead: `${responseHead}\r\n`,
    contentType: parseContentType(['text/html; charset=utf-8']),
    wire,
    body: wire,
    decoding: 'none',
    truncated: null,
    wireTruncated: null,
    fetchedAtMs: Date.UTC(2026, 0, 1) + random.below(10_000),
    firstByteMs: random.fraction() * 20,
    durationMs: random.fraction() * 30,
    ip: host.slice(0, host.indexOf(':')),
  })
}

/** The links of a page as they were met before. */
class KnownLinks implements Pick<Admission, 'admitLinks' | 'admitRedirect'> {
  admitLinks(
    source: { readonly url: CanonicalUrl },
    _: ParsedPage,
    _mayFollow: boolean,
    sink: AdmissionSink,
  ): undefined {
    const found = byDocument.get(source.url)
    if (found === undefined) return
    for (const lead of found.leads) sink.admitted(lead)
    sink.linked(found.targets)
  }

  async admitRedirect(): Promise<void> {}
}

async function settleAll(): Promise<() => Promise<void>> {
  const dir = await mkdtemp(join(folder, 'crawl-'))
  const { warc: _, ...options } = storeOptions.parse({})
  const writer = await WarcWriter.open({
    directory: dir,
    crawlName: 'bench',
    agent: 0,
    options: { ...options, warc: 'none' },
    info: {},
    clock: systemClock,
  })
  const index = await CdxjWriter.open({ path: join(dir, 'index.cdxj'), surt })
  const lines = await JsonLines.open<PageRecord>(join(dir, 'pages.jsonl'))
  const linkLog = await LinkLog.open(join(dir, 'links.log'), { key: [1, 2] })
  const journal = await SegmentedJournal.open({
    directory: join(dir, 'journal'),
    random,
    create: () => ({ name: 'bench', key: '00', startedAtMs: 0 }),
  })
  const contentSeen = await DiskContentSeen.open({
    directory: join(dir, 'contents'),
    memoryBytes: 64 * 2 ** 20,
    state: null,
    readOriginal: () => Promise.reject(new Error('nothing is read back here')),
  })
  const traps = await TrapWatch.open({
    options: trapsOptions.parse({}),
    budgets: { hosts: null, pages: null },
    clock: systemClock,
    pagesOf: () => 0,
    path: join(dir, 'traps.jsonl'),
  })
  const files = new Map<string, CommittedFile>([
    ['archive', { state: () => writer.state(), sync: () => writer.sync() }],
    ['index', { state: () => index.length, sync: () => index.sync() }],
    ['pages', { state: () => lines.length, sync: () => lines.sync() }],
    ['links', { state: () => linkLog.length, sync: () => linkLog.sync() }],
  ])
  const books = new Books({
    clock: systemClock,
    journal,
    frontier: {
      offer: () => undefined,
      conclude: () => undefined,
      figures: () => ({ hosts: HOSTS, waiting: 0, ready: 0 }) as never,
      pressure: () => undefined,
    },
    figures: new CrawlFigures(),
    files,
    otherFiles: {},
    writePage: (record) => lines.append(record),
    writeFailure: () => undefined,
    writeHeld: () => undefined,
    writeSeed: () => undefined,
    heldElsewhere: () => 0,
    beforeLast: async () => undefined,
    onDurable: () => undefined,
    pressureAbroad: () => undefined,
    spent: () => ({ ms: 0, cpuMs: 0, peakRssBytes: 0 }),
    tickMs: 1e6,
    onFault: (fault) => {
      throw fault
    },
    faults: NO_FAULTS,
  })
  const parsedBefore = {
    name: 'parsed before',
    accepts: () => true,
    process: (page: { readonly document: { readonly url: CanonicalUrl }; parsed: ParsedPage | null }) => {
      page.parsed = byDocument.get(page.document.url)?.parsed ?? null
    },
  }
  const settler = new PageSettler({
    admission: new KnownLinks() as unknown as Admission,
    archive: new IndexedArchive(writer, index),
    books,
    chain: new ProcessorChain([parsedBefore, new PageStatistics()], (_name, _page, cause) => {
      throw cause
    }),
    contentSeen,
    linkLog,
    obeysRobots: false,
    wishes: new PageWishes(new OptOutPolicy(robotsOptions.parse({})), null, 'portolan'),
    followsDuplicates: false,
    returns: null,
    traps,
    faults: NO_FAULTS,
  })
  for (let at = 0; at < pages.length; at += PAGES_TOGETHER) {
    const together = pages.slice(at, at + PAGES_TOGETHER)
    for (const { entry } of together) {
      if (traps.judge(entry) !== null) throw new Error(`${entry.url} was taken for a trap`)
      traps.asked(entry)
    }
    await Promise.all(together.map(({ entry, document }) => settler.settle(entry, document)))
    if ((at / PAGES_TOGETHER) % TURNS_PER_BATCH === TURNS_PER_BATCH - 1) await books.commit()
  }
  await books.commit()
  return async () => {
    await books.close()
    await Promise.all([
      writer.close(),
      index.close(),
      lines.close(),
      linkLog.close(),
      journal.close(),
      contentSeen.close(),
    ])
    await rm(dir, { recursive: true })
  }
}

const all: number[] = []
const own: number[] = []
for (let i = 0; i <= rounds; i++) {
  const allBefore = process.cpuUsage()
  const ownBefore = process.threadCpuUsage()
  const end = await settleAll()
  const ofAll = process.cpuUsage(allBefore)
  const ofOwn = process.threadCpuUsage(ownBefore)
  await end()
  if (i === 0) continue
  all.push((ofAll.user + ofAll.system) / pages.length)
  own.push((ofOwn.user + ofOwn.system) / pages.length)
}
await rm(folder, { recursive: true })
const best = (values: readonly number[]): number => Number(Math.min(...values).toFixed(2))
console.log(`${pages.length} pages settled: ${best(all)} µs a page, own thread ${best(own)}`)
console.log(JSON.stringify({ bench: 'settle', seed: SEED, pages: pages.length, all: best(all), own: best(own) }))
