// A crawl, put together: opens what an earlier run left in the directory, makes the parts of the walk
// from the settings, joins them, and closes everything in the end, whatever happened.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, type ClockMs, diskFault, type Random, type StopReason } from '../base/index.ts'
import { MemoryContentSeen } from '../content-seen/index.ts'
import { lockDirectory } from '../disk/index.ts'
import { CachingResolver, type DnsOptions } from '../dns/index.ts'
import { type DocumentOptions, Spool } from '../document/index.ts'
import { type FetchOptions, HttpFetcher, SchemeFetchers, userAgentOf } from '../fetch/index.ts'
import { type FrontierFigures, type FrontierOptions, MemoryFrontier } from '../frontier/index.ts'
import { type CrawlIdentity, JournalLedger } from '../ledger/index.ts'
import {
  LinkExtractor,
  LinkLog,
  PageStatistics,
  ProcessorChain,
  type ProcessorOptions,
  ReservedStrings,
} from '../processors/index.ts'
import type { ParseOptions } from '../parse/index.ts'
import { productTokenOf, RobotsCache, type RobotsOptions } from '../robots/index.ts'
import {
  type Archive,
  type ArchiveState,
  CdxjWriter,
  type FailureRecord,
  JsonLines,
  NullArchive,
  type PageRecord,
  sortCdxj,
  type StoreOptions,
  WarcWriter,
} from '../store/index.ts'
import { strategyOf, type StrategyOptions } from '../strategy/index.ts'
import {
  type CanonicalUrl,
  compileCanonicaliser,
  compileScope,
  Fingerprinter,
  type FingerprintKey,
  hostKeyOf,
  surt,
  type UrlOptions,
} from '../url/index.ts'
import { MemoryUrlSeen } from '../url-seen/index.ts'
import { Admission, type AdmissionSink } from './admission.ts'
import { Books, type CommittedFile } from './books.ts'
import { CrawlFigures } from './figures.ts'
import { IndexedArchive } from './indexed-archive.ts'
import type { AgentOptions } from './options.ts'
import { PageSettler } from './page-settler.ts'
import { Permits } from './permits.ts'
import { Pipeline } from './pipeline.ts'
import { replay, type Replayed } from './replay.ts'
import { RobotsDesk } from './robots-desk.ts'
import { Trouble } from './trouble.ts'
import { Visitor } from './visitor.ts'

export interface CrawlSettings {
  readonly agent: AgentOptions
  readonly url: UrlOptions
  readonly frontier: FrontierOptions
  readonly dns: DnsOptions
  readonly robots: RobotsOptions
  readonly document: DocumentOptions
  readonly fetch: FetchOptions
  readonly parse: ParseOptions
  readonly processors: ProcessorOptions
  readonly store: StoreOptions
  readonly strategy: StrategyOptions
}

export interface CrawlPlan {
  readonly dir: string
  /** Added to those of earlier runs. */
  readonly seeds: readonly CanonicalUrl[]
  readonly settings: CrawlSettings
  readonly clock: Clock
  readonly random: Random
  /** Made anew for a crawl that begins. */
  readonly newIdentity: () => CrawlIdentity
  /** `Portolan/0.1.0`, for the archive. */
  readonly software: string
  /** Where passwords named by variable are found. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** CPU time of this process so far. */
  readonly cpuMs: () => number
}

/** The figures of the moment, for progress and summary. */
export interface CrawlSnapshot {
  readonly figures: CrawlFigures
  readonly frontier: FrontierFigures
  readonly active: number
  readonly urlsSeen: number
  /** Milliseconds of crawling, over all runs and in this one. */
  readonly totalMs: number
  readonly runMs: number
  readonly cpuMs: number
  /** Milliseconds until somebody may be asked again, when nobody is being asked. */
  readonly waitMs: number | null
  readonly isStopping: boolean
}

/** Schemes this crawler has modules for. */
const SCHEMES = ['http', 'https'] as const

/** Files of a crawl's directory, by the names the ledger knows them by. */
const FILES = {
  archive: 'archive',
  pages: 'pages.jsonl',
  failures: 'failures.jsonl',
  index: 'state/index.cdxj',
  links: 'state/links.log',
} as const

