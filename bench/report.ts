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
import { LinkLogReader } from '../src/processors/index.ts'
import { renderReport, summarise } from '../src/report/index.ts'
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

const dir = await mkdtemp(join(tmpdir(), 'portolan-bench-report-'))
try {
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
      `scanned at ${result.scanMillionLinksPerSecond} M links/s; report.html ${result.htmlKilobytes} kB in ${result.renderMilliseconds} ms`,
  )
  console.log(JSON.stringify(result))
} finally {
  await rm(dir, { recursive: true })
}
