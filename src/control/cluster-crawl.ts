// A crawl of several machines as the API sees it, from any machine that reaches the engine. What is common to all stands in records;
// what a node has is asked of it and put together, bounded.
//
//   records ──▶ definition, wishes, views: settings, changes, events       makeWish ◀── stop, pause, drain, weight, speed …
//        ▲                                                                 makeChange ◀── seeds, settings    (cluster-changes.ts)
//   nodes ────▶ figures of each share ──▶ crawl, agents, nodes, metrics    (cluster-nodes.ts)
//        ╰────▶ `control` questions ────▶ pages, failures, hosts, explain  (merged-lists.ts, node-answers.ts)
//
// What was fixed when the crawl was set up is refused with the reason (fixed-in-cluster.ts).

import { setTimeout as sleep } from 'node:timers/promises'
import { Fault, REFUSALS, systemClock } from '../base/index.ts'
import {
  clusterHistory,
  type CrawlDefinition,
  describeWish,
  makeWish,
  readChanges,
  readDefinition,
  type Wish,
  type WishKind,
} from '../cluster/index.ts'
import { connectEngine, type Engine, type EngineSettings } from '../engine/index.ts'
import { Course, printable } from '../report/index.ts'
import { loadClusterLook, type SharePreview } from '../supervise/index.ts'
import { canonicalise } from '../url/index.ts'
import type { AnswerOf, CrawlEvent, CrawlInfo } from './api.ts'
import { ClusterCourse, readCourse } from './cluster-course.ts'
import { addSeeds, changeOptions, changesIn, checkOptions } from './cluster-changes.ts'
import { ClusterLists } from './cluster-lists.ts'
import { ClusterLooks } from './cluster-looks.ts'
import { agentRow, goneNodeRow, nodeRow } from './cluster-nodes.ts'
import { sumPreviews } from './cluster-preview.ts'
import { ClusterTraces } from './cluster-traces.ts'
import type { Asked, Asker, CrawlSource, CrawlSources } from './crawl-source.ts'
import { fixedInCluster } from './fixed-in-cluster.ts'
import { renderMetrics } from './metrics.ts'
import { listSettings } from './option-changes.ts'
import { FieldsFault } from './refusals.ts'
import type { SaidOptions } from './steered-crawl.ts'
import { mostSaid } from './merged-lists.ts'
import { sumStatistics } from './sum-statistics.ts'

const LOOK_EVERY_MS = 1_000
/** A preview takes agents some seconds of threads that may be busy. */
const PREVIEW_MS = 30_000
/** Longer than this nobody waits for a change: the status tells when all shares have it. */
const CHANGE_WAIT_MS = 20_000
const LOOK_AGAIN_MS = 300

/** What nodes are asked with. */
type Tools = Awaited<ReturnType<typeof loadClusterLook>>

export class ClusterCrawl implements CrawlSource {
  readonly id: string
  readonly #engine: Engine
  readonly #definition: CrawlDefinition
  readonly #tools: Tools
  readonly #traces = new ClusterTraces()
  readonly #looks: ClusterLooks
  readonly #lists: ClusterLists
  readonly #course: ClusterCourse
  readonly #watchers = new Set<{ onInfo: (info: CrawlInfo) => void; onEvent: (event: CrawlEvent) => void }>()
  #timer: NodeJS.Timeout | null = null
  #isTicking = false
  #lastEvent: number | null = null