export class Crawl {
  readonly identity: CrawlIdentity
  /** What this crawl went on from; a new one has nothing. */
  readonly isNew: boolean
  readonly statistics: PageStatistics
  readonly figures: CrawlFigures
  readonly #plan: CrawlPlan
  readonly #pipeline: Pipeline
  readonly #frontier: MemoryFrontier
  readonly #seen: MemoryUrlSeen
  readonly #startMs: ClockMs
  readonly #startCpuMs: number
  /** In the order of opening; closed from the last to the first. */
  readonly #closers: (() => Promise<unknown> | unknown)[]
  readonly #seeds: readonly CanonicalUrl[]

  private constructor(
    plan: CrawlPlan,
    parts: {
      identity: CrawlIdentity
      isNew: boolean
      statistics: PageStatistics
      figures: CrawlFigures
      pipeline: Pipeline
      frontier: MemoryFrontier
      seen: MemoryUrlSeen
      startMs: ClockMs
      startCpuMs: number
      closers: (() => Promise<unknown> | unknown)[]
      seeds: readonly CanonicalUrl[]
    },
  ) {
    this.#plan = plan
    this.identity = parts.identity
    this.isNew = parts.isNew
    this.statistics = parts.statistics
    this.figures = parts.figures
    this.#pipeline = parts.pipeline
    this.#frontier = parts.frontier
    this.#seen = parts.seen
    this.#startMs = parts.startMs
    this.#startCpuMs = parts.startCpuMs
    this.#closers = parts.closers
    this.#seeds = parts.seeds
  }

  get seeds(): readonly CanonicalUrl[] {
    return this.#seeds
  }

  /** What broke the crawl, when run() ended with 'error' or 'disk-full'. */
  get fault(): unknown {
    return this.#pipeline.fault
  }

  static async open(plan: CrawlPlan): Promise<Crawl> {
    const closers: (() => Promise<unknown> | unknown)[] = []
    try {
      return await Crawl.#assemble(plan, closers)
    } catch (fault) {
      await closeAll(closers)
      throw fault
    }
  }

  run(): Promise<StopReason> {
    return this.#pipeline.run()
  }

  stop(reason: StopReason): void {
    this.#pipeline.stop(reason)
  }

  snapshot(): CrawlSnapshot {
    const { clock, cpuMs } = this.#plan
    const runMs = clock.nowMs() - this.#startMs
    const readyMs = this.#pipeline.waitsUntilMs
    return {
      figures: this.figures,
      frontier: this.#frontier.figures(),
      active: this.#pipeline.active,
      urlsSeen: this.#seen.size,
      totalMs: this.figures.earlierMs + runMs,
      runMs,
      cpuMs: cpuMs() - this.#startCpuMs,
      waitMs: readyMs === null ? null : Math.max(0, readyMs - clock.nowMs()),
      isStopping: this.#pipeline.isStopping,
    }
  }

