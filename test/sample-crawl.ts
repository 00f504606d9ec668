// Writes the directory of a crawl that never happened: plausible, of any size, the same for the same
// seed. For tests, benches and looking at reports; what is drawn is also what is returned, so that a
// test knows the right answer.

import { NO_ARCHIVE_FIGURES } from '../src/report/index.ts'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Random } from '../src/base/index.ts'
import { AppendFile } from '../src/disk/index.ts'
import { LinkLog } from '../src/processors/index.ts'
import type { CrawlSummary, TimelineSample } from '../src/report/index.ts'
import type { FailureRecord, PageRecord } from '../src/store/index.ts'
import { type CanonicalUrl, defaultKey, Fingerprinter } from '../src/url/index.ts'

export interface SampleCrawlOptions {
  readonly seed?: number | string
  readonly pages?: number
  readonly hosts?: number
  readonly linksPerPage?: number
  readonly stoppedBecause?: CrawlSummary['stoppedBecause']
  readonly waiting?: number
  /** Seconds it took; at 42 pages per second if not given. */
  readonly seconds?: number
}

interface SampleHost {
  readonly name: string
  readonly server: string
  readonly language: string
  readonly charset: string
  readonly latencyMs: number
  /** Pages are numbered through; a host owns a range of them. */
  readonly firstPage: number
  readonly pages: number
}

const WORDS = 'harbour compass atlas meridian tide sounding lantern quay reef current anchor beacon strait gulf'.split(
  ' ',
)
const DOMAINS = ['example.org', 'example.com', 'example.net', 'museum.test', 'harbour.test', 'archive.test']
const TYPES: readonly (readonly [type: string, share: number, bytes: number])[] = [
  ['text/html', 0.78, 14_000],
  ['image/jpeg', 0.08, 90_000],
  ['text/css', 0.04, 9_000],
  ['application/javascript', 0.04, 40_000],
  ['application/pdf', 0.03, 600_000],
  ['image/png', 0.02, 30_000],
  ['application/json', 0.01, 4_000],
]
const STATUSES: readonly (readonly [status: number, share: number])[] = [
  [200, 0.9],
  [301, 0.035],
  [302, 0.02],
  [404, 0.03],
  [403, 0.005],
  [410, 0.002],
  [500, 0.005],
  [503, 0.003],
]
const FAILURES = [
  'DNS_NO_NAME',
  'FETCH_CONNECT_TIMEOUT',
  'FETCH_CONNECT_REFUSED',
  'FETCH_TLS_FAILED',
  'FETCH_BODY_STALLED',
]
const SKIPS = ['robots', 'robots', 'robots', 'type-filtered', 'size-filtered', 'host-budget']
const STARTED_MS = Date.UTC(2026, 2, 12, 14, 2, 31)

export async function writeSampleCrawl(dir: string, options: SampleCrawlOptions = {}): Promise<CrawlSummary> {
  const { seed = 1, pages = 1_000, linksPerPage = 35, stoppedBecause = 'finished', waiting = 0 } = options
  const random = new Random(seed)
  const hosts = drawHosts(random, options.hosts ?? 12, pages)
  const failed = Math.floor(pages * 0.012)
  const skipped = Math.floor(pages * 0.04)
  await mkdir(join(dir, 'state'), { recursive: true })
  const { bytes, answers } = await writePages(dir, random, hosts, pages)
  const { failures, skipped: skippedByReason } = await writeFailures(dir, random, hosts, pages, failed, skipped)
  if (linksPerPage > 0) await writeLinks(dir, random, hosts, pages, failed, linksPerPage)
  const { seconds = pages / 42 } = options
  const summary: CrawlSummary = {
    pages,
    failed,
    failures,
    answers,
    skipped: skippedByReason,
    bytes,
    seconds,
    hosts: hosts.length,
    urlsSeen: pages + failed + skipped + waiting,
    waiting,
    peakRssBytes: 231 * 2 ** 20,
    cpuSeconds: pages * 0.00018,
    agents: 1,
    dir,
    archive: NO_ARCHIVE_FIGURES,
    stoppedBecause,
    nextAskAt: null,
    refused: {
      'out-of-scope': pages * 3,
      scheme: Math.floor(pages / 7),
      nofollow: Math.floor(pages / 30),
      'too-long': 2,
    },
    run: { pages, failed, bytes, seconds, peakRssBytes: 231 * 2 ** 20, cpuSeconds: pages * 0.00018, restarts: 0 },
    seeds: [`https://${hosts[0]?.name ?? 'example.org'}/`],
    startedAt: new Date(STARTED_MS).toISOString(),
    finishedAt: new Date(STARTED_MS + seconds * 1_000).toISOString(),
    options: {
      frontier: { delay: 2_000, ipDelay: 0 },
      url: { scope: 'host', include: [], maxDepth: null },
      store: { warc: 'gzip' },
    },
  }
  await writeTimeline(dir, random, summary)
  await writeFile(join(dir, 'crawl.json'), JSON.stringify(summary))
  return summary
}

