// The parts of the walk, made from the settings and joined: this file is the wiring, pipeline.ts the current.

import { join } from 'node:path'
import { assert, type ClockMs, NO_FAULTS } from '../base/index.ts'
import { CachingResolver } from '../dns/index.ts'
import { Spool } from '../document/index.ts'
import type { ExchangeState } from '../exchange/index.ts'
import { type Fetcher, openAnswer, openFetcher, proxyResolvesNames, TypeFilter, userAgentOf } from '../fetch/index.ts'
import { type FrontierEntry, HostRules } from '../frontier/index.ts'
import { LinkExtractor, PageStatistics, ProcessorChain, ReservedStrings } from '../processors/index.ts'
import { type FailureRecord, readJsonLines } from '../store/index.ts'
import { OptOutPolicy, productTokenOf } from '../robots/index.ts'
import { type Strategy, strategyOf } from '../strategy/index.ts'
import { TrapWatch } from '../traps/index.ts'
import { type CanonicalUrl, compileCanonicaliser, compileScope, type Scope } from '../url/index.ts'
import { Admission, type AdmissionSink } from './admission.ts'
import { Books, type CommittedFile } from './books.ts'
import { BrokenVisits } from './broken-visits.ts'
import { compareOptions, type OptionChanges, type RememberedOptions } from './changed-options.ts'
import type { Closers } from './closers.ts'
import { CookieWalls } from './cookie-walls.ts'
import { TRAPS_FILE } from './crawl-files.ts'
import type { CrawlPlan, Share } from './crawl-plan.ts'
import type { Bell, CrawlState } from './crawl-state.ts'
import type { Spent } from './figures.ts'
import { HeadFirst } from './head-first.ts'
import { help } from './helping.ts'
import { Lending } from './lending.ts'
import { LearntRests, type MannersNote } from './learnt-rests.ts'
import { MachineLoad } from './machine-load.ts'
import { Manners } from './manners.ts'
import { Neighbours } from './neighbours.ts'
import { admitSeeds, type AdmittedSeeds, type SeedParts } from './new-seeds.ts'
import { Pace, type Speed, shareOfSpeed } from './pace.ts'
import { PacedFetcher } from './paced-fetcher.ts'
import { PageSettler } from './page-settler.ts'
import { PageWishes } from './page-wishes.ts'
import { Permits } from './permits.ts'
import { decideAlone, Pipeline } from './pipeline.ts'
import { requeue } from './requeue.ts'
import { Returns } from './returns.ts'
import { forgetUnreachable } from './robots-file.ts'
import { RobotsDesk } from './robots-desk.ts'
import { shareOf } from './speed-limit.ts'
import { Traces } from './traces.ts'
import { type GivenUpNote, Trouble } from './trouble.ts'
import { Visitor } from './visitor.ts'

export interface Walk {
  /** Null where one agent does it all. */
  readonly neighbours: Neighbours | null
  readonly permits: Permits
  readonly pipeline: Pipeline
  readonly pace: Pace
  readonly broken: BrokenVisits
  readonly books: Books
  readonly statistics: PageStatistics
  readonly seeds: readonly CanonicalUrl[]
  readonly strategy: Strategy
  readonly trouble: Trouble
  readonly traps: TrapWatch | null
  readonly changes: OptionChanges
  readonly traces: Traces
  /** Every URL that the scope goes out from: seeds, and what they redirected to, of all agents. */
  readonly scopeSeeds: () => Iterable<CanonicalUrl>
  /** Takes in more seeds while it runs; what it says is durable. */
  readonly addSeeds: (seeds: readonly CanonicalUrl[]) => Promise<AdmittedSeeds>
}

