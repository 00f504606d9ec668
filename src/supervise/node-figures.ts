// What several agents say of themselves, as one crawl says it.

import { CrawlFigures, type CrawlSnapshot, type CrawlTotals, sumTotals } from '../agent/index.ts'
import type { AgentStatus } from './agent-messages.ts'

/** Time, CPU and memory of earlier runs. */
export type Earlier = Pick<CrawlTotals, 'ms' | 'cpuMs' | 'peakRssBytes'>

/** What the node knows by itself. */
export interface OwnFigures {
  readonly earlier: Earlier
  /** Of this run. */
  readonly ms: number
  readonly cpuMs: number
  readonly isStopping: boolean
}

export function figuresOf(statuses: readonly AgentStatus[], earlier: Earlier): CrawlFigures {
  const figures = CrawlFigures.from(sumTotals(statuses.map(({ totals }) => totals)))
  figures.earlierMs = earlier.ms
  figures.earlierCpuMs = earlier.cpuMs
  figures.earlierPeakRssBytes = earlier.peakRssBytes
  return figures
}

export function snapshotOf(statuses: readonly AgentStatus[], own: OwnFigures): CrawlSnapshot {
  // A run that finds nothing to do takes no time off the crawl.
  const wasTouched = statuses.some((status) => status.wasTouched)
  const runMs = wasTouched ? own.ms : 0
  const sum = (of: (status: AgentStatus) => number): number => statuses.reduce((total, one) => total + of(one), 0)
  const active = sum((one) => one.active)
  const waits = statuses.flatMap(({ waitMs }) => (waitMs === null ? [] : [waitMs]))
  return {
    figures: figuresOf(statuses, own.earlier),
    frontier: {
      waiting: sum(({ frontier }) => frontier.waiting),
      hosts: sum(({ frontier }) => frontier.hosts),
      ready: sum(({ frontier }) => frontier.ready),
      resting: sum(({ frontier }) => frontier.resting),
      parked: sum(({ frontier }) => frontier.parked),
      out: sum(({ frontier }) => frontier.out),
    },
    active,
    totalMs: own.earlier.ms + runMs,
    runMs,
    cpuMs: wasTouched ? own.cpuMs : 0,
    waitMs: active > 0 || waits.length === 0 ? null : Math.min(...waits),
    isStopping: own.isStopping,
  }
}
