import { expect, test } from 'vitest'
import { CrawlFigures } from '../agent/index.ts'
import type { AgentStatus, Earlier } from './agent-messages.ts'
import { joinEarlier, snapshotOf } from './node-figures.ts'

const EARLIER: Earlier = { ms: 1_000, cpuMs: 400, peakRssBytes: 5 }

/** What an agent says that has gone on from `earlier` for so long. */
function statusOf(earlier: Earlier, ms: number, cpuMs: number, active = 0, waitMs: number | null = null): AgentStatus {
  const figures = new CrawlFigures()
  figures.earlierMs = earlier.ms
  figures.earlierCpuMs = earlier.cpuMs
  figures.pages = 3
  const frontier = { waiting: 1, hosts: 2, ready: 3, resting: 4, parked: 5, out: 6 }
  const standing = { isQuiet: true, moves: 0, waiting: 1, isSpent: false, permits: 0, readyInMs: null }
  return {
    totals: figures.totals(2, { ms, cpuMs, peakRssBytes: 9 }),
    frontier,
    active,
    waitMs,
    standing,
    pagesLength: 0,
    failures: { length: 0, edition: 0 },
  } as Partial<AgentStatus> as AgentStatus
}

test('time is that of the agent that ran longest, CPU that of all, as the next run will find them', () => {
  const second: Earlier = { ms: 900, cpuMs: 0, peakRssBytes: 7 }
  const earlier = joinEarlier([EARLIER, second])
  expect(earlier).toEqual({ ms: 1_000, cpuMs: 400, peakRssBytes: 7 })
  const statuses = [statusOf(EARLIER, 250, 80), statusOf(second, 300, 0)]
  const snapshot = snapshotOf(statuses, earlier, false)
  expect(snapshot).toMatchObject({ totalMs: 1_250, runMs: 250, cpuMs: 80, isStopping: false })
  expect(snapshot.figures).toMatchObject({ pages: 6, earlierMs: 1_000, earlierCpuMs: 400, earlierPeakRssBytes: 7 })
  expect(joinEarlier(statuses.map(({ totals }) => totals))).toMatchObject({
    ms: snapshot.totalMs,
    cpuMs: earlier.cpuMs + snapshot.cpuMs,
  })
})

test('a run that finds nothing to do takes no time', () => {
  expect(snapshotOf([statusOf(EARLIER, 0, 0)], EARLIER, false)).toMatchObject({ totalMs: 1_000, runMs: 0, cpuMs: 0 })
})

test('nothing runs backwards when an agent that was started again has lost some of its time', () => {
  expect(snapshotOf([statusOf({ ...EARLIER, ms: 0, cpuMs: 0 }, 5, 5)], EARLIER, false)).toMatchObject({
    totalMs: 1_000,
    runMs: 0,
    cpuMs: 0,
  })
})

test('a crawl waits only while none of its agents asks anybody, and until the first of them may', () => {
  const resting = (active: number): AgentStatus[] => [
    statusOf(EARLIER, 1, 1, 0, 400),
    statusOf(EARLIER, 1, 1, active, 200),
  ]
  expect(snapshotOf(resting(0), EARLIER, false)).toMatchObject({
    active: 0,
    waitMs: 200,
    frontier: { hosts: 4, out: 12 },
  })
  expect(snapshotOf(resting(1), EARLIER, false)).toMatchObject({ active: 1, waitMs: null })
})
