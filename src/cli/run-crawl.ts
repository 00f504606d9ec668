// A crawl as a person runs it: progress while it lasts, signals that stop it, and what is left at the end.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Crawl } from '../agent/index.ts'
import { Fault, formatDuration, Random, type StopReason, systemClock } from '../base/index.ts'
import type { CrawlConfig, Problem } from '../config/index.ts'
import { writeAtomically } from '../disk/index.ts'
import {
  type CrawlSummary,
  printable,
  renderSummary,
  type RunFigures,
  Timeline,
  type TimelineSample,
  writeReport,
} from '../report/index.ts'
import { type FailureRecord, readJsonLines } from '../store/index.ts'
import { type CanonicalUrl, hostKeyOf } from '../url/index.ts'
import { EXIT } from './command.ts'
import { Progress, type Snapshot } from './progress.ts'
import { VERSION } from './version.ts'

export const PROGRESS_MODES = ['auto', 'plain', 'none'] as const
export type ProgressMode = (typeof PROGRESS_MODES)[number]

export interface CrawlRequest {
  readonly dir: string
  readonly seeds: readonly CanonicalUrl[]
  readonly config: CrawlConfig
  readonly progress: ProgressMode
  readonly isJson: boolean
  /** Lines of seed files that were left out. */
  readonly warnings: readonly Problem[]
}

const WITHHELD = '[withheld]'

/** Seeds named when a crawl yields nothing; more would hide the message. */
const SEEDS_EXPLAINED_MAX = 5

export async function runCrawl(request: CrawlRequest): Promise<number> {
  const { dir, isJson } = request
  const say = (text: string): void => void process.stderr.write(text)
  for (const { where, what } of request.warnings) say(`left out: ${printable(where)}: ${what}\n`)
  const job = await openCrawl(request)
  const before = { pages: job.figures.pages, failed: job.figures.failed, bytes: job.figures.bytes }
  const { stoppedBecause, fault } = await watch(job, request, say)

  const summary = summaryOf(job, request, before, stoppedBecause)
  // A full disk has no room for a report; everything for one is there when the crawl goes on.
  if (stoppedBecause !== 'disk-full') {
    await writeAtomically(join(dir, 'crawl.json'), `${JSON.stringify(summary, null, 2)}\n`)
    await writeReport(dir)
  }
  if (fault !== null)
    say(`portolan crawl: ${fault instanceof Error ? fault.message : 'stopped by something that is no error'}\n`)
  if (isJson) process.stdout.write(`${JSON.stringify(summary)}\n`)
  if (request.progress !== 'none' || !isJson) {
    say(`\n${renderSummary(summary, { colour: process.stderr.isTTY, width: process.stderr.columns ?? 80 })}`)
  }
  if (summary.pages === 0) await explainNothing(dir, job.seeds, say)
  if (fault !== null && !(fault instanceof Fault)) throw fault
  return exitCodeOf(summary)
}

function openCrawl({ dir, seeds, config }: CrawlRequest): Promise<Crawl> {
  return Crawl.open({
    dir,
    seeds,
    settings: config,
    clock: systemClock,
    random: new Random(randomBytes(4).readInt32LE()),
    newIdentity: () => ({
      name: seeds[0] === undefined ? 'crawl' : hostKeyOf(seeds[0]).replaceAll(/[^a-z0-9.-]/g, ''),
      key: randomBytes(8).toString('hex'),
      startedAtMs: systemClock.wallMs(),
      agents: 1,
    }),
    software: `Portolan/${VERSION}`,
    environment: process.env,
    cpuMs: () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1_000
    },
  })
}

/** Runs the job to its end with progress and signals; whatever happens, everything is closed. */
async function watch(
  job: Crawl,
  { dir, config, seeds, progress: mode }: CrawlRequest,
  say: (text: string) => void,
): Promise<{ stoppedBecause: StopReason; fault: unknown }> {
  const progress = new Progress(process.stderr, mode)
  const isShown = mode !== 'none'
  const more = seeds.length > 1 ? ` and ${seeds.length - 1} more` : ''
  if (isShown && job.isNew) say(`Crawling ${printable(seeds[0] ?? '')}${more} into ${dir}. Ctrl-C stops cleanly.\n`)
  else if (isShown) say(`Going on in ${dir}, which has ${job.figures.pages.toLocaleString('en-GB')} pages.\n`)

  const timeline = await Timeline.open(join(dir, 'state/timeline.jsonl'))
  let timelineFault: unknown = null
  const noteTimelineFault = (fault: unknown): void => {
    timelineFault ??= fault
  }
  const tick = (): void => {
    if (isShown) progress.update(snapshotOf(job, config))
    timeline.append(sampleOf(job))
  }
  const timer = setInterval(tick, progress.intervalMs)
  const unwatch = watchSignals(job, (line) => progress.say(line))
  let stoppedBecause: StopReason
  let fault: unknown = null
  try {
    stoppedBecause = await job.run()
    fault = job.fault
  } finally {
    clearInterval(timer)
    progress.clear()
    await timeline.close(sampleOf(job)).catch(noteTimelineFault)
    await job.close().catch((closing: unknown) => {
      fault ??= closing
    })
    unwatch()
  }
  fault ??= timelineFault
  if (fault instanceof Fault && fault.code === 'DISK_FULL') return { stoppedBecause: 'disk-full', fault }
  return { stoppedBecause: fault === null ? stoppedBecause : 'error', fault }
}

