// A crawl of several machines as the API sees it, from any machine that reaches the engine. What is common to all stands in records;
// what a node has is asked of it and put together, bounded.
//
//   records ──▶ definition, wishes, views: settings, changes, events       makeWish ◀── stop, drain, weight, speed …
//   nodes ────▶ figures of each share ──▶ crawl, agents, nodes, metrics    (cluster-nodes.ts)
//        ╰────▶ `control` questions ────▶ pages, failures, hosts, explain  (merged-lists.ts, node-answers.ts)
//
// What was fixed when the crawl was set up is refused with the reason.

import { Fault, type StopReason, STOPS, systemClock } from '../base/index.ts'
import {
  clusterHistory,
  type CrawlDefinition,
  describeWish,
  makeWish,
  readDefinition,
  type Wish,
  type WishKind,
} from '../cluster/index.ts'
import { connectEngine, type Engine, type EngineSettings } from '../engine/index.ts'
import { printable } from '../report/index.ts'
import { type ClusterLook, type ControlAnswer, loadClusterLook, type NodeFigures } from '../supervise/index.ts'
import type { AnswerOf, CrawlEvent, CrawlInfo } from './api.ts'
import { agentRow, ClusterFigures, goneNodeRow, nodeRow } from './cluster-nodes.ts'
import { clusterSlowness } from './cluster-slowness.ts'
import type { Asked, Asker, CrawlSource, CrawlSources } from './crawl-source.ts'
import { mergeLists, type PartOfList } from './merged-lists.ts'
import { renderMetrics } from './metrics.ts'
import type { NodeRoute } from './node-answers.ts'
import { listSettings } from './option-changes.ts'
import { FieldsFault } from './refusals.ts'
import type { SaidOptions } from './steered-crawl.ts'
import { sumStatistics } from './sum-statistics.ts'
import { WorkRates } from './work-rates.ts'

/** Everybody who asks within this time is told the same. */
const LOOK_FRESH_MS = 900
const LOOK_EVERY_MS = 1_000
/** How long nodes may take to answer a question of the API. */
const ANSWER_MS = 5_000
const SAMPLES_MAX = 2_000

type Sample = AnswerOf<'timeline'>['samples'][number]

/** What nodes are asked with; by default over the engine. */
type AskNode = Awaited<ReturnType<typeof loadClusterLook>>['askNode']
type LookAtCluster = Awaited<ReturnType<typeof loadClusterLook>>['lookAtCluster']

export class ClusterCrawl implements CrawlSource {
  readonly id: string
  readonly #engine: Engine
  readonly #definition: CrawlDefinition
  readonly #askNode: AskNode
  readonly #lookAtCluster: LookAtCluster
  readonly #figures = new ClusterFigures()
  readonly #rates = new WorkRates()
  readonly #watchers = new Set<{ onInfo: (info: CrawlInfo) => void; onEvent: (event: CrawlEvent) => void }>()
  #looking: { readonly atMs: number; readonly look: Promise<ClusterLook> } | null = null
  #samples: Sample[] = []
  #gapSeconds = 1
  #timer: NodeJS.Timeout | null = null
  #isTicking = false
  #lastEvent: number | null = null

  private constructor(
    crawl: string,
    engine: Engine,
    definition: CrawlDefinition,
    tools: { readonly askNode: AskNode; readonly lookAtCluster: LookAtCluster },
  ) {
    this.id = crawl
    this.#engine = engine
    this.#definition = definition
    this.#askNode = tools.askNode
    this.#lookAtCluster = tools.lookAtCluster
  }

  /** Fails where there is no engine or no such crawl. */
  static async open(settings: EngineSettings): Promise<ClusterCrawl> {
    const engine = await connectEngine(settings)
    try {
      return new ClusterCrawl(settings.crawl, engine, await readDefinition(engine), await loadClusterLook())
    } catch (fault) {
      await engine.close()
      throw fault
    }
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#watchers.clear()
    await this.#engine.close()
  }

  // ── How it stands ──

  async crawl(): Promise<CrawlInfo> {
    return this.#infoOf(await this.#look())
  }

