// The parts of the walk, made from the settings and joined: this file is the wiring, pipeline.ts the current.

import { join } from 'node:path'
import type { ClockMs } from '../base/index.ts'
import { CachingResolver } from '../dns/index.ts'
import { Spool } from '../document/index.ts'
import { type Fetcher, HttpFetcher, SchemeFetchers, userAgentOf } from '../fetch/index.ts'
import { LinkExtractor, PageStatistics, ProcessorChain, ReservedStrings } from '../processors/index.ts'
import { productTokenOf } from '../robots/index.ts'
import { strategyOf } from '../strategy/index.ts'
import { type CanonicalUrl, compileCanonicaliser, compileScope } from '../url/index.ts'
import { Admission, type AdmissionSink } from './admission.ts'
import { Books, type Spent } from './books.ts'
import type { Closers } from './closers.ts'
import type { CrawlPlan } from './crawl-plan.ts'
import type { CrawlState } from './crawl-state.ts'
import type { EndedUrl } from './replay.ts'
import { PageSettler } from './page-settler.ts'
import { Permits } from './permits.ts'
import { Pipeline } from './pipeline.ts'
import { RobotsDesk } from './robots-desk.ts'
import { Trouble } from './trouble.ts'
import { Visitor } from './visitor.ts'

export interface Walk {
  readonly pipeline: Pipeline
  readonly books: Books
  readonly statistics: PageStatistics
  readonly seeds: readonly CanonicalUrl[]
}

/** Schemes there is a protocol module for. */
const SCHEMES = ['http', 'https'] as const

export async function joinWalk(
  plan: CrawlPlan,
  state: CrawlState,
  closers: Closers,
  startMs: ClockMs,
  spent: () => Spent,
): Promise<Walk> {
  const { settings, clock, random } = plan
  const { agent, frontier: pace, robots } = settings
  const { ledger, figures, files, frontier, past } = state
  const books = new Books({
    clock,
    ledger,
    frontier,
    figures,
    files: files.committed,
    otherFiles: past.files,
    writePage: (record) => files.pages.append(record),
    writeFailure: (record) => files.failures.append(record),
    spent,
    tickMs: agent.tick,
    onFault: (fault) => pipeline.breakDown(fault),
  })
  const admission = admissionOf(plan, state)
  const sink = sinkOf(books)
  const statistics = new PageStatistics()
  const desk = robots.robots === 'obey' ? deskOf(plan, state, books, admission, sink) : null
  const settler = new PageSettler({
    admission,
    archive: files.archive,
    books,
    chain: chainOf(plan, statistics),
    contentSeen: state.contentSeen,
    linkLog: files.linkLog,
    productToken: productTokenOf(userAgentOf(settings.fetch)),
    obeysRobots: desk !== null,
    followsDuplicates: agent.duplicates === 'follow',
  })
  const permits = new Permits(agent.maxPages === null ? Infinity : agent.maxPages - figures.pages)
  const abort = new AbortController()
  // Behind a proxy names are its business.
  const resolver = settings.fetch.proxy === '' ? new CachingResolver(settings.dns, clock) : null
  if (resolver !== null) closers.add(() => resolver.close())
  const visitor = new Visitor({
    clock,
    random,
    frontier,
    resolver,
    fetcher: fetcherOf(plan, closers),
    desk,
    settler,
    books,
    trouble: new Trouble(clock, agent.hostMemory),
    permits,
    isStopping: () => pipeline.isStopping,
    signal: abort.signal,
    rules: {
      retries: agent.retries,
      pauses: agent.pauses,
      hostPages: agent.hostPages,
      delayMs: pace.delay,
      latencyFactor: pace.latencyFactor,
      restMaxMs: pace.restMax,
      backoffBaseMs: pace.backoff,
      backoffMaxMs: pace.backoffMax,
      retryAfterMaxMs: pace.retryAfterMax,
    },
  })
  const pipeline: Pipeline = new Pipeline({
    clock,
    frontier,
    visitor,
    books,
    permits,
    connections: agent.connections,
    maxWaitMs: agent.maxWait,
    deadlineMs: agent.maxTime === null ? null : startMs + agent.maxTime - figures.earlierMs,
    abort: () => {
      abort.abort()
      // Names that are being asked for are not worth waiting for either.
      resolver?.close()
    },
  })
  const seeds = await goOn(plan, state, admission, books, sink)
  await books.commit()
  return { pipeline, books, statistics, seeds }
}