  /** Finishes files and sorts the index, then lets go of the directory. */
  async close(): Promise<void> {
    await closeAll(this.#closers)
  }

  static async #assemble(plan: CrawlPlan, closers: (() => Promise<unknown> | unknown)[]): Promise<Crawl> {
    const { dir, settings, clock, random, cpuMs } = plan
    const startMs = clock.nowMs()
    const startCpuMs = cpuMs()
    const state = join(dir, 'state')
    await mkdir(state, { recursive: true }).catch((cause: unknown) => {
      throw diskFault(`making ${state}`, cause)
    })
    const lock = await lockDirectory(state)
    closers.push(() => lock.release())

    const ledger = await JournalLedger.open({ path: join(state, 'ledger.log'), random, create: plan.newIdentity })
    closers.push(() => ledger.close())
    const fingerprinter = new Fingerprinter(keyOf(ledger.identity))
    const seen = new MemoryUrlSeen()
    const contentSeen = new MemoryContentSeen()
    const figures = new CrawlFigures()
    const past = await replay(ledger, { seen, fingerprinter, contentSeen, figures })

    const files = await openFiles(plan, ledger.identity, past, closers)
    const robotsCache = new RobotsCache(clock, {
      entriesMax: settings.robots.cacheEntries,
      bytesMax: Math.min(settings.robots.cacheBytes, settings.agent.memory / 16),
    })
    const frontier = new MemoryFrontier({
      clock,
      delayMs: settings.frontier.delay,
      ipDelayMs: settings.frontier.ipDelay,
      ipConnections: settings.frontier.ipConnections,
      urlsPerTurn: settings.frontier.urlsPerTurn,
    })
    restoreFrontier(frontier, past, settings)
    robotsCache.restore(past.robots)

    const scope = compileScope(settings.url)
    for (const seed of past.seeds) scope.addSeed(seed)

    const abort = new AbortController()
    const books = new Books({
      clock,
      ledger,
      figures,
      files: files.committed,
      writePage: (record) => files.pages.append(record),
      writeFailure: (record) => files.failures.append(record),
      spent: () => ({ ranMs: clock.nowMs() - startMs, cpuMs: cpuMs() - startCpuMs }),
      tickMs: settings.agent.tick,
      onFault: (fault) => pipeline.breakDown(fault),
    })
    const admission = new Admission({
      canonicalise: compileCanonicaliser(settings.url),
      schemes: new Set(SCHEMES),
      scope,
      fingerprinter,
      seen,
      strategy: strategyOf(settings.strategy),
      frontier,
      follow: new Set(settings.agent.follow),
      redirectsMax: settings.agent.redirects,
    })
    const bookSink: AdmissionSink = {
      admitted: (entry) => books.admitted(entry),
      refused: (reason) => books.refused(reason),
      linked: () => {},
    }
    const isObedient = settings.robots.robots === 'obey'
    const userAgent = userAgentOf(settings.fetch)
    const productToken = productTokenOf(userAgent)
    const desk = isObedient
      ? new RobotsDesk({
          clock,
          frontier,
          cache: robotsCache,
          archive: files.archive,
          productToken,
          retries: settings.agent.retries,
          crawlDelayMaxMs: settings.robots.crawlDelayMax,
          life: {
            ttlMs: settings.robots.ttl,
            ttlMinMs: settings.robots.ttlMin,
            unreachableTtlMs: settings.robots.unreachableTtl,
          },
          onLearnt: (note) => books.robots(note),
          onSitemaps: async (robotsUrl, sitemaps) => {
            if (settings.robots.sitemaps === 'follow') await admission.admitSitemaps(robotsUrl, sitemaps, bookSink)
          },
        })
      : null

    const statistics = new PageStatistics()
    const chain = new ProcessorChain(
      [
        new ReservedStrings(settings.processors.dropContaining),
        new LinkExtractor(settings.processors.parseBytes, settings.parse),
        statistics,
      ],
      () => {
        statistics.processorFailures++
      },
    )
    const permits = new Permits(settings.agent.maxPages === null ? Infinity : settings.agent.maxPages - figures.pages)
    const spool = new Spool(join(state, 'spool'), settings.document.memoryMax)
    const fetcher = new SchemeFetchers([new HttpFetcher(settings.fetch, spool, clock, plan.environment)], SCHEMES)
    closers.push(() => fetcher.close())
    const resolver = settings.fetch.proxy === '' ? new CachingResolver(settings.dns, clock) : null
    if (resolver !== null) closers.push(() => resolver.close())

    const visitor = new Visitor({
      clock,
      random,
      frontier,
      resolver,
      fetcher,
      desk,
      settler: new PageSettler({
        admission,
        archive: files.archive,
        books,
        chain,
        contentSeen,
        linkLog: files.linkLog,
        productToken: isObedient ? productToken : null,
        followsDuplicates: settings.agent.duplicates === 'follow',
      }),
      books,
      trouble: new Trouble(clock, settings.agent.hostMemory),
      permits,
      isStopping: () => pipeline.isStopping,
      signal: abort.signal,
      pagesOfHost: new Map(past.pagesOfHost),
      rules: {
        retries: settings.agent.retries,
        pauses: settings.agent.pauses,
        hostPages: settings.agent.hostPages,
        delayMs: settings.frontier.delay,
        latencyFactor: settings.frontier.latencyFactor,
        restMaxMs: settings.frontier.restMax,
        backoffBaseMs: settings.frontier.backoff,
        backoffMaxMs: settings.frontier.backoffMax,
        retryAfterMaxMs: settings.frontier.retryAfterMax,
      },
    })
    const pipeline: Pipeline = new Pipeline({
      clock,
      frontier,
      visitor,
      books,
      permits,
      connections: settings.agent.connections,
      maxWaitMs: settings.agent.maxWait,
      deadlineMs: settings.agent.maxTime === null ? null : startMs + settings.agent.maxTime - figures.earlierMs,
      abort: () => abort.abort(),
    })

    const seeds = [...past.seeds]
    for (const seed of plan.seeds) if (await admission.admitSeed(seed, bookSink)) seeds.push(seed)
    await books.commit()
    return new Crawl(plan, {
      identity: ledger.identity,
      isNew: past.isNew,
      statistics,
      figures,
      pipeline,
      frontier,
      seen,
      startMs,
      startCpuMs,
      closers,
      seeds,
    })
  }
}

