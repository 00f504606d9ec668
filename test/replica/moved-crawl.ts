// A crawl whose state is kept in an engine, run in the test's own process, on one "machine" (a directory) after another.

import { Crawl, REPLICA_FILES, type Share } from '../../src/agent/index.ts'
import { type Clock, Random, type StopReason, systemClock } from '../../src/base/index.ts'
import type { Engine } from '../../src/engine/index.ts'
import { SharedIpGate } from '../../src/frontier/index.ts'
import type { CrawlIdentity } from '../../src/ledger/index.ts'
import { type HeldShare, ShareLog, ShareReplica } from '../../src/replica/index.ts'
import type { CanonicalUrl } from '../../src/url/index.ts'
import { type CrawlOptions, FAST, settingsOf } from '../crawl/run-crawl.ts'

export const IDENTITY: CrawlIdentity = { name: 'moved', key: '0011223344556677', startedAtMs: 1_700_000_000_000 }

/** Takes share 0 from whoever has it. */
export async function takeShare(engine: Engine, node: string, incarnation: string): Promise<HeldShare> {
  const log = await ShareLog.open(engine, 0)
  for (;;) {
    const held = await log.begin({ node, incarnation }, await log.standing())
    if (held !== null) return held
  }
}

export interface Stay {
  readonly engine: Engine
  readonly node: string
  readonly incarnation: string
  readonly dir: string
  /** How wrong the machine's calendar is. */
  readonly skewMs: number
  readonly seeds: readonly CanonicalUrl[]
  readonly flags?: CrawlOptions['flags']
  /** As a node of a cluster of one share, whose name stands in the names of its files. */
  readonly isNamed?: boolean
  /** Called while it runs; what it gives is waited for before the crawl is closed. */
  readonly during?: (crawl: Crawl, replica: ShareReplica) => Promise<unknown> | undefined
}

export interface StayResult {
  readonly reason: StopReason
  readonly fault: unknown
  readonly replica: ShareReplica
}

/** The crawl's stay on one machine, until it ends, is stopped, or is taken away. */
export async function stay(options: Stay): Promise<StayResult> {
  const { engine, node, incarnation, dir, skewMs, seeds, during, flags = FAST, isNamed = false } = options
  const clock: Clock = { ...systemClock, wallMs: () => systemClock.wallMs() + skewMs }
  const held = await takeShare(engine, node, incarnation)
  const random = new Random(incarnation)
  const replica = await ShareReplica.open({
    engine,
    held,
    dir,
    crawlDir: dir,
    identity: IDENTITY,
    files: REPLICA_FILES,
    clock,
    random,
    isFenced: () => false,
  })
  const crawl: Crawl = await Crawl.open({
    dir,
    isLocked: false,
    share: isNamed ? shareOf(node, dir, flags, () => crawl.stop('finished')) : null,
    keeper: replica,
    seeds,
    settings: settingsOf(flags),
    clock,
    random,
    newIdentity: () => IDENTITY,
    software: 'Portolan/test',
    environment: {},
    cpuMs: () => 0,
    peakRssBytes: () => 1,
  })
  let reason: StopReason
  try {
    const beside = during?.(crawl, replica)
    reason = await crawl.run()
    await beside
  } finally {
    await replica.settle()
    await crawl.close().catch(() => {})
  }
  if (crawl.fault === null) await replica.release()
  else replica.close()
  return { reason, fault: crawl.fault, replica }
}

function shareOf(node: string, crawlDir: string, flags: NonNullable<CrawlOptions['flags']>, onIdle: () => void): Share {
  const { ipDelay: ipDelayMs, ipConnections } = settingsOf(flags).frontier
  const gate = { ipDelayMs, ipConnections }
  return {
    ...{ agent: 0, agents: 1, here: 1, node, crawlDir, domainGate: null, turns: [] },
    ipGate: new SharedIpGate(SharedIpGate.allocate(1), 0, gate, performance.timeOrigin),
    onIdle,
    mayClose: async () => {},
    onShort: () => {},
  }
}

/** Calls back once, when the crawl has got this far. */
export function whenPages<T>(crawl: Crawl, pages: number, then: () => Promise<T>): Promise<T> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (crawl.figures.pages < pages) return
      clearInterval(timer)
      resolve(then())
    }, 1)
  })
}