export async function joinWalk(
  plan: CrawlPlan,
  state: CrawlState,
  closers: Closers,
  startMs: ClockMs,
  spent: () => Spent,
  bell: Bell,
): Promise<Walk> {
  const { settings, clock, faults = NO_FAULTS } = plan
  const { agent, robots } = settings
  const { journal, figures, files, frontier, past } = state
  const before = (past.states['options'] as RememberedOptions | undefined) ?? null
  const changes = compareOptions(settings, before)
  // Other options are remembered once all that follows from them is done: a crash before must not lose it.
  let remembered = before ?? changes.remembered
  const seedsWritten = new Set(past.seeds.map((seed) => seed.url))
  const traces = new Traces(plan.onTrace ?? (() => {}))
  const books: Books = new Books({
    clock,
    journal,
    frontier,
    figures,
    files: filesOf(
      state,
      () => remembered,
      () => neighbours,
    ),
    otherFiles: past.states,
    writePage: (record) => files.pages.append(record),
    writeFailure: (record) => files.failures.append(record),
    writeHeld: (entry) => void files.held.append(entry),
    writeSeed: ({ url, via }) => {
      if (seedsWritten.has(url)) return
      seedsWritten.add(url)
      files.seeds.append({ url, via })
    },
    heldElsewhere: () => Math.min(state.heldElsewhere(), neighbours?.settled ?? Infinity),
    onDurable: (number, batch) => neighbours?.exchange.sendOut(number, batch),
    pressureAbroad: () => neighbours?.pressure(),
    beforeLast: state.writeOut,
    spent,
    tickMs: agent.tick,
    onFault: (fault) => pipeline.breakDown(fault),
    traces,
    faults,
  })
  const scope = compileScope(settings.url)
  for (const seed of past.seeds) scope.addSeed(seed.url)
  const strategy = strategyOf(settings.strategy)
  const neighbours: Neighbours | null =
    plan.share === null
      ? null
      : neighboursOf(plan.share, state, {
          books: () => books,
          admission: () => admission,
          desk: () => desk,
          onFault: (fault) => pipeline.breakDown(fault),
          wake: () => pipeline.pump(),
        })
  const admission: Admission = admissionOf(plan, state, scope, strategy, neighbours)
  const sink = sinkOf(books)
  const broken = new BrokenVisits(() => books.isBroken)
  const statistics = new PageStatistics()
  const policy = new OptOutPolicy(robots)
  const desk: RobotsDesk | null =
    robots.robots === 'obey'
      ? deskOf(plan, state, books, admission, sink, neighbours, broken, policy, (fault) => pipeline.breakDown(fault))
      : null
  const { returned } = state
  const rulesOfReturn = { isConditional: settings.fetch.conditional, isArchiving: settings.store.warc !== 'off' }
  const returns = returned === null ? null : new Returns(returned, rulesOfReturn)
  const traps = await trapsOf(plan, state, closers)
  const settler = new PageSettler({
    admission,
    archive: files.archive,
    books,
    chain: chainOf(plan, statistics),
    contentSeen: neighbours?.contents ?? state.contentSeen,
    linkLog: files.linkLog,
    obeysRobots: desk !== null,
    wishes: new PageWishes(policy, desk, productTokenOf(userAgentOf(settings.fetch))),
    followsDuplicates: agent.duplicates === 'follow',
    returns,
    traps,
    faults,
  })
  const trouble = await troubleOf(plan, state, books)
  const learnt = await learntRestsOf(plan, state, books)
  const manners = mannersOf(plan, state, trouble, learnt)
  const permits = permitsOf(plan, figures.pages, () => frontier.figures().waiting > 0)
  const abort = new AbortController()
  // Behind most proxies names are their business.
  const resolver = proxyResolvesNames(settings.fetch.proxy) ? null : new CachingResolver(settings.dns, clock)
  if (resolver !== null) closers.add(() => resolver.close())
  const pace = paceOf(plan, state, closers, () => pipeline.pump())
  const isStopping = (): boolean => pipeline.isStopping || pipeline.isPaused
  const spool = new Spool(join(plan.dir, 'state/spool'), settings.document.memoryMax, settings.document.memoryShared)
  const fetcher = new PacedFetcher(fetcherOf(plan, spool, closers), pace, broken, isStopping, plan.mayAsk)
  const heads = headFirstOf(plan)
  const turnsOfGiants = plan.share?.lending
  // Heads are asked for by us, and by the same rule what follows them.
  const lending =
    turnsOfGiants === undefined || heads !== null
      ? null
      : new Lending({
          turns: turnsOfGiants.lent,
          frontier,
          giantHost: agent.giantHost,
          isShort: () => pipeline.isShort,
          open: (answer) => openAnswer(answer, settings.fetch, spool),
          onLent: (by) => pipeline.borrowed(by === 1 ? -1 : 1),
          signal: abort.signal,
          broken,
        })
  turnsOfGiants?.borrowed.serve({
    mayHelp: () => pipeline.hasTime,
    ask: (turn) =>
      help(turn, {
        fetcher,
        onHelp: (by) => pipeline.borrowed(by),
        signal: abort.signal,
        onFault: (fault) => pipeline.breakDown(fault),
      }),
  })
  const visitor = new Visitor({
    clock,
    frontier,
    resolver,
    fetcher,
    desk,
    settler,
    books,
    returns,
    walls: new CookieWalls(compileCanonicaliser(settings.url), agent.redirects),
    heads,
    lending,
    rescope: changes.remembered.wasRescoped ? (entry) => scope.judge(entry.url, entry.depth) : null,
    trouble,
    manners,
    traps,
    broken,
    permits,
    traces,
    isStopping,
    turnsOut: () => pipeline.active,
    signal: abort.signal,
    rules: { retries: agent.retries, pauses: agent.pauses, hostPages: agent.hostPages },
    faults,
  })
  const pipeline: Pipeline = new Pipeline({
    clock,
    frontier,
    visitor,
    books,
    permits,
    pace,
    onIdle: (idle) => {
      if (plan.share === null) return decideAlone(idle, clock.nowMs(), agent.maxWait)
      if (idle.waiting === 0 || idle.isSpent) {
        // On several machines a batch is a message to an engine, and nobody waits for the end by the millisecond.
        if (plan.share.node == null) books.hurry()
        plan.share.onIdle()
      }
      return null
    },
    deadlineMs: agent.maxTime === null || plan.share !== null ? null : startMs + agent.maxTime - figures.earlierMs,
    beforeClose: async () => {
      await plan.share?.mayClose()
      await neighbours?.close()
    },
    abort: () => {
      abort.abort()
      // Names that are being asked for are not worth waiting for either.
      resolver?.close()
    },
  })
  bell.ring = () => pipeline.pump()
  if (neighbours !== null) {
    await neighbours.restore(journal)
    closers.add(() => neighbours.close())
  }
  const seedParts = { admission, books, scope, sink, isKnown: (seed: CanonicalUrl) => seedsWritten.has(seed) }
  const seeds = await goOn(plan, state, seedParts, strategy, trouble, changes)
  // From here on the last batch speaks of what is here.
  if (past.isMoved) books.noted()
  if (JSON.stringify(remembered) !== JSON.stringify(changes.remembered)) books.noted()
  remembered = changes.remembered
  await books.commit()
  const addSeeds = async (more: readonly CanonicalUrl[]): Promise<AdmittedSeeds> => {
    const admitted = await admitSeeds(more, seedParts)
    seeds.push(...admitted.added)
    await books.commit()
    pipeline.pump()
    return admitted
  }
  const scopeSeeds = (): Iterable<CanonicalUrl> => seedsWritten
  return {
    neighbours,
    permits,
    pipeline,
    pace,
    broken,
    books,
    statistics,
    seeds,
    strategy,
    trouble,
    traps,
    changes,
    traces,
    scopeSeeds,
    addSeeds,
  }
}