/** What this run adds to the past: new seeds, and what raised limits let in. Returns the seeds that were given. */
async function goOn(
  plan: CrawlPlan,
  { past, figures }: CrawlState,
  admission: Admission,
  books: Books,
  sink: AdmissionSink,
): Promise<CanonicalUrl[]> {
  const { hostPages } = plan.settings.agent
  const seeds = past.seeds.filter((entry) => entry.via === null).map((entry) => entry.url)
  const askAgain = ({ entry, verdict }: EndedUrl): void => books.requeued(entry, verdict)
  // A crawl of which nothing came is worth another try: the server may be up again, or --allow-private given.
  const isBarren = figures.pages === 0
  for (const seed of plan.seeds) {
    const ended = past.ended.get(seed)
    if (await admission.admitSeed(seed, sink)) seeds.push(seed)
    else if (isBarren && ended !== undefined) askAgain(ended)
  }
  for (const entry of past.held) await admission.admitHeld(entry, sink)
  for (const ended of past.ended.values()) {
    const { entry, verdict } = ended
    const isOverBudget = verdict.kind === 'skipped' && verdict.reason === 'host-budget'
    const pages = past.pagesOfHost.get(entry.host) ?? 0
    if (isOverBudget && (hostPages === null || pages < hostPages)) askAgain(ended)
  }
  return seeds
}

function admissionOf({ settings }: CrawlPlan, { fingerprinter, seen, past }: CrawlState): Admission {
  const scope = compileScope(settings.url)
  for (const seed of past.seeds) scope.addSeed(seed.url)
  return new Admission({
    canonicalise: compileCanonicaliser(settings.url),
    schemes: new Set(SCHEMES),
    scope,
    fingerprinter,
    seen,
    strategy: strategyOf(settings.strategy),
    follow: new Set(settings.agent.follow),
    redirectsMax: settings.agent.redirects,
    maxDepth: settings.url.maxDepth,
    obeysNofollow: settings.robots.robots === 'obey',
  })
}

/** For what is admitted outside of any page: seeds and sitemaps. */
function sinkOf(books: Books): AdmissionSink {
  return {
    admitted: (entry) => books.admitted(entry),
    refused: (reason) => books.refused(reason),
    held: (entry) => books.held(entry),
    linked: () => {},
  }
}

function deskOf(
  plan: CrawlPlan,
  state: CrawlState,
  books: Books,
  admission: Admission,
  sink: AdmissionSink,
): RobotsDesk {
  const { robots, agent, fetch } = plan.settings
  return new RobotsDesk({
    clock: plan.clock,
    frontier: state.frontier,
    cache: state.robots,
    archive: state.files.archive,
    productToken: productTokenOf(userAgentOf(fetch)),
    retries: agent.retries,
    pauses: agent.pauses,
    crawlDelays: state.crawlDelays,
    life: { ttlMs: robots.ttl, ttlMinMs: robots.ttlMin, unreachableTtlMs: robots.unreachableTtl },
    onLearnt: (note) => books.robots(note),
    onSitemaps: async (robotsUrl, sitemaps) => {
      if (robots.sitemaps === 'follow') await admission.admitSitemaps(robotsUrl, sitemaps, sink)
    },
  })
}

function chainOf({ settings }: CrawlPlan, statistics: PageStatistics): ProcessorChain {
  const { dropContaining, parseBytes } = settings.processors
  return new ProcessorChain(
    [new ReservedStrings(dropContaining), new LinkExtractor(parseBytes, settings.parse), statistics],
    () => {
      statistics.processorFailures++
    },
  )
}

function fetcherOf({ dir, settings, clock, environment }: CrawlPlan, closers: Closers): Fetcher {
  const spool = new Spool(join(dir, 'state/spool'), settings.document.memoryMax)
  const fetcher = new SchemeFetchers([new HttpFetcher(settings.fetch, spool, clock, environment)], SCHEMES)
  closers.add(() => spool.close())
  closers.add(() => fetcher.close())
  return fetcher
}
