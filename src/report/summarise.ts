// From the files of a crawl to its report, in one pass over each and in bounded memory: a crawl of a
// billion pages needs time, not a larger machine. Works on a crawl that runs or was killed, too.
//
// Where several agents crawl, their own files are read, one share after the other: the merged ones may be a moment behind.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '../base/index.ts'
import { LinkLogReader } from '../processors/index.ts'
import { type FailureRecord, isFailure, isPage, readJsonLines } from '../store/index.ts'
import { Fingerprinter } from '../url/index.ts'
import { sharesOf } from '../view/index.ts'
import type { BrokenLinks } from './broken-links.ts'
import type { CrawlReport } from './crawl-report.ts'
import { loadCrawlSummary } from './crawl-summary.ts'
import { LostArchives } from './lost-archives.ts'
import { PageFigures } from './page-figures.ts'
import { visitPages } from './standing-pages.ts'
import { Tally } from './tally.ts'
import { loadTimeline } from './timeline.ts'

/** How many broken URLs are listed, each with the pages that link to it. */
const BROKEN_LISTED = 200
const LINKED_HOSTS = 20
const LINKED_HOSTS_COUNTED = 100_000

/** Throws CONFIG_INVALID when `dir` is not the directory of a crawl. `findings`: where they were made already, and hold. */
export async function summarise(dir: string, findings: Findings | null = null): Promise<CrawlReport> {
  const summary = await loadCrawlSummary(dir)
  const shares = await sharesOf(dir)
  if (summary === null && !(await anyExists(shares.map((share) => join(share, 'pages.jsonl'))))) {
    throw new Fault(
      'CONFIG_INVALID',
      `${dir} is not the directory of a crawl: it has neither crawl.json nor pages.jsonl`,
    )
  }
  const found = findings ?? (await findIn(dir))
  return {
    ...found,
    summary,
    // A crawl that went on has pages its last summary knows nothing of.
    hasEnded: summary !== null && found.pages <= summary.pages,
    dir,
    archive: { ...found.archive, to: summary?.archive.to ?? found.archive.to },
    timeline: await loadTimeline(join(dir, 'state', 'timeline.jsonl')),
  }
}

/** What pages, failures and links say: all of a report that takes time. */
export type Findings = Omit<CrawlReport, 'summary' | 'hasEnded' | 'dir' | 'timeline'>

/** Reads the files of a crawl. They hold for later where nothing but its index is written meanwhile. */
export async function findIn(dir: string): Promise<Findings> {
  const shares = await sharesOf(dir)
  const figures = new PageFigures()
  const lost = await LostArchives.open(dir)
  let unreadableLines = 0
  let earlierVisits = 0
  for (const share of shares) {
    await visitPages(share, (page, counts) => {
      if (!counts) earlierVisits++
      else if (isPage(page)) {
        figures.addPage(page)
        lost.addPage(page)
      } else unreadableLines++
    })
    await lost.addReturns(share)
  }
  for (const share of shares) {
    for await (const failure of records<FailureRecord>(join(share, 'failures.jsonl'))) {
      if (isFailure(failure)) figures.addFailure(failure)
      else unreadableLines++
    }
  }
  for (const loop of figures.redirects.loops()) figures.broken.note(loop)
  const logs = shares.map((share) => join(share, 'state', 'links.log'))
  const { links, broken } = await readLinks(logs, figures.broken)
  return {
    unreadableLines,
    earlierVisits,
    archive: lost.archive,
    lostArchives: lost.figures,
    ...figures.figures(),
    links,
    broken: { ...broken, loops: figures.redirects.loopCount },
  }
}

interface LinkFigures {
  readonly links: CrawlReport['links']
  readonly broken: Omit<CrawlReport['broken'], 'loops'>
}

async function readLinks(paths: readonly string[], broken: BrokenLinks): Promise<LinkFigures> {
  const logs: LinkLogReader[] = []
  try {
    const hosts = new Tally(LINKED_HOSTS_COUNTED)
    let pages = 0
    let count = 0
    for (const path of paths) {
      const log = await LinkLogReader.open(path)
      if (log === null) continue
      logs.push(log)
      broken.prepare(new Fingerprinter(log.key))
      let at = 0
      await log.scan({
        page(_, place) {
          pages++
          at = place
        },
        host(host, isOwn, links) {
          count += links
          if (!isOwn) hosts.add(host, links)
        },
        // Without broken URLs nobody asks for the links themselves, of which there are thirty a page.
        ...(broken.count === 0 ? {} : { link: (high: number, low: number) => broken.link(high, low, log, at) }),
      })
    }
    const rows = hosts.largest(LINKED_HOSTS).rows
    const linked = rows.map(({ name, count, weight }) => ({ host: name, pages: count, links: weight }))
    return {
      links: logs.length === 0 ? null : { pages, count, hosts: linked },
      broken: { count: broken.count, listed: await broken.listed(BROKEN_LISTED) },
    }
  } finally {
    for (const log of logs) await log.close()
  }
}

/** A crawl that was stopped early may lack a file: then nothing was to be written into it. */
async function* records<T>(path: string): AsyncGenerator<T> {
  if (await exists(path)) yield* readJsonLines<T>(path)
}

async function anyExists(paths: readonly string[]): Promise<boolean> {
  for (const path of paths) if (await exists(path)) return true
  return false
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null
}