/** The first signal stops cleanly, the second cuts what is under way; the third is left to the system. */
function watchSignals(job: Crawl, say: (line: string) => void): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  let count = 0
  const onSignal = (): void => {
    count++
    say(count === 1 ? 'Stopping: waiting for what is under way. Once more cuts it.' : 'Cutting what is under way.')
    job.stop('interrupted')
    if (count === 2) unwatch()
  }
  const unwatch = (): void => {
    for (const signal of signals) process.off(signal, onSignal)
  }
  for (const signal of signals) process.on(signal, onSignal)
  return unwatch
}

function skippedTotal(job: Crawl): number {
  return Object.values(job.figures.skipped).reduce((sum, count) => sum + count, 0)
}

function snapshotOf(job: Crawl, config: CrawlConfig): Snapshot {
  const { frontier, active, totalMs, waitMs, isStopping } = job.snapshot()
  const { maxPages, maxTime } = config.agent
  const waits =
    waitMs !== null && waitMs > 2_000 ? `everybody rests for ${formatDuration(Math.round(waitMs / 1_000) * 1_000)}` : ''
  return {
    atMs: systemClock.nowMs(),
    pages: job.figures.pages,
    failed: job.figures.failed,
    skipped: skippedTotal(job),
    bytes: job.figures.bytes,
    waiting: frontier.waiting,
    hosts: frontier.hosts,
    active,
    resting: frontier.resting,
    maxPages,
    leftMs: maxTime === null ? null : maxTime - totalMs,
    note: isStopping ? 'stopping' : waits,
  }
}

function sampleOf(job: Crawl): TimelineSample {
  const { frontier, active, totalMs, cpuMs } = job.snapshot()
  return {
    t: Math.round(totalMs / 100) / 10,
    pages: job.figures.pages,
    bytes: job.figures.bytes,
    failed: job.figures.failed,
    skipped: skippedTotal(job),
    waiting: frontier.waiting,
    hosts: frontier.hosts,
    active,
    rssBytes: process.memoryUsage.rss(),
    cpuSeconds: Math.round(job.figures.earlierCpuMs + cpuMs) / 1_000,
  }
}

function summaryOf(
  job: Crawl,
  { dir, config }: CrawlRequest,
  before: Pick<RunFigures, 'pages' | 'failed' | 'bytes'>,
  stoppedBecause: StopReason,
): CrawlSummary {
  const { figures } = job
  const { frontier, totalMs, runMs, cpuMs } = job.snapshot()
  const peakRssBytes = process.resourceUsage().maxRSS * 1_024
  return {
    pages: figures.pages,
    failed: figures.failed,
    skipped: figures.skipped,
    refused: figures.refused,
    bytes: figures.bytes,
    seconds: Math.round(totalMs) / 1_000,
    hosts: frontier.hosts,
    urlsSeen: figures.settled + frontier.waiting,
    waiting: frontier.waiting,
    peakRssBytes,
    cpuSeconds: Math.round(figures.earlierCpuMs + cpuMs) / 1_000,
    dir,
    stoppedBecause,
    run: {
      pages: figures.pages - before.pages,
      failed: figures.failed - before.failed,
      bytes: figures.bytes - before.bytes,
      seconds: Math.round(runMs) / 1_000,
      peakRssBytes,
      cpuSeconds: Math.round(cpuMs) / 1_000,
    },
    seeds: job.seeds,
    startedAt: new Date(job.identity.startedAtMs).toISOString(),
    finishedAt: new Date(systemClock.wallMs()).toISOString(),
    options: shareable(config),
  }
}

/** The configuration as plain data, without what must not be shared: crawl.json is meant to be passed on. */
function shareable(config: CrawlConfig): Record<string, unknown> {
  const { logins, headers, proxy } = config.fetch
  const open = {
    ...config,
    fetch: {
      ...config.fetch,
      logins: logins.map(({ host, user }) => ({ host, user, password: WITHHELD })),
      headers: Object.fromEntries(Object.keys(headers).map((name) => [name, WITHHELD])),
      proxy: proxy.replace(/\/\/[^@/]*@/, `//${WITHHELD}@`),
    },
  }
  const plain = JSON.stringify(open, (_, value: unknown) => (value instanceof RegExp ? value.source : value))
  return JSON.parse(plain) as Record<string, unknown>
}

/** Nothing came of the crawl: says why, seed by seed. */
async function explainNothing(dir: string, seeds: readonly string[], say: (text: string) => void): Promise<void> {
  const wanted = new Set(seeds.slice(0, SEEDS_EXPLAINED_MAX))
  const lines: string[] = []
  for await (const record of readJsonLines<FailureRecord>(join(dir, 'failures.jsonl'))) {
    if (wanted.delete(record.url)) {
      lines.push(`  ${printable(record.url)}: ${record.reason}, ${printable(record.detail)}\n`)
    }
    if (wanted.size === 0) break
  }
  if (lines.length > 0) say(`No seed yielded a page:\n${lines.join('')}`)
}

function exitCodeOf({ stoppedBecause, pages }: CrawlSummary): number {
  switch (stoppedBecause) {
    case 'interrupted':
      return EXIT.interrupted.code
    case 'disk-full':
      return EXIT.diskFull.code
    case 'error':
      return EXIT.failed.code
    default:
      return pages === 0 ? EXIT.noPage.code : EXIT.ok.code
  }
}