/** What this run adds to the past: new seeds, and what raised limits let in. Returns the seeds that were given. */
async function goOn(
  plan: CrawlPlan,
  { past, files, figures, robots }: CrawlState,
  seedParts: SeedParts,
  strategy: Strategy,
  trouble: Trouble,
  changes: OptionChanges,
): Promise<CanonicalUrl[]> {
  const { admission, books, scope, sink } = seedParts
  const seeds = past.seeds.filter((seed) => seed.via === null).map((seed) => seed.url)
  // A crawl of which nothing came is worth another try: the server may be up again, or --allow-private given.
  const isBarren = !past.isNew && figures.pages === 0
  const known = new Set(past.seeds.map((seed) => seed.url))
  const { added } = await admitSeeds(plan.seeds, seedParts)
  seeds.push(...added)
  const parts = { failures: files.failures, books, strategy, trouble, isSeed: (url: CanonicalUrl) => known.has(url) }
  if (isBarren) {
    const given = new Set<string>(plan.seeds)
    await requeue(parts, (record) => {
      if (!given.has(record.url)) return false
      if (forgetUnreachable(record.url as CanonicalUrl, robots, files.robots)) books.noted()
      return true
    })
  }
  if (changes.isScopeChanged) {
    const isBack = ({ url, depth }: FailureRecord): boolean => scope.judge(url as CanonicalUrl, depth) === null
    await requeue(parts, (record) => record.reason === 'scope-changed' && isBack(record))
  }
  if (changes.hasMoreHostPages) await requeue(parts, (record) => record.reason === 'host-budget')
  if (changes.isDeeper) {
    for await (const entry of readJsonLines<FrontierEntry>(files.held.path)) await admission.admitHeld(entry, sink)
  }
  return seeds
}

