// How a crawl stands, whether it runs or not, from its files: what `portolan status` and the control API say of it. Takes no lock,
// touches nothing.
//
//   the lock     who runs it              the journal   the last batch: figures
//   crawl.json   why the last run ended
//
// Where several agents crawl, each has a journal, and the figures of all are added up.

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type CrawlTotals, linksOnTheirWay, sumTotals } from '../agent/index.ts'
import { Fault } from '../base/index.ts'
import { whoHolds } from '../disk/index.ts'
import { inspectJournal, lookAtLastBatch, type NumberedBatch } from '../ledger/index.ts'
import { loadLayout, refuseMissingShares } from '../view/index.ts'
import { type CrawlSummary, loadCrawlSummary } from './crawl-summary.ts'
import { formatCount } from './figures.ts'
import { printable } from './printable.ts'
import { shellWord } from './shell-word.ts'

/** The names of the crawl's own --json object. */
export type StandingFigures = Pick<
  CrawlSummary,
  | 'pages'
  | 'failed'
  | 'failures'
  | 'answers'
  | 'skipped'
  | 'refused'
  | 'bytes'
  | 'seconds'
  | 'hosts'
  | 'urlsSeen'
  | 'waiting'
  | 'peakRssBytes'
  | 'cpuSeconds'
> & {
  /** As they came over the wire, packed and with their heads. */
  readonly wireBytes: number
}

/** One agent of several. */
export interface ShareFigures {
  /** Its directory inside of DIR. */
  readonly share: string
  readonly pages: number
  readonly failed: number
  readonly waiting: number
  readonly hosts: number
  readonly batch: number
}

export interface CrawlStanding {
  readonly figures: StandingFigures
  readonly state: 'running' | 'stopped' | 'finished'
  /** How many agents the crawl has, and what each of several has done. */
  readonly agents: number
  readonly shares: readonly ShareFigures[]
  /** Links that one agent found and another has not taken yet: they wait, and are in no other figure. */
  readonly onTheirWay: number
  readonly pid: number | null
  /** Why the last run ended, where it could say so and nothing happened since. */
  readonly stoppedBecause: CrawlSummary['stoppedBecause'] | null
  /** When the first of the hosts left may be asked, where that is why it ended. */
  readonly nextAskAt: string | null
  /** Number of the last batch, 0 before the first, and when it was written; of several agents how many all have written. */
  readonly batch: number
  readonly lastCommitAt: string | null
  /** What the last run said of itself, where nothing happened since. */
  readonly summary: CrawlSummary | null
  /** Directories of the agents inside of DIR; none where one agent has DIR itself. */
  readonly layout: readonly string[]
}

export async function crawlStanding(dir: string): Promise<CrawlStanding> {
  const layout = await loadLayout(dir)
  const shares = layout === null ? [dir] : layout.map((share) => join(dir, share))
  const journals = shares.map((share) => join(share, 'state/journal'))
  const holder = await holderOf([dir, ...shares])
  if (layout !== null) await refuseMissingShares(dir, layout)
  // While it runs its last bytes may be half a batch; what lies before was checked when it was opened.
  if (holder === null) for (const share of shares) await refuseDamage(dir, share)
  const lasts: (NumberedBatch | null)[] = []
  for (const journal of journals) lasts.push(await lookAtLastBatch(journal))
  const known = lasts.flatMap((last) => (last === null ? [] : [last.batch.totals as CrawlTotals]))
  const totals = known.length === 0 ? null : sumTotals(known)
  const figures = figuresOf(totals)
  const onTheirWay = await linksOnTheirWay(journals.map((journal, agent) => ({ journal, last: lasts[agent] ?? null })))
  const isDone = totals !== null && figures.waiting === 0 && onTheirWay === 0
  const summary = holder === null ? await loadCrawlSummary(dir) : null
  const isOfNow = summary !== null && summary.pages === figures.pages && summary.waiting === figures.waiting
  return {
    figures,
    state: holder !== null ? 'running' : isDone ? 'finished' : 'stopped',
    agents: shares.length,
    shares: (layout ?? []).map((share, agent) => shareFigures(share, lasts[agent] ?? null)),
    onTheirWay,
    pid: holder?.pid ?? null,
    stoppedBecause: isOfNow ? summary.stoppedBecause : null,
    nextAskAt: isOfNow ? summary.nextAskAt : null,
    batch: lasts.reduce((sum, last) => sum + (last?.number ?? 0), 0),
    lastCommitAt: await lastWriteIn(journals.filter((_, index) => lasts[index] != null)),
    summary: isOfNow ? summary : null,
    layout: layout ?? [],
  }
}

function shareFigures(share: string, last: NumberedBatch | null): ShareFigures {
  const { pages, failed, waiting, hosts } = figuresOf((last?.batch.totals ?? null) as CrawlTotals | null)
  return { share, pages, failed, waiting, hosts, batch: last?.number ?? 0 }
}

/** Who works in one of these directories; all who do are one process. */
async function holderOf(dirs: readonly string[]): ReturnType<typeof whoHolds> {
  for (const dir of new Set(dirs)) {
    const holder = await whoHolds(join(dir, 'state'))
    if (holder !== null) return holder
  }
  return null
}

async function refuseDamage(dir: string, share: string): Promise<void> {
  const { isSound, segments, misnamed } = await inspectJournal(join(share, 'state/journal'))
  if (isSound) return
  const bad = segments.find(({ damage }) => damage !== null)
  const what =
    bad?.damage == null
      ? `${misnamed[0]} is not the name of a segment`
      : `${bad.file} is damaged at byte ${formatCount(bad.damage.at)}: ${bad.damage.what}`
  throw new Fault(
    bad?.damage?.code ?? 'LEDGER_CORRUPT',
    `the journal of ${printable(share)} cannot be used: ${what}; \`portolan repair ${shellWord(dir)}\` says what can be saved`,
  )
}

function figuresOf(totals: CrawlTotals | null): StandingFigures {
  if (totals === null) {
    const nothing = { pages: 0, failed: 0, bytes: 0, wireBytes: 0, seconds: 0, hosts: 0, urlsSeen: 0, waiting: 0 }
    const answers = { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, other: 0 }
    return { ...nothing, peakRssBytes: 0, cpuSeconds: 0, skipped: {}, refused: {}, failures: {}, answers }
  }
  const { pages, failed, failures, answers, skipped, refused, bytes, wireBytes, hosts, peakRssBytes } = totals
  const settled = pages + failed + Object.values(skipped).reduce((sum, count) => sum + count, 0)
  return {
    pages,
    failed,
    failures,
    answers,
    skipped,
    refused,
    bytes,
    wireBytes,
    seconds: Math.round(totals.ms) / 1_000,
    hosts,
    urlsSeen: totals.admitted,
    waiting: totals.admitted - settled,
    peakRssBytes,
    cpuSeconds: Math.round(totals.cpuMs) / 1_000,
  }
}

/** When the newest file of these journals was written: commits do nothing else to them. */
async function lastWriteIn(journals: readonly string[]): Promise<string | null> {
  let newestMs = 0
  for (const journal of journals) {
    for (const name of await readdir(journal)) {
      if (!name.endsWith('.log')) continue
      // One that was forgotten meanwhile was not the newest.
      const found = await stat(join(journal, name)).catch(() => null)
      newestMs = Math.max(newestMs, found?.mtimeMs ?? 0)
    }
  }
  return newestMs === 0 ? null : new Date(newestMs).toISOString()
}