interface CrawlFiles {
  readonly archive: Archive
  readonly pages: JsonLines<PageRecord>
  readonly failures: JsonLines<FailureRecord>
  readonly linkLog: LinkLog | null
  readonly committed: ReadonlyMap<string, CommittedFile>
}

/** Opens what the crawl writes, each cut back to what the ledger says of it. */
async function openFiles(
  { dir, settings, clock, software }: CrawlPlan,
  identity: CrawlIdentity,
  past: Replayed,
  closers: (() => Promise<unknown> | unknown)[],
): Promise<CrawlFiles> {
  const lengthOf = (name: keyof typeof FILES): { committedLength: number } => ({
    committedLength: (past.files[name] as number | undefined) ?? 0,
  })
  const pages = await JsonLines.open<PageRecord>(join(dir, FILES.pages), lengthOf('pages'))
  closers.push(() => pages.close())
  const failures = await JsonLines.open<FailureRecord>(join(dir, FILES.failures), lengthOf('failures'))
  closers.push(() => failures.close())
  const committed = new Map<string, CommittedFile>([
    ['pages', { state: () => pages.length, sync: () => pages.sync() }],
    ['failures', { state: () => failures.length, sync: () => failures.sync() }],
  ])

  let linkLog: LinkLog | null = null
  if (settings.agent.linkLog) {
    const log = await LinkLog.open(join(dir, FILES.links), { key: keyOf(identity), ...lengthOf('links') })
    closers.push(() => log.close())
    committed.set('links', { state: () => log.length, sync: () => log.sync() })
    linkLog = log
  }

  const { warc } = settings.store
  if (warc === 'off') return { archive: new NullArchive(), pages, failures, linkLog, committed }
  const writer = await WarcWriter.open({
    directory: dir,
    crawlName: identity.name,
    agent: 0,
    options: { ...settings.store, warc },
    info: {
      software,
      format: 'WARC File Format 1.1',
      robots: settings.robots.robots,
      isPartOf: identity.name,
      'http-header-user-agent': userAgentOf(settings.fetch),
    },
    clock,
    resumeFrom: (past.files['archive'] as ArchiveState | null | undefined) ?? null,
  })
  const index = await CdxjWriter.open({
    path: join(dir, FILES.index),
    surt: (url) => surt(url as CanonicalUrl),
    ...lengthOf('index'),
  })
  closers.push(async () => {
    await index.close()
    await sortCdxj([join(dir, FILES.index)], join(dir, 'archive/index.cdxj'))
  })
  closers.push(() => writer.close())
  committed.set('archive', {
    state: () => writer.state(),
    sync: () => writer.sync(),
    committed: (state) => writer.committed(state as ArchiveState),
  })
  committed.set('index', { state: () => index.length, sync: () => index.sync() })
  return { archive: new IndexedArchive(writer, index), pages, failures, linkLog, committed }
}

/** What waited waits again; nobody is asked before a full rest has passed since this start. */
function restoreFrontier(frontier: MemoryFrontier, past: Replayed, settings: CrawlSettings): void {
  for (const { origin, rules } of past.robots) {
    if (rules.crawlDelayMs === null) continue
    const host = hostKeyOf(`${origin}/` as CanonicalUrl)
    frontier.setLeastRest(host, Math.min(rules.crawlDelayMs, settings.robots.crawlDelayMax))
  }
  const hosts = new Set<ReturnType<typeof hostKeyOf>>()
  for (const entry of past.waiting) {
    frontier.offer(entry)
    hosts.add(entry.host)
  }
  for (const host of hosts) frontier.rest(host, Math.max(frontier.leastRestMs(host), past.rests.get(host) ?? 0))
}

function keyOf(identity: CrawlIdentity): FingerprintKey {
  const key = Buffer.from(identity.key, 'hex')
  return [key.readUInt32LE(0), key.readUInt32LE(4)]
}

/** From the last opened to the first; all are tried, the first fault is thrown. */
async function closeAll(closers: (() => Promise<unknown> | unknown)[]): Promise<void> {
  let firstFault: unknown
  for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
    try {
      await close()
    } catch (fault) {
      firstFault ??= fault
    }
  }
  if (firstFault !== undefined) throw firstFault
}