/** What every batch speaks of: files, parts on disk, options, and what came from other agents. */
function filesOf(
  state: CrawlState,
  options: () => RememberedOptions,
  neighbours: () => Neighbours | null,
): Map<string, CommittedFile> {
  return new Map<string, CommittedFile>([
    ...state.committed,
    ['options', { state: options }],
    [
      'exchange',
      {
        state: (number) => neighbours()?.state(number),
        committed: async (said) => neighbours()?.committed(said as ExchangeState),
      },
    ],
  ])
}

/** An agent among several has the permits it is granted. */
function permitsOf({ settings, share }: CrawlPlan, pages: number, isWanted: () => boolean): Permits {
  const { maxPages } = settings.agent
  if (maxPages === null) return new Permits(Infinity)
  if (share === null) return new Permits(maxPages - pages)
  return new Permits(0, () => {
    if (isWanted()) share.onShort()
  })
}

function neighboursOf(
  share: Share,
  { files, past, fingerprinter, contentSeen }: CrawlState,
  joints: {
    readonly books: () => Books
    readonly admission: () => Admission
    readonly desk: () => RobotsDesk | null
    readonly onFault: (fault: unknown) => void
    readonly wake: () => void
  },
): Neighbours {
  const { originals } = files
  assert(originals !== null, 'an agent among several keeps notes of originals')
  return new Neighbours({
    share,
    fingerprinter,
    books: joints.books,
    admission: joints.admission,
    contents: contentSeen,
    writeOriginal: (note) => originals.append(note),
    runErrand: async (url) => {
      const answer = joints.desk()?.runForNeighbour(url) ?? { kind: 'refused' as const }
      joints.wake()
      return answer
    },
    onFault: joints.onFault,
    wake: joints.wake,
    state: (past.states['exchange'] as ExchangeState | undefined) ?? null,
  })
}

function admissionOf(
  { settings }: CrawlPlan,
  state: CrawlState,
  scope: Scope,
  strategy: Strategy,
  neighbours: Neighbours | null,
): Admission {
  return new Admission({
    canonicalise: compileCanonicaliser(settings.url),
    seeds: state.past.seeds.map((seed) => seed.url),
    scope,
    fingerprinter: state.fingerprinter,
    seen: state.seen,
    strategy,
    follow: new Set(settings.agent.follow),
    redirectsMax: settings.agent.redirects,
    maxDepth: settings.url.maxDepth,
    owners: neighbours?.owners ?? null,
    obeysNofollow: settings.robots.robots === 'obey',
  })
}

function headFirstOf({ settings }: CrawlPlan): HeadFirst | null {
  const { headFirst, acceptTypes, rejectTypes } = settings.fetch
  return headFirst === 'never' ? null : new HeadFirst(headFirst, new TypeFilter(acceptTypes, rejectTypes))
}

async function troubleOf({ clock, settings }: CrawlPlan, { files }: CrawlState, books: Books): Promise<Trouble> {
  const trouble = new Trouble(clock, settings.agent.hostMemory, (note) => {
    files.givenUp.append(note)
    books.noted()
  })
  for await (const note of readJsonLines<GivenUpNote>(files.givenUp.path)) trouble.restore(note)
  return trouble
}

async function learntRestsOf(
  { clock, settings }: CrawlPlan,
  { files }: CrawlState,
  books: Books,
): Promise<LearntRests> {
  const learnt = new LearntRests(clock, settings.frontier.learntMax, (note) => {
    files.manners.append(note)
    books.noted()
  })
  for await (const note of readJsonLines<MannersNote>(files.manners.path)) learnt.restore(note)
  return learnt
}