  async agents(): Promise<AnswerOf<'agents'>> {
    await this.#look()
    return { agents: this.#figures.agents.map(agentRow) }
  }

  async nodes(): Promise<AnswerOf<'nodes'>> {
    const { status, figures, left } = await this.#look()
    const gone = [...left].map(([node, one]) => goneNodeRow(node, one))
    const nodes = status.nodes.map((node) => nodeRow(node, figures.get(node.node) ?? null))
    return { shares: this.#definition.shares, nodes: [...nodes, ...gone] }
  }

  /** As it was seen from here: since somebody looks. Nodes keep a course of their own in their directories. */
  async timeline(): Promise<AnswerOf<'timeline'>> {
    await this.#look()
    return { samples: this.#samples }
  }

  async metrics(): Promise<string> {
    const [info, { agents }, nodes] = [await this.crawl(), await this.agents(), await this.nodes()]
    const frontiers = this.#figures.agents.map(({ frontier }) => frontier)
    const more = {
      restarts: this.#figures.sum(({ restarts }) => restarts),
      hostsParked: frontiers.reduce((sum, { parked }) => sum + parked, 0),
      hostsOut: frontiers.reduce((sum, { out }) => sum + out, 0),
    }
    return renderMetrics([{ info, agents, nodes, more: info.now === null ? {} : more }])
  }

  watch(onInfo: (info: CrawlInfo) => void, onEvent: (event: CrawlEvent) => void): () => void {
    const watcher = { onInfo, onEvent }
    this.#watchers.add(watcher)
    this.#timer ??= setInterval(() => void this.#tick(), LOOK_EVERY_MS)
    return () => {
      this.#watchers.delete(watcher)
      if (this.#watchers.size > 0 || this.#timer === null) return
      clearInterval(this.#timer)
      this.#timer = null
    }
  }

  // ── What has happened ──

  async events({ after, limit }: Asked<'events'>): Promise<AnswerOf<'events'>> {
    return newestFirst(await this.#events(), after, limit)
  }

  async changes({ after, limit }: Asked<'changes'>): Promise<AnswerOf<'changes'>> {
    const { wishes } = await clusterHistory(this.#engine)
    const changes = wishes.map((wish) => {
      const { number, at, by, kind, node, weight, speed, share } = wish
      const detail = JSON.parse(JSON.stringify({ node, weight, speed, share })) as Record<string, unknown>
      return { number, at, who: printable(by), what: kind, detail }
    })
    return newestFirst(changes, after, limit)
  }

  async settings(): Promise<AnswerOf<'settings'>> {
    const { settings } = listSettings((this.#definition.settings ?? {}) as SaidOptions)
    return { settings: settings.map((setting) => ({ ...setting, takesEffect: 'never' as const })) }
  }

  // ── What nodes have ──

  pages(asked: Asked<'pages'>): Promise<AnswerOf<'pages'>> {
    return this.#catalogued('pages', asked, (one, two) => later(one.fetchedAt, two.fetchedAt))
  }

  failures(asked: Asked<'failures'>): Promise<AnswerOf<'failures'>> {
    return this.#catalogued('failures', asked, (one, two) => later(one.when, two.when))
  }

  async broken(asked: Asked<'broken'>): Promise<AnswerOf<'broken'>> {
    const merged = await this.#merged<AnswerOf<'broken'>['items'][number]>(
      'broken',
      asked,
      inOrderOf(({ url }) => url),
    )
    return { ...merged, items: [...merged.items] }
  }

  async hosts(asked: Asked<'hosts'>): Promise<AnswerOf<'hosts'>> {
    const by = asked.sort
    const compare = (one: AnswerOf<'hosts'>['items'][number], two: AnswerOf<'hosts'>['items'][number]): number =>
      by === 'host' ? 0 : hostFigure(two, by) - hostFigure(one, by)
    const byName = inOrderOf<AnswerOf<'hosts'>['items'][number]>(({ host }) => host)
    const order = (one: Parameters<typeof compare>[0], two: Parameters<typeof compare>[1]): number =>
      compare(one, two) || byName(one, two)
    // A host belongs to one share; one that moved may be told of by two.
    const merged = await this.#merged<AnswerOf<'hosts'>['items'][number]>('hosts', asked, order, ({ host }) => host)
    return { ...merged, items: [...merged.items] }
  }

  async host(asked: Asked<'host'>): Promise<AnswerOf<'host'>> {
    const answers = await this.#askAll<AnswerOf<'host'>>('host', asked)
    const [best] = answers.toSorted((one, two) => two.pages + (two.waiting ?? 0) - one.pages - (one.waiting ?? 0))
    if (best === undefined) throw new Fault('CONTROL_UNKNOWN', `no node knows ${printable(asked.host)}`)
    return best
  }

  async explain(asked: Asked<'explain'>): Promise<AnswerOf<'explain'>> {
    const answers = await this.#askAll<AnswerOf<'explain'>>('explain', asked)
    const best = answers.find(({ state }) => state !== 'never-met') ?? answers[0]
    if (best === undefined) throw refusal('no node answers')
    return best
  }

  async statistics(): Promise<AnswerOf<'statistics'>> {
    return sumStatistics(await this.#askAll<AnswerOf<'statistics'>>('statistics', {}))
  }

  async archive(asked: Asked<'archive'>): Promise<AnswerOf<'archive'>> {
    type File = AnswerOf<'archive'>['items'][number]
    const merged = await this.#merged<File>(
      'archive',
      asked,
      (one, two) => later(one.name, two.name),
      ({ name }) => name,
    )
    return { ...merged, items: [...merged.items] }
  }

  // ── What is changed ──

  async stop(_: Asked<'stop'>, asker: Asker): Promise<AnswerOf<'stop'>> {
    return this.#wish(asker, { kind: 'stop', node: null })
  }

  async nodeAction({ node, action }: Asked<'nodeAction'>, asker: Asker): Promise<AnswerOf<'nodeAction'>> {
    return this.#wish(asker, { kind: action satisfies WishKind, node })
  }

  async nodeWeight({ node, weight }: Asked<'nodeWeight'>, asker: Asker): Promise<AnswerOf<'nodeWeight'>> {
    return this.#wish(asker, { kind: 'weight', node, weight })
  }

  /** Of the crawl, of a node, or of one share; heard by all, and by whoever comes later. */
  async speed({ agent, node, ...speed }: Asked<'speed'>, asker: Asker): Promise<AnswerOf<'speed'>> {
    if (Object.keys(speed).length === 0)
      throw new FieldsFault([{ where: 'body', what: 'say which limit is to be another' }])
    if (agent !== undefined && agent >= this.#definition.shares) {
      throw new FieldsFault([{ where: 'agent', what: `there are ${this.#definition.shares} shares, numbered from 0` }])
    }
    return this.#wish(asker, { kind: 'speed', node: node ?? null, share: agent ?? null, speed: definedOf(speed) })
  }

  async start(): Promise<never> {
    throw refusal(
      `a crawl of a cluster goes on when a node joins: portolan node --join … --crawl ${this.id}, on each machine`,
    )
  }

  async pause(): Promise<never> {
    throw refusal('a cluster is not paused; stop it, and it goes on when nodes join, or slow it down')
  }

  async resume(): Promise<never> {
    throw refusal('a cluster is not paused, so there is nothing to resume')
  }

  async checkpoint(): Promise<never> {
    throw refusal('a crawl of a cluster is not copied: its state is kept by the engine')
  }

  async addSeeds(): Promise<never> {
    throw refusal('the seeds of a crawl of a cluster are those it was set up with (portolan cluster init)')
  }

  async set(): Promise<never> {
    throw refusal(FIXED)
  }

  async preview(): Promise<never> {
    throw refusal(FIXED)
  }

  async trace(): Promise<never> {
    throw refusal('a URL is followed by the node that has its share: ask its own API')
  }

  // ── Inside ──

  #look(): Promise<ClusterLook> {
    const nowMs = systemClock.nowMs()
    if (this.#looking !== null && nowMs - this.#looking.atMs < LOOK_FRESH_MS) return this.#looking.look
    const look = this.#lookAtCluster(this.#engine, this.#definition).then((found) => this.#heard(found))
    this.#looking = { atMs: nowMs, look }
    // One that failed is no answer for the next.
    look.catch(() => (this.#looking = null))
    return look
  }

  #heard(look: ClusterLook): ClusterLook {
    this.#figures.hear(look)
    const counts = [...look.figures].flatMap(([node, one]) => (one === null ? [] : [[node, workOf(one)] as const]))
    this.#rates.note(systemClock.nowMs(), new Map(counts))
    this.#rates.keepOnly(new Set(look.status.nodes.map(({ node }) => node)))
    this.#keepSample()
    return look
  }

  #keepSample(): void {
    const { pages, bytes, failed, skipped, waiting, hosts, seconds, cpuSeconds } = this.#figures.figures
    const last = this.#samples.at(-1)
    if (last !== undefined && seconds < last.t + this.#gapSeconds * 0.95) return
    this.#samples.push({
      t: seconds,
      pages,
      bytes,
      failed,
      skipped: Object.values(skipped).reduce((sum, count) => sum + count, 0),
      waiting,
      hosts,
      active: this.#figures.sum(({ active }) => active),
      rssBytes: this.#figures.sum(({ rssBytes }) => rssBytes),
      cpuSeconds,
    })
    if (this.#samples.length <= SAMPLES_MAX) return
    this.#samples = this.#samples.filter((_, index) => index % 2 === 0)
    this.#gapSeconds *= 2
  }

  #infoOf({ status }: ClusterLook): CrawlInfo {
    const isAlive = status.nodes.length > 0
    const { agents } = this.#figures
    const frontiers = agents.map(({ frontier }) => frontier)
    const rate = (of: Parameters<WorkRates['perSecond']>[0]): number => round(this.#rates.perSecond(of))
    const isWorking = isAlive && (status.state === 'running' || status.state === 'stopping')
    return {
      id: this.id,
      name: this.id,
      dir: '',
      state: stateOf(status.state, isAlive),
      stoppedBecause: stopOf(status.state),
      startedAt: this.#definition.createdAt,
      agents: this.#definition.shares,
      figures: this.#figures.figures,
      now: !isWorking
        ? null
        : {
            pagesPerSecond: rate('pages'),
            bytesPerSecond: rate('bytes'),
            active: this.#figures.sum(({ active }) => active),
            hostsReady: frontiers.reduce((sum, { ready }) => sum + ready, 0),
            hostsResting: frontiers.reduce((sum, { resting }) => sum + resting, 0),
            rssBytes: this.#figures.sum(({ rssBytes }) => rssBytes),
            cpuShare: rate('cpuSeconds'),
            slow: clusterSlowness(status, agents),
          },
      cluster: { crawl: this.id, nodes: status.nodes.length },
      can: isWorking ? ['stop', 'nodes'] : [],
    }
  }

  async #events(): Promise<CrawlEvent[]> {
    const { events } = await clusterHistory(this.#engine)
    return events.map((event) => ({ ...event, text: printable(event.text) }))
  }

  /**
   * A look for all who watch, one at a time. An engine that does not answer is waited for; nor does anything else that goes wrong here
   * end the process, which may be a node that crawls: whoever asks is told.
   */
  async #tick(): Promise<void> {
    if (this.#isTicking) return
    this.#isTicking = true
    try {
      const info = await this.crawl()
      for (const { onInfo } of this.#watchers) onInfo(info)
      const events = await this.#events()
      const last = this.#lastEvent
      this.#lastEvent = events.at(-1)?.number ?? 0
      if (last === null) return
      for (const event of events) if (event.number > last) for (const { onEvent } of this.#watchers) onEvent(event)
    } catch {
      // Looked at again.
    } finally {
      this.#isTicking = false
    }
  }

  async #wish(asker: Asker, asked: Omit<Wish, 'by' | 'at'>): Promise<{ text: string }> {
    const wish: Wish = { ...asked, by: asker.who, at: new Date(systemClock.wallMs()).toISOString() }
    await makeWish(this.#engine, wish)
    this.#looking = null
    return { text: printable(describeWish(wish)) }
  }

  async #nodeNames(): Promise<string[]> {
    const { status } = await this.#look()
    return status.nodes.map(({ node }) => node)
  }

  async #merged<T>(
    route: NodeRoute,
    { after, ...asked }: Readonly<{ after?: string | undefined; limit: number }>,
    compare: (one: T, two: T) => number,
    keyOf?: (item: T) => string,
  ): Promise<PartOfList<T>> {
    return mergeLists<T>({
      nodes: await this.#nodeNames(),
      limit: asked.limit,
      after,
      ask: (node, from) => this.#askOne<PartOfList<T>>(node, route, from === null ? asked : { ...asked, after: from }),
      compare,
      ...(keyOf === undefined ? {} : { keyOf }),
    })
  }

  /** With how far the catalogues have read: the least of them. */
  async #catalogued<N extends 'pages' | 'failures'>(
    route: N,
    asked: Asked<N>,
    compare: (one: AnswerOf<N>['items'][number], two: AnswerOf<N>['items'][number]) => number,
  ): Promise<AnswerOf<N>> {
    type Item = AnswerOf<N>['items'][number]
    let readShare = 1
    const { after, ...rest } = asked as { after?: string; limit: number }
    const merged = await mergeLists<Item>({
      nodes: await this.#nodeNames(),
      limit: rest.limit,
      after,
      ask: async (node, from) => {
        const part = await this.#askOne<AnswerOf<N>>(node, route, from === null ? rest : { ...rest, after: from })
        readShare = Math.min(readShare, part?.readShare ?? 0)
        return part
      },
      compare,
    })
    return { ...merged, items: [...merged.items], readShare } as unknown as AnswerOf<N>
  }

  /** Of all that answer and do not refuse. Where all refuse, their first reason. */
  async #askAll<T>(route: NodeRoute, asked: object): Promise<T[]> {
    const faults: Fault[] = []
    const names = await this.#nodeNames()
    const answers = await Promise.all(
      names.map((node) =>
        this.#askOne<T>(node, route, asked).catch((fault: unknown) => {
          if (!(fault instanceof Fault)) throw fault
          faults.push(fault)
          return null
        }),
      ),
    )
    const found = answers.filter((answer) => answer !== null)
    if (found.length === 0 && faults[0] !== undefined) throw faults[0]
    return found
  }

  /** Null: it does not answer. Throws what it refuses. */
  async #askOne<T>(node: string, route: NodeRoute, asked: object): Promise<T | null> {
    let heard: ControlAnswer
    try {
      const question = { ask: 'control', route, asked: { ...asked }, who: 'cluster' } as const
      heard = (await this.#askNode(this.#engine, node, question, ANSWER_MS)) as ControlAnswer
    } catch (fault) {
      if (fault instanceof Fault) return null
      throw fault
    }
    if ('fault' in heard) throw refusal(`node ${node}: ${printable(heard.fault.message)}`)
    return heard.answer as T
  }
}

/** A server's sources: this one crawl. */
export async function clusterSources(
  settings: EngineSettings,
): Promise<CrawlSources & { readonly isOne: true; close(): Promise<void> }> {
  const crawl = await ClusterCrawl.open(settings)
  return {
    isOne: true,
    create: null,
    list: async () => [crawl],
    find: async (id) => (id === crawl.id ? crawl : null),
    close: () => crawl.close(),
  }
}

const FIXED =
  'the options of a crawl of a cluster are fixed when it is set up, the same for all nodes; its speed, weights and nodes can be changed'

function hostFigure(host: AnswerOf<'hosts'>['items'][number], by: Exclude<Asked<'hosts'>['sort'], 'host'>): number {
  return (by === 'time' ? host.meanMs : host[by]) ?? 0
}

function refusal(why: string): Fault {
  return new Fault('CONTROL_REFUSED', why)
}

function stateOf(said: string, isAlive: boolean): CrawlInfo['state'] {
  if (said === 'running') return isAlive ? 'running' : 'stopped'
  if (said === 'stopping') return isAlive ? 'stopping' : 'stopped'
  return said === 'finished' ? 'finished' : 'stopped'
}

function stopOf(said: string): StopReason | null {
  if (said === 'stop') return 'interrupted'
  return said in STOPS ? (said as StopReason) : null
}

function workOf({ donePages, doneBytes, cpuSeconds }: NodeFigures) {
  return { pages: donePages, bytes: doneBytes, cpuSeconds }
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

/** Without what is not said. */
function definedOf(said: object): NonNullable<Wish['speed']> {
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined))
}

function later(one: string, two: string): number {
  return one < two ? 1 : one > two ? -1 : 0
}

function inOrderOf<T>(of: (item: T) => string): (one: T, two: T) => number {
  return (one, two) => later(of(two), of(one))
}

/** By number, paged from the newest back. `after` is the number of the last that was shown. */
function newestFirst<T extends { readonly number: number }>(
  all: readonly T[],
  after: string | undefined,
  limit: number,
): { items: T[]; next: string | null; total: number } {
  const before = after === undefined ? Infinity : Number(after)
  const older = all.filter(({ number }) => number < before).reverse()
  const items = older.slice(0, limit)
  return { items, next: older.length > limit ? String(items.at(-1)?.number) : null, total: all.length }
}
