// What does the report of a large crawl cost: time and memory to read its files, bytes of the link log
// per link, and the size of the page?
//
//   node bench/report.ts [pages]
//
// A crawl of a million pages by default, drawn from a fixed seed into a temporary directory (about
// 900 MB). Figures are CPU time of this process.

import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LinkLog, LinkLogReader } from '../src/processors/index.ts'
import { renderReport, summarise } from '../src/report/index.ts'
import { type CanonicalUrl, defaultKey, Fingerprinter } from '../src/url/index.ts'
import { writeSampleCrawl } from '../test/sample-crawl.ts'

const SEED = 'bench-report'
const pages = Number(process.argv[2] ?? 1_000_000)
const hosts = Math.max(1, Math.round(pages / 40))

async function cpuSeconds<T>(work: () => Promise<T> | T): Promise<{ result: T; seconds: number }> {
  const before = process.cpuUsage()
  const result = await work()
  const { user, system } = process.cpuUsage(before)
  return { result, seconds: (user + system) / 1e6 }
}

/** CPU seconds to note the links of a page of 35 links to four hosts, which the crawl pays for each page. */
async function appendSeconds(path: string): Promise<number> {
  const log = await LinkLog.open(path, { key: defaultKey })
  const fingerprinter = new Fingerprinter(defaultKey)
  const high = new Uint32Array(35)
  const low = new Uint32Array(35)
  const urls = Array.from({ length: 35 }, (_, i) => {
    const url = `https://${i < 30 ? 'www' : `other-${i % 3}`}.example.org/section/article-${i}.html` as CanonicalUrl
    fingerprinter.compute(url)
    high[i] = fingerprinter.high
    low[i] = fingerprinter.low
    return url
  })
  const rounds = 200_000
  const { seconds } = await cpuSeconds(async () => {
    for (let i = 0; i < rounds; i++) {
      log.append('https://www.example.org/section/' as CanonicalUrl, { count: 35, urls, high, low })
      if (log.needsDrain) await log.drained()
    }
    await log.flush()
  })
  await log.close()
  return seconds / rounds
}

const dir = await mkdtemp(join(tmpdir(), 'portolan-bench-report-'))
try {
  const append = await appendSeconds(join(dir, 'append.log'))
  await writeSampleCrawl(dir, { seed: SEED, pages, hosts })

  const log = (await LinkLogReader.open(join(dir, 'state/links.log')))!
  let links = 0
  const scan = await cpuSeconds(() => log.scan({ host: (_, __, count) => void (links += count), link: () => {} }))
  await log.close()
  const logBytes = (await stat(join(dir, 'state/links.log'))).size

  const before = process.memoryUsage().rss
  let peak = before
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss)
  }, 50)
  const summed = await cpuSeconds(() => summarise(dir))
  clearInterval(watch)
  const rendered = await cpuSeconds(() => renderReport(summed.result))

  const result = {
    seed: SEED,
    pages,
    hosts,
    links,
    appendMicrosecondsPerPage: Number((1e6 * append).toFixed(2)),
    linkLogBytesPerLink: Number((logBytes / links).toFixed(2)),
    scanMillionLinksPerSecond: Number((links / scan.seconds / 1e6).toFixed(1)),
    summariseSeconds: Number(summed.seconds.toFixed(2)),
    microsecondsPerPage: Number(((1e6 * summed.seconds) / pages).toFixed(2)),
    memoryMegabytes: Math.round((peak - before) / 1e6),
    renderMilliseconds: Number((1e3 * rendered.seconds).toFixed(1)),
    htmlKilobytes: Math.round(rendered.result.length / 1e3),
  }
  console.log(
    `report of ${pages} pages: ${result.summariseSeconds} s CPU (${result.microsecondsPerPage} µs a page), ` +
      `${result.memoryMegabytes} MB above the start; link log ${result.linkLogBytesPerLink} bytes a link, ` +
      `${result.appendMicrosecondsPerPage} µs to append a page of 35, ` +
      `scanned at ${result.scanMillionLinksPerSecond} M links/s; report.html ${result.htmlKilobytes} kB in ${result.renderMilliseconds} ms`,
  )
  console.log(JSON.stringify(result))
} finally {
  await rm(dir, { recursive: true })
}