/** The URL of a page by its number: what links point at, without a list of a million URLs. */
function pageUrl(host: SampleHost, number: number): CanonicalUrl {
  const local = number - host.firstPage
  if (local === 0) return `https://${host.name}/` as CanonicalUrl
  const word = WORDS[local % WORDS.length] ?? 'page'
  return `https://${host.name}/${word}/${Math.floor(local / 50)}/${word}-${local}.html` as CanonicalUrl
}

function deadUrl(host: SampleHost, number: number): CanonicalUrl {
  return `https://gone-${number % 40}.${host.name}/lost/${number}` as CanonicalUrl
}

/** A few large hosts and many small ones, each with its own manners. */
function drawHosts(random: Random, count: number, pages: number): SampleHost[] {
  const weights = Array.from({ length: count }, (_, i) => 1 / (i + 1))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let firstPage = 0
  return weights.map((weight, i) => {
    const isLast = i === count - 1
    const share = isLast ? pages - firstPage : Math.min(pages - firstPage, Math.ceil((pages * weight) / total))
    const host: SampleHost = {
      name: `${random.pick(WORDS)}-${i}.${random.pick(DOMAINS)}`,
      server: random.pick(['nginx/1.22.1', 'nginx', 'Apache/2.4.57 (Debian)', 'cloudflare', 'Microsoft-IIS/10.0']),
      language: random.pick(['en', 'en-GB', 'de', 'fr', 'ja', 'pt-BR']),
      charset: random.pick(['utf-8', 'utf-8', 'utf-8', 'windows-1252', 'shift_jis']),
      latencyMs: 12 * 2 ** (random.fraction() * 6),
      firstPage,
      pages: share,
    }
    firstPage += share
    return host
  })
}

function hostOfPage(hosts: readonly SampleHost[], number: number): SampleHost {
  let low = 0
  let high = hosts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((hosts[middle]?.firstPage ?? 0) <= number) low = middle
    else high = middle - 1
  }
  return hosts[low] as SampleHost
}

/** Bell-shaped in its logarithm, as sizes and times on the web are. */
function logNormal(random: Random, median: number, spread: number): number {
  const bell = random.fraction() + random.fraction() + random.fraction() + random.fraction() - 2
  return median * Math.exp(bell * spread * 1.73)
}

function draw<T extends readonly [unknown, number, ...unknown[]]>(random: Random, table: readonly T[]): T {
  let left = random.fraction()
  for (const row of table) {
    left -= row[1]
    if (left < 0) return row
  }
  return table[0] as T
}

async function writePages(
  dir: string,
  random: Random,
  hosts: readonly SampleHost[],
  pages: number,
): Promise<Pick<CrawlSummary, 'bytes' | 'answers'>> {
  const file = await AppendFile.open(join(dir, 'pages.jsonl'), { committedLength: 0 })
  const answers = { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, other: 0 }
  let bytes = 0
  for (let i = 0; i < pages; i++) {
    const page = drawPage(random, hosts, i)
    bytes += page.bytes
    answers[`${Math.floor(page.status / 100)}xx` as keyof typeof answers]++
    file.append(`${JSON.stringify(page)}\n`)
    if (file.needsDrain) await file.drained()
  }
  await file.close()
  return { bytes, answers }
}

function drawPage(random: Random, hosts: readonly SampleHost[], i: number): PageRecord {
  const host = hostOfPage(hosts, i)
  const local = i - host.firstPage
  // The first page of a host is what its redirects lead to.
  const [status] = local === 0 ? ([200, 1] as const) : draw(random, STATUSES)
  const [type, , median] = local === 0 ? (TYPES[0] as (typeof TYPES)[number]) : draw(random, TYPES)
  const isContent = status === 200
  const bytes = Math.round(isContent ? logNormal(random, median, 1.1) : logNormal(random, 800, 0.5))
  const firstByteMs = Math.round(10 * logNormal(random, host.latencyMs, 0.6)) / 10
  const depth = local === 0 ? 0 : 1 + Math.floor(Math.log(1 + local) / Math.log(12))
  const isText = type.startsWith('text/')
  const isDuplicate = isContent && local > 20 && random.fraction() < 0.03
  return {
    url: pageUrl(host, i),
    status,
    type: isContent ? type : 'text/html',
    bytes,
    wireBytes: isText ? Math.round(bytes * 0.29) : bytes,
    depth,
    digest: `sha256:${random.next32().toString(16).padStart(64, '0')}`,
    fetchedAt: new Date(STARTED_MS + i * 24).toISOString(),
    via: local === 0 ? null : pageUrl(host, host.firstPage + Math.floor(local / 12)),
    ...(status === 301 || status === 302 ? { location: pageUrl(host, host.firstPage) } : {}),
    ...(isContent && type === 'text/html' && local % 29 !== 7
      ? { title: `${WORDS[local % WORDS.length]} chart no. ${local}` }
      : {}),
    ...(isContent && bytes > 2_000_000 ? { truncated: 'length' } : {}),
    ...(isContent && local % 67 === 3 ? { decoding: 'broken' as const } : {}),
    ...(isDuplicate ? { duplicateOf: pageUrl(host, host.firstPage + random.below(10)) } : {}),
    ...(isText ? { charset: host.charset } : {}),
    ...(isContent && type === 'text/html' ? { language: host.language } : {}),
    ...(isContent && local % 53 === 9 ? { noindex: true as const } : {}),
    firstByteMs,
    durationMs: Math.round(firstByteMs + bytes / 20_000),
    ip: '192.0.2.1',
    server: host.server,
    warc: { file: 'archive/sample-00001.warc.gz', offset: i * 5_000, length: 4_990 },
  }
}

