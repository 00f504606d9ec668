// Runs a crawl inside the test's own process and reads what it left behind.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Crawl, type CrawlSettings, type CrawlSnapshot } from '../../src/agent/index.ts'
import { type Clock, Random, type StopReason, systemClock } from '../../src/base/index.ts'
import { type FlagValue, readConfig, SECTIONS } from '../../src/config/index.ts'
import type { CrawlIdentity } from '../../src/ledger/index.ts'
import { CrawlNode, type NodePlan } from '../../src/supervise/index.ts'
import { type FailureRecord, type PageRecord, readJsonLines } from '../../src/store/index.ts'
import { canonicalise, type CanonicalUrl } from '../../src/url/index.ts'
import type { TestWeb } from '../../testweb/index.ts'

export interface CrawlResult {
  readonly dir: string
  readonly reason: StopReason
  readonly snapshot: CrawlSnapshot
  readonly pages: readonly PageRecord[]
  readonly failures: readonly FailureRecord[]
}

export interface CrawlOptions {
  readonly seeds: readonly string[]
  /** As on the command line, without dashes. */
  readonly flags?: Readonly<Record<string, FlagValue>>
  /** As in a configuration file. */
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly dir?: string
  /** Called while it runs, with a way to stop it. */
  readonly during?: (crawl: Crawl) => void
  /** The system's unless given; threads have that of the system always. */
  readonly clock?: Clock
  /** In threads of their own; 0, the default, is one agent in this thread. */
  readonly agents?: number
  readonly duringNode?: (node: CrawlNode) => void
  /** What is told to a node beyond this. */
  readonly nodePlan?: Partial<Pick<NodePlan, 'faults' | 'care' | 'onEvent'>>
  /** Done before it runs. */
  readonly before?: (crawl: Crawl) => Promise<void>
}

/** A directory that is gone when the test is over. */
export function temporaryDirectory(onCleanup: (fn: () => void) => void): string {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-test-'))
  onCleanup(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** What most crawls of the test web want: its own addresses, no rest, quick back-off. */
export const FAST: Readonly<Record<string, FlagValue>> = { 'allow-private': true, delay: '0ms', warc: 'none' }
export const QUICK_BACKOFF = { frontier: { backoff: '5ms', backoffMax: '20ms', retryAfterMax: '50ms' } } as const

export async function crawl({
  seeds,
  flags = FAST,
  config = QUICK_BACKOFF,
  dir,
  during,
  duringNode,
  nodePlan = {},
  agents = 0,
  before,
  clock = systemClock,
}: CrawlOptions & { dir: string }): Promise<CrawlResult> {
  const settings = settingsOf(flags, config)
  const wanted = seeds.map((seed) => canonicalise(seed) as CanonicalUrl)
  const job =
    agents === 0
      ? await openHere(dir, wanted, settings, clock)
      : await openNode(dir, wanted, settings, agents, nodePlan)
  let reason: StopReason
  try {
    if (job instanceof Crawl) {
      await before?.(job)
      during?.(job)
    } else duringNode?.(job)
    reason = await job.run()
    if (job.fault !== null) throw job.fault
  } finally {
    await job.close()
  }
  return {
    dir,
    reason,
    snapshot: job.snapshot(),
    pages: await Array.fromAsync(readJsonLines<PageRecord>(join(dir, 'pages.jsonl'))),
    failures: await Array.fromAsync(readJsonLines<FailureRecord>(join(dir, 'failures.jsonl'))),
  }
}

/** What flags and a configuration file come to. */
export function settingsOf(
  flags: Readonly<Record<string, FlagValue>>,
  config: NonNullable<CrawlOptions['config']> = QUICK_BACKOFF,
): CrawlSettings {
  const file = { name: 'test', content: config }
  const result = readConfig(SECTIONS, { flags: new Map(Object.entries(flags)), environment: {}, file })
  if (result.kind === 'problems') throw new Error(JSON.stringify(result.problems))
  return result.config
}

function openHere(dir: string, seeds: readonly CanonicalUrl[], settings: CrawlSettings, clock: Clock): Promise<Crawl> {
  return Crawl.open({
    dir,
    isLocked: false,
    share: null,
    seeds,
    settings,
    clock,
    random: new Random('crawl'),
    newIdentity,
    software: 'Portolan/test',
    environment: {},
    cpuMs: () => 0,
    peakRssBytes: () => 1,
  })
}

function openNode(
  dir: string,
  seeds: readonly CanonicalUrl[],
  settings: CrawlSettings,
  agents: number,
  nodePlan: Partial<NodePlan>,
): Promise<CrawlNode> {
  return CrawlNode.open({
    dir,
    seeds,
    settings: { ...settings, agent: { ...settings.agent, agents } },
    clock: systemClock,
    newIdentity,
    software: 'Portolan/test',
    environment: {},
    agentsUsual: 1,
    onEvent: () => {},
    ...nodePlan,
  })
}

export function newIdentity(): CrawlIdentity {
  return { name: 'test', key: '0011223344556677', startedAtMs: systemClock.wallMs() }
}

/** Flags that make a crawl resolve names by the web's own server. */
export function dnsFlags(web: TestWeb): Readonly<Record<string, FlagValue>> {
  return { dns: [`${web.dns.address}:${web.dns.port}`] }
}