  private constructor(crawl: string, engine: Engine, definition: CrawlDefinition, tools: Tools) {
    this.id = crawl
    this.#engine = engine
    this.#definition = definition
    this.#tools = tools
    this.#looks = new ClusterLooks(crawl, engine, definition, tools)
    this.#lists = new ClusterLists(engine, tools.askNode, async () => {
      const { status } = await this.#looks.now()
      return status.nodes.map(({ node }) => node)
    })
    this.#course = new ClusterCourse(engine, systemClock)
    engine.subscribe(tools.TRACE_SUBJECT, (bytes) => this.#traces.hear(bytes))
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
    return this.#looks.infoOf(await this.#looks.now())
  }

  async agents(): Promise<AnswerOf<'agents'>> {
    await this.#looks.now()
    return { agents: this.#looks.figures.agents.map(agentRow) }
  }

  async nodes(): Promise<AnswerOf<'nodes'>> {
    const { status, figures, left } = await this.#looks.now()
    const gone = [...left].map(([node, one]) => goneNodeRow(node, one))
    const nodes = status.nodes.map((node) => nodeRow(node, figures.get(node.node) ?? null))
    return { shares: this.#definition.shares, nodes: [...nodes, ...gone] }
  }

  /** As it was kept by whoever had share 0, and what was seen from here since. Nodes keep a course of their own in their directories. */
  async timeline(): Promise<AnswerOf<'timeline'>> {
    await this.#looks.now()
    const course = new Course(await readCourse(this.#engine))
    for (const sample of this.#looks.samples) course.add(sample)
    // However close to the one before: the end of a crawl may be known from here only, since a last word can be lost.
    course.add(this.#looks.sample(), true)
    return { samples: [...course.samples] }
  }

  /** Adds to the course how the crawl stands now: for whoever has share 0. */
  async keepCourse(isLast: boolean): Promise<void> {
    await this.#looks.anew()
    await this.#course.add(this.#looks.sample(), isLast)
  }

  async metrics(): Promise<string> {
    const [info, { agents }, nodes] = [await this.crawl(), await this.agents(), await this.nodes()]
    const frontiers = this.#looks.figures.agents.map(({ frontier }) => frontier)
    const more = {
      restarts: this.#looks.figures.sum(({ restarts }) => restarts),
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
    return newestFirst(changesIn(await clusterHistory(this.#engine)), after, limit)
  }

  async settings(): Promise<AnswerOf<'settings'>> {
    return listSettings(await this.#said(), fixedInCluster)
  }

  /** Options as they are said now. */
  async #said(): Promise<SaidOptions> {
    return ((await readChanges(this.#engine)).settingsAfter(0) ?? this.#definition.settings ?? {}) as SaidOptions
  }

  // ── What nodes have ──

  pages(asked: Asked<'pages'>): Promise<AnswerOf<'pages'>> {
    return this.#lists.catalogued('pages', asked, (one, two) => later(one.fetchedAt, two.fetchedAt))
  }

  failures(asked: Asked<'failures'>): Promise<AnswerOf<'failures'>> {
    return this.#lists.catalogued('failures', asked, (one, two) => later(one.when, two.when))
  }

  async broken(asked: Asked<'broken'>): Promise<AnswerOf<'broken'>> {
    const merged = await this.#lists.merged<AnswerOf<'broken'>['items'][number]>(
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
    const merged = await this.#lists.merged<AnswerOf<'hosts'>['items'][number]>(
      'hosts',
      asked,
      order,
      ({ host }) => host,
    )
    return { ...merged, items: [...merged.items] }
  }

  async host(asked: Asked<'host'>): Promise<AnswerOf<'host'>> {
    const answers = await this.#lists.askAll<AnswerOf<'host'>>('host', asked)
    const [best] = answers.toSorted((one, two) => two.pages + (two.waiting ?? 0) - one.pages - (one.waiting ?? 0))
    if (best === undefined) throw new Fault('CONTROL_UNKNOWN', `no node knows ${printable(asked.host)}`)
    return best
  }

  async explain(asked: Asked<'explain'>): Promise<AnswerOf<'explain'>> {
    const answers = await this.#lists.askAll<AnswerOf<'explain'>>('explain', asked)
    const best = mostSaid(answers)
    if (best === null) throw refusal('no node answers')
    return best
  }

  async statistics(): Promise<AnswerOf<'statistics'>> {
    return sumStatistics(await this.#lists.askAll<AnswerOf<'statistics'>>('statistics', {}))
  }

  async archive(asked: Asked<'archive'>): Promise<AnswerOf<'archive'>> {
    type File = AnswerOf<'archive'>['items'][number]
    const merged = await this.#lists.merged<File>(
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

  /** Heard by all nodes, and by whoever comes later. */
  async pause(_: Asked<'pause'>, asker: Asker): Promise<AnswerOf<'pause'>> {
    if ((await this.#looks.anew()).status.isPaused) return { text: 'It is paused.' }
    return this.#wish(asker, { kind: 'pause', node: null })
  }

  async resume(_: Asked<'resume'>, asker: Asker): Promise<AnswerOf<'resume'>> {
    if (!(await this.#looks.anew()).status.isPaused) return { text: 'It is not paused.' }
    return this.#wish(asker, { kind: 'unpause', node: null })
  }

  async checkpoint(): Promise<never> {
    throw refusal('a crawl of a cluster is not copied: its state is kept by the engine')
  }

  /** They stand in the engine when this resolves. All shares take them in before the crawl can end; one that has ended goes on. */
  async addSeeds({ seeds }: Asked<'addSeeds'>, asker: Asker): Promise<AnswerOf<'addSeeds'>> {
    const { added, known, problems } = await addSeeds(this.#engine, this.#definition, seeds, asker)
    this.#looks.forget()
    return { added, known, problems }
  }

  /** Stands in the engine before anybody obeys it; each node opens its shares anew with it. */
  async set({ options }: Asked<'set'>, asker: Asker): Promise<AnswerOf<'set'>> {
    const { change, takesEffect, limits } = await changeOptions(this.#engine, this.#definition, options, asker)
    // Told to those who run, and what was said of their speed before counts no more. Also where it is so already: whoever made that change
    // may have died before this.
    const hasLimits = Object.keys(limits).length > 0
    if (hasLimits) await this.#wish(asker, { kind: 'speed', node: null, share: null, speed: limits })
    if (takesEffect === 'now') return { takesEffect, text: 'It holds from now on.' }
    return { takesEffect, text: change === null ? 'It is so already.' : await this.#whenAllHave(change) }
  }

  async #whenAllHave(change: number): Promise<string> {
    const endMs = systemClock.nowMs() + CHANGE_WAIT_MS
    for (;;) {
      const { cluster, state } = this.#looks.infoOf(await this.#looks.anew())
      if (cluster?.nodes === 0) return `Nobody works on the crawl: change ${change} holds when its nodes are started.`
      if (cluster?.sharesBehind === 0) return `All shares were opened anew, and change ${change} holds.`
      if (systemClock.nowMs() > endMs || state === 'stopping') {
        return `Change ${change} is made; ${cluster?.sharesBehind ?? 0} of ${this.#definition.shares} shares have yet to take it in.`
      }
      await sleep(LOOK_AGAIN_MS)
    }
  }

  /** Of all shares whose nodes answer; where one does not, it is at least so many. */
  async preview({ options }: Asked<'preview'>): Promise<AnswerOf<'preview'>> {
    const { said, takesEffect } = checkOptions(await this.#said(), options)
    const { status } = await this.#looks.anew()
    const { waiting } = this.#looks.figures.figures
    if (options['url'] === undefined)
      return { waiting, hit: 0, reasons: {}, examples: [], isComplete: true, takesEffect }
    const answers = await this.#lists.ofEach<readonly SharePreview[]>(status, { ask: 'preview', said }, PREVIEW_MS)
    return { waiting, ...sumPreviews(answers, this.#definition.shares), takesEffect }
  }

  /** All nodes follow it, so that it is told of wherever its share goes. */
  async trace({ url: text }: Asked<'trace'>): Promise<AnswerOf<'trace'>> {
    const url = canonicalise(text)
    if (typeof url !== 'string') throw new FieldsFault([{ where: 'url', what: REFUSALS[url.refused] }])
    const { status } = await this.#looks.anew()
    const answers = await this.#lists.ofEach(status, { ask: 'trace', url })
    const heard = status.nodes.filter((_, place) => answers[place] !== undefined).map(({ node }) => node)
    if (heard.length === 0) throw refusal('no node answers: nobody works on the crawl, or the engine is slow')
    const share = this.#tools.shareOfUrl(this.#definition, url)
    const holder = status.nodes.find(({ shares }) => shares.includes(share))?.node ?? null
    const where =
      holder === null
        ? 'which is with nobody yet'
        : heard.includes(holder)
          ? `on ${holder}`
          : `on ${holder}, which does not answer`
    return {
      text: printable(
        `What happens to ${url} is told among the events from now on. It is of share ${share}, ${where}.`,
      ),
    }
  }

  // ── Inside ──

  async #events(): Promise<CrawlEvent[]> {
    const { events } = await clusterHistory(this.#engine)
    return this.#traces.among(events.map((event) => ({ ...event, text: printable(event.text) })))
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
    this.#looks.forget()
    return { text: printable(describeWish(wish)) }
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

function hostFigure(host: AnswerOf<'hosts'>['items'][number], by: Exclude<Asked<'hosts'>['sort'], 'host'>): number {
  return (by === 'time' ? host.meanMs : host[by]) ?? 0
}

function refusal(why: string): Fault {
  return new Fault('CONTROL_REFUSED', why)
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