async function writeFailures(
  dir: string,
  random: Random,
  hosts: readonly SampleHost[],
  pages: number,
  failed: number,
  skipped: number,
): Promise<Pick<CrawlSummary, 'failures' | 'skipped'>> {
  const file = await AppendFile.open(join(dir, 'failures.jsonl'), { committedLength: 0 })
  const failures: Record<string, number> = {}
  const skips: Record<string, number> = {}
  for (let i = 0; i < failed + skipped; i++) {
    const host = hostOfPage(hosts, random.below(pages))
    const isFailure = i < failed
    const reason = isFailure ? random.pick(FAILURES) : random.pick(SKIPS)
    const counts = isFailure ? failures : skips
    counts[reason] = (counts[reason] ?? 0) + 1
    const record: FailureRecord = {
      url: isFailure ? deadUrl(hosts[0] as SampleHost, i) : `https://${host.name}/private/${i}`,
      kind: isFailure ? 'failed' : 'skipped',
      reason,
      detail: isFailure ? 'after 3 tries' : 'Disallow: /private/',
      depth: 2,
      via: pageUrl(host, host.firstPage),
      at: new Date(STARTED_MS + i * 900).toISOString(),
    }
    file.append(`${JSON.stringify(record)}\n`)
    if (file.needsDrain) await file.drained()
  }
  await file.close()
  return { failures, skipped: skips }
}

/** Links to pages of the same host mostly, to other hosts, to hosts outside the crawl, and to dead URLs. */
async function writeLinks(
  dir: string,
  random: Random,
  hosts: readonly SampleHost[],
  pages: number,
  failed: number,
  linksPerPage: number,
): Promise<void> {
  const log = await LinkLog.open(join(dir, 'state', 'links.log'), { key: defaultKey, committedLength: 0 })
  const fingerprinter = new Fingerprinter(defaultKey)
  const urls: CanonicalUrl[] = []
  const high = new Uint32Array(2 * linksPerPage)
  const low = new Uint32Array(2 * linksPerPage)
  for (let i = 0; i < pages; i++) {
    const host = hostOfPage(hosts, i)
    const count = 1 + random.below(2 * linksPerPage - 1)
    for (let link = 0; link < count; link++) {
      const dice = random.fraction()
      const other = dice < 0.85 ? host : hostOfPage(hosts, random.below(pages))
      if (dice > 0.995 && failed > 0) urls[link] = deadUrl(hosts[0] as SampleHost, random.below(failed))
      else if (dice > 0.95) urls[link] = `https://outside-${random.below(60)}.test/` as CanonicalUrl
      else urls[link] = pageUrl(other, other.firstPage + Math.floor(other.pages * random.fraction() ** 3))
      fingerprinter.compute(urls[link] as CanonicalUrl)
      high[link] = fingerprinter.high
      low[link] = fingerprinter.low
    }
    log.append(pageUrl(host, i), { count, urls, high, low })
    if (log.needsDrain) await log.drained()
  }
  await log.close()
}

/** A start, a long steady stretch that wavers, and an end in which the queue runs dry. */
async function writeTimeline(dir: string, random: Random, summary: CrawlSummary): Promise<void> {
  const samples = Math.min(1_200, Math.max(4, Math.ceil(summary.seconds)))
  const weights = Array.from({ length: samples }, (_, i) => {
    const x = i / samples
    const ramp = Math.min(1, 8 * x) * Math.min(1, 6 * (1 - x))
    return Math.max(0.02, ramp * (0.85 + 0.15 * Math.sin(14 * x) + 0.2 * (random.fraction() - 0.5)))
  })
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  let done = 0
  let text = ''
  for (let i = 0; i <= samples; i++) {
    const share = done / total
    const x = i / samples
    const sample: TimelineSample = {
      t: (summary.seconds * i) / samples,
      pages: Math.round(summary.pages * share),
      bytes: Math.round(summary.bytes * share),
      failed: Math.round(summary.failed * share),
      skipped: Math.round(summary.pages * 0.04 * share),
      waiting: Math.round(summary.waiting * x + summary.pages * 0.6 * Math.sin(Math.PI * Math.sqrt(x))),
      hosts: Math.min(summary.hosts, 1 + Math.round(summary.hosts * 3 * x)),
      active: 16,
      rssBytes: (90 + 130 * (1 - Math.exp(-5 * x)) + 6 * random.fraction()) * 2 ** 20,
      cpuSeconds: summary.cpuSeconds * share,
    }
    text += `${JSON.stringify(sample)}\n`
    done += weights[i] ?? 0
  }
  await writeFile(join(dir, 'state', 'timeline.jsonl'), text)
}
