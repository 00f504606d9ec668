// What a run of a crawl has come to: crawl.json, the JSON object on standard output, the exit code.

import { join } from 'node:path'
import { Fault, type StopReason, systemClock } from '../base/index.ts'
import type { CrawlConfig } from '../config/index.ts'
import {
  type ArchiveFigures,
  type CrawlSummary,
  isShippedWhole,
  NO_ARCHIVE_FIGURES,
  printable,
  type RunFigures,
} from '../report/index.ts'
import { type FailureRecord, readJsonLines } from '../store/index.ts'
import { EXIT } from './command.ts'
import type { CrawlJob, CrawlRequest } from './crawl-job.ts'

const WITHHELD = '[withheld]'

/** Seeds named when a crawl yields nothing; more would hide the message. */
const SEEDS_EXPLAINED_MAX = 5

/** What earlier stretches of this run took, before the crawl was opened anew; and where the run began. */
export interface RunSoFar extends Pick<RunFigures, 'pages' | 'failed' | 'bytes' | 'restarts'> {
  readonly ms: number
  readonly cpuMs: number
}

function peakRssBytes(): number {
  return process.resourceUsage().maxRSS * 1_024
}

/** The JSON object of a crawl that could not be: the same fields, nothing counted, and why. */
export function faultSummary(
  { dir, seeds, config }: CrawlRequest,
  fault: unknown,
): CrawlSummary & { readonly error: unknown } {
  const now = new Date(systemClock.wallMs()).toISOString()
  const nothing = {
    pages: 0,
    failed: 0,
    bytes: 0,
    seconds: 0,
    peakRssBytes: peakRssBytes(),
    cpuSeconds: 0,
    restarts: 0,
  }
  const { restarts: _, ...counts } = nothing
  return {
    ...counts,
    agents: config.agent.agents ?? 1,
    archive: NO_ARCHIVE_FIGURES,
    skipped: {},
    refused: {},
    failures: {},
    answers: { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, other: 0 },
    hosts: 0,
    urlsSeen: 0,
    waiting: 0,
    dir,
    stoppedBecause: fault instanceof Fault && fault.code === 'DISK_FULL' ? 'disk-full' : 'error',
    nextAskAt: null,
    run: nothing,
    seeds,
    startedAt: now,
    finishedAt: now,
    options: shareable(config),
    error: fault instanceof Fault ? { code: fault.code, message: fault.message } : { message: String(fault) },
  }
}

export function summaryOf(
  job: CrawlJob,
  { dir, config, cluster }: CrawlRequest,
  before: RunSoFar,
  stoppedBecause: StopReason,
  archive: ArchiveFigures,
): CrawlSummary {
  const { figures } = job
  const { totalMs, runMs, cpuMs, frontier, waitMs } = job.snapshot()
  const place = cluster === undefined ? {} : { cluster: cluster.place }
  return {
    ...place,
    pages: figures.pages,
    failed: figures.failed,
    skipped: figures.skipped,
    refused: figures.refused,
    failures: figures.failures,
    answers: figures.answers,
    bytes: figures.bytes,
    seconds: Math.round(totalMs) / 1_000,
    hosts: frontier.hosts,
    urlsSeen: figures.admitted,
    waiting: figures.waiting,
    peakRssBytes: Math.max(figures.earlierPeakRssBytes, peakRssBytes()),
    cpuSeconds: Math.round(figures.earlierCpuMs + cpuMs) / 1_000,
    agents: job.agents,
    archive,
    dir,
    stoppedBecause,
    nextAskAt:
      stoppedBecause === 'only-resting' && waitMs !== null
        ? new Date(systemClock.wallMs() + waitMs).toISOString()
        : null,
    run: {
      pages: figures.pages - before.pages,
      failed: figures.failed - before.failed,
      bytes: figures.bytes - before.bytes,
      seconds: Math.round(before.ms + runMs) / 1_000,
      peakRssBytes: peakRssBytes(),
      cpuSeconds: Math.round(before.cpuMs + cpuMs) / 1_000,
      restarts: before.restarts + job.restarts,
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
export async function explainNothing(
  dir: string,
  seeds: readonly string[],
  say: (text: string) => void,
): Promise<void> {
  const wanted = new Set(seeds.slice(0, SEEDS_EXPLAINED_MAX))
  const lines: string[] = []
  for await (const record of readJsonLines<FailureRecord>(join(dir, 'failures.jsonl'))) {
    if (wanted.delete(record.url)) {
      lines.push(`  ${printable(record.url)}: ${record.reason}, ${printable(record.detail)}\n`)
    }
    if (wanted.size === 0) break
  }
  say(lines.join(''))
}

/** The figures of a run that has ended, for a log: without settings and seeds. */
export function figuresAtEnd(summary: CrawlSummary): Record<string, unknown> {
  const { options: _, seeds: __, ...figures } = summary
  return figures
}

export function exitCodeOf({ stoppedBecause, pages, archive }: CrawlSummary, isAlone: boolean): number {
  switch (stoppedBecause) {
    case 'interrupted':
      return EXIT.interrupted.code
    case 'disk-full':
      return EXIT.diskFull.code
    case 'error':
      return EXIT.failed.code
    case 'finished':
      if (pages === 0 && isAlone) return EXIT.noPage.code
      return isShippedWhole(archive) ? EXIT.ok.code : EXIT.unshipped.code
    default:
      // A limit was reached; more may come when it goes on.
      return isShippedWhole(archive) ? EXIT.ok.code : EXIT.unshipped.code
  }
}
