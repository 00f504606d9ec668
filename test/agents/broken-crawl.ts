// A crawl whose parts are broken on purpose while it runs, and what that cost: how long until each part worked again, what the
// process kept of the dead ones.

import { readdirSync } from 'node:fs'
import {
  FAULT_POINT_NAMES,
  type FaultFigures,
  type FaultPoint,
  parseFaultPlan,
  systemClock,
} from '../../src/base/index.ts'
import type { CrewCare, NodeEvent } from '../../src/supervise/index.ts'
import { crawl, type CrawlOptions, type CrawlResult } from '../crawl/run-crawl.ts'

/** An agent's thread that was started again. */
export interface Repair {
  readonly agent: number
  readonly why: string
  /** From the fault itself until the next thread was told to run. */
  readonly ms: number
  /** Of the process, at that moment. */
  readonly openFiles: number
  readonly rssBytes: number
}

export interface BrokenCrawl {
  readonly result: CrawlResult
  readonly repairs: readonly Repair[]
  readonly otherEvents: readonly NodeEvent[]
  readonly faults: Readonly<Partial<Record<FaultPoint, FaultFigures>>>
  readonly seconds: number
}

/** Faults come at once here: they are no loop. */
const PATIENT: CrewCare = { restartsMax: Infinity, restartsWithinMs: 60_000, lookMs: 1_000 }

export async function crawlBroken(
  options: CrawlOptions & {
    readonly dir: string
    readonly agents: number
    /** As in PORTOLAN_FAULTS. */
    readonly faults: string
    readonly care?: Partial<CrewCare>
  },
): Promise<BrokenCrawl> {
  const repairs: Repair[] = []
  const otherEvents: NodeEvent[] = []
  let lastMs: (agent: number) => number = () => 0
  let figures: (point: FaultPoint) => FaultFigures | null = () => null
  const startMs = systemClock.nowMs()
  const result = await crawl({
    ...options,
    nodePlan: {
      faults: parseFaultPlan(options.faults),
      care: { ...PATIENT, ...options.care },
      onEvent: (event) => {
        if (event.kind !== 'agent-restarted') return otherEvents.push(event)
        const { agent, why } = event
        const ms = systemClock.wallMs() - lastMs(agent)
        repairs.push({ agent, why, ms, openFiles: openFiles(), rssBytes: process.memoryUsage.rss() })
      },
    },
    duringNode: (node) => {
      const { tally } = node
      if (tally === null) return
      lastMs = (agent) => tally.lastMs(agent)
      figures = (point) => tally.figures(point)
      options.duringNode?.(node)
    },
  })
  const struck = FAULT_POINT_NAMES.flatMap((point) => {
    const found = figures(point)
    return found === null || found.struck === 0 ? [] : [[point, found] as const]
  })
  const seconds = (systemClock.nowMs() - startMs) / 1_000
  return { result, repairs, otherEvents, faults: Object.fromEntries(struck), seconds }
}

/** Files and sockets of this process. */
export function openFiles(): number {
  return readdirSync('/proc/self/fd').length
}
