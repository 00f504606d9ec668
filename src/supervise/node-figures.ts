// What several agents say of themselves, as one crawl says it.

import { CrawlFigures, type CrawlSnapshot, sumTotals } from '../agent/index.ts'
import type { AgentStatus, Earlier } from './agent-messages.ts'

/** What the agents' earlier runs took, as one: they ran side by side, and CPU is written down once. */
export function joinEarlier(all: readonly Earlier[]): Earlier {
  return {
    ms: Math.max(0, ...all.map(({ ms }) => ms)),
    cpuMs: all.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    peakRssBytes: Math.max(0, ...all.map(({ peakRssBytes }) => peakRssBytes)),
  }
}

export function figuresOf(statuses: readonly AgentStatus[], earlier: Earlier): CrawlFigures {
  const figures = CrawlFigures.from(sumTotals(statuses.map(({ totals }) => totals)))
  figures.earlierMs = earlier.ms
  figures.earlierCpuMs = earlier.cpuMs
  figures.earlierPeakRssBytes = earlier.peakRssBytes
  return figures
}

/** Time and CPU are what the agents write down: whoever looks at the crawl later is told the same. */
export function snapshotOf(
  statuses: readonly AgentStatus[],
  earlier: Earlier,
  isStopping: boolean,
  isPaused = false,
): CrawlSnapshot {
  const now = joinEarlier(statuses.map(({ totals }) => totals))
  // Less where an agent was started again: what it had not committed of it is gone.
  const totalMs = Math.max(now.ms, earlier.ms)
  const sum = (of: (status: AgentStatus) => number): number => statuses.reduce((total, one) => total + of(one), 0)
  const active = sum((one) => one.active)
  const waits = statuses.flatMap(({ waitMs }) => (waitMs === null ? [] : [waitMs]))
  return {
    figures: figuresOf(statuses, earlier),
    frontier: {
      waiting: sum(({ frontier }) => frontier.waiting),
      hosts: sum(({ frontier }) => frontier.hosts),
      ready: sum(({ frontier }) => frontier.ready),
      resting: sum(({ frontier }) => frontier.resting),
      parked: sum(({ frontier }) => frontier.parked),
      out: sum(({ frontier }) => frontier.out),
    },
    active,
    totalMs,
    runMs: totalMs - earlier.ms,
    cpuMs: Math.max(0, now.cpuMs - earlier.cpuMs),
    waitMs: active > 0 || waits.length === 0 ? null : Math.min(...waits),
    isStopping,
    isPaused,
  }
}