function mannersOf(
  { clock, random, settings: { frontier: options } }: CrawlPlan,
  { frontier }: CrawlState,
  trouble: Trouble,
  learnt: LearntRests,
): Manners {
  return new Manners({
    clock,
    random,
    frontier,
    trouble,
    learnt,
    rules: HostRules.of(options.rules),
    settings: {
      delayMs: options.delay,
      latencyFactor: options.latencyFactor,
      restMaxMs: options.restMax,
      backoffBaseMs: options.backoff,
      backoffMaxMs: options.backoffMax,
      retryAfterMaxMs: options.retryAfterMax,
    },
  })
}

/** Of the budgets of domains an agent has the share that it has of the hosts. */
async function trapsOf(
  { dir, settings, clock, share }: CrawlPlan,
  { frontier }: CrawlState,
  closers: Closers,
): Promise<TrapWatch | null> {
  const { traps: options } = settings
  if (options.traps === 'off') return null
  const ours = (all: number | null): number | null =>
    all === null || share === null ? all : shareOf(all, share.agents, share.agent)
  const traps = await TrapWatch.open({
    options,
    budgets: { hosts: ours(options.domainHosts), pages: ours(options.domainPages) },
    clock,
    pagesOf: (host) => frontier.pagesOf(host),
    path: join(dir, TRAPS_FILE),
  })
  closers.add(() => traps.close())
  return traps
}

/** For what is admitted outside of any page: seeds and sitemaps. */
function sinkOf(books: Books): AdmissionSink {
  return {
    admitted: (entry) => books.admitted(entry),
    abroad: (entry) => books.abroad(entry),
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
  neighbours: Neighbours | null,
  broken: BrokenVisits,
  policy: OptOutPolicy,
  onFault: (fault: unknown) => void,
): RobotsDesk {
  const { robots, agent, fetch } = plan.settings
  return new RobotsDesk({
    clock: plan.clock,
    frontier: state.frontier,
    cache: state.robots,
    archive: state.files.archive,
    productToken: productTokenOf(userAgentOf(fetch)),
    others: neighbours === null ? null : neighbours.errands,
    onFault,
    broken,
    retries: agent.retries,
    pauses: agent.pauses,
    crawlDelays: state.crawlDelays,
    policy,
    life: { ttlMs: robots.ttl, ttlMinMs: robots.ttlMin, unreachableTtlMs: robots.unreachableTtl },
    onLearnt: (note) => {
      state.files.robots.append(note)
      books.noted()
    },
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

/** What an agent has of the limits: rates are the crawl's, wherever its agents are; connections are the machine's. */
function ownSpeed(total: Speed, { agent, agents, here }: Share): Speed {
  const { ratePerSecond, bytesPerSecond } = total
  const rates = shareOfSpeed({ ratePerSecond, bytesPerSecond }, agents, agent)
  return { ...total, ...rates, ...shareOfSpeed({ connections: total.connections }, here, agent % here) }
}

function paceOf({ settings, clock, share }: CrawlPlan, state: CrawlState, closers: Closers, onRoom: () => void): Pace {
  const { maxRate, maxBandwidth, connections, memory } = settings.agent
  const total: Speed = { ratePerSecond: maxRate, bytesPerSecond: maxBandwidth, connections }
  const load = new MachineLoad()
  closers.add(() => load.close())
  return new Pace({
    clock,
    speed: share === null ? total : ownSpeed(total, share),
    timeoutMs: Math.max(settings.fetch.connectTimeout, settings.fetch.headTimeout),
    load,
    memoryShare: () => process.memoryUsage.rss() / memory,
    ready: () => state.frontier.figures().ready,
    onRoom,
  })
}

function fetcherOf(
  { settings, clock, environment, share, mayAsk }: CrawlPlan,
  spool: Spool,
  closers: Closers,
): Fetcher {
  const { connectionsKept: all } = settings.fetch
  const connectionsKept = share === null ? all : Math.max(1, shareOf(all, share.here, share.agent % share.here))
  const cookieBytes = Math.ceil(settings.fetch.cookieBytes / (share?.here ?? 1))
  const options = { ...settings.fetch, connectionsKept, cookieBytes }
  const fetcher = openFetcher(options, spool, clock, environment, mayAsk)
  closers.add(() => spool.close())
  closers.add(() => fetcher.close())
  return fetcher
}
