// A crawl at a moment: for the progress line, and for the course that is kept of it.

import { formatDuration, systemClock } from '../base/index.ts'
import type { CrawlConfig } from '../config/index.ts'
import type { TimelineSample } from '../report/index.ts'
import type { CrawlJob } from './crawl-job.ts'
import type { Snapshot } from './progress.ts'

function skippedTotal(job: CrawlJob): number {
  return Object.values(job.figures.skipped).reduce((sum, count) => sum + count, 0)
}

export function snapshotOf(job: CrawlJob, config: CrawlConfig): Snapshot {
  const { frontier, active, totalMs, waitMs, isStopping, isPaused, done } = job.snapshot()
  const { maxPages, maxTime } = config.agent
  const waits =
    waitMs !== null && waitMs > 2_000 ? `everybody rests for ${formatDuration(Math.round(waitMs / 1_000) * 1_000)}` : ''
  return {
    atMs: systemClock.nowMs(),
    pages: job.figures.pages,
    failed: job.figures.failed,
    skipped: skippedTotal(job),
    bytes: job.figures.bytes,
    ...(done === undefined ? {} : { done }),
    waiting: job.figures.waiting,
    hosts: frontier.hosts,
    active,
    resting: frontier.resting,
    maxPages,
    leftMs: maxTime === null ? null : maxTime - totalMs,
    note: isStopping ? 'stopping' : isPaused ? 'paused' : waits,
  }
}

export function sampleOf(job: CrawlJob): TimelineSample {
  const { active, totalMs, cpuMs, frontier } = job.snapshot()
  return {
    t: Math.round(totalMs / 100) / 10,
    pages: job.figures.pages,
    bytes: job.figures.bytes,
    failed: job.figures.failed,
    skipped: skippedTotal(job),
    waiting: job.figures.waiting,
    hosts: frontier.hosts,
    active,
    rssBytes: process.memoryUsage.rss(),
    cpuSeconds: Math.round(job.figures.earlierCpuMs + cpuMs) / 1_000,
  }
}
