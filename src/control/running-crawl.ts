// A crawl that runs in this process, as the control API sees it. What only it knows it says itself, of the job of the moment or by asking
// its agents; what stands in files is read from them (crawl-records.ts); what changes it goes through its steering (steered-crawl.ts).

import { isAbsolute, join, resolve } from 'node:path'
import type { PaceFigures } from '../agent/index.ts'
import { Fault, REFUSALS, systemClock } from '../base/index.ts'
import type { HostStanding } from '../supervise/index.ts'
import { canonicalise, type CanonicalUrl } from '../url/index.ts'
import type { AnswerOf, CrawlEvent, CrawlInfo } from './api.ts'
import { idOf } from './crawl-id.ts'
import { type CataloguedHost, CrawlRecords } from './crawl-records.ts'
import type { Asked, Asker, CrawlSource } from './crawl-source.ts'
import { renderMetrics } from './metrics.ts'
import { openBesideCrawl } from './open-catalogue.ts'
import { checkChange, checkSpeed, limitsOf, listSettings, optionsOfSpeed, withoutSecrets } from './option-changes.ts'
import { FieldsFault } from './refusals.ts'
import { slowBecause } from './slow-because.ts'
import type { LookedAtJob, SteeredCrawl, SteeredNode } from './steered-crawl.ts'

const INFO_EVERY_MS = 1_000
/** Longer than this nobody waits for a change: it takes its time, and the events tell of it. */
const CHANGE_WAIT_MS = 20_000
/** How far hosts can be paged through by what waits for them. */
const WAITING_HOSTS_MAX = 5_000
/** Seeds that the record of changes names; it counts the others. */
const SEEDS_RECORDED_MAX = 100

const STEERED_BY = ['pause', 'resume', 'stop', 'checkpoint', 'seed', 'set'] as const

export class RunningCrawl implements CrawlSource {
  readonly id: string
  readonly #steered: SteeredCrawl
  readonly #records: CrawlRecords
  readonly #watchers = new Set<(info: CrawlInfo) => void>()
  #timer: NodeJS.Timeout | null = null
  /** While it is opened anew: as it was. */
  #last: CrawlInfo | null = null
  #lastText = ''

  constructor(steered: SteeredCrawl, records = new CrawlRecords(steered.dir, openBesideCrawl)) {
    this.#steered = steered
    this.#records = records
    this.id = idOf(steered.dir)
  }

  // ── How it stands ───────────────────────────────────────────────────────────────────────────

  async crawl(): Promise<CrawlInfo> {
    return this.#info()
  }

  #info(): CrawlInfo {
    const { job, isReopening } = this.#steered
    if (job !== null) this.#last = this.#infoOf(job)
    if (this.#last === null) throw notOpen()
    return isReopening ? { ...this.#last, state: 'starting', now: null, can: ['pause', 'resume', 'stop'] } : this.#last
  }

  #infoOf(job: LookedAtJob): CrawlInfo {
    const { dir, place } = this.#steered
    const { figures, identity } = job
    const snapshot = job.snapshot()
    const { frontier, totalMs, cpuMs } = snapshot
    return {
      id: this.id,
      name: place?.crawl ?? identity.name,
      dir: resolve(dir),
      state: this.#steered.isStopping ? 'stopping' : this.#steered.isPaused ? 'paused' : 'running',
      stoppedBecause: null,
      startedAt: new Date(identity.startedAtMs).toISOString(),
      agents: job.agents,
      figures: {
        pages: figures.pages,
        failed: figures.failed,
        failures: plain(figures.failures),
        answers: plain(figures.answers),
        skipped: plain(figures.skipped),
        refused: plain(figures.refused),
        bytes: figures.bytes,
        wireBytes: figures.wireBytes,
        seconds: Math.round(totalMs) / 1_000,
        hosts: frontier.hosts,
        urlsSeen: figures.admitted,
        waiting: figures.waiting,
        cpuSeconds: Math.round(figures.earlierCpuMs + cpuMs) / 1_000,
        peakRssBytes: Math.max(figures.earlierPeakRssBytes, process.resourceUsage().maxRSS * 1_024),
      },
      now: {
        ...this.#rates(),
        active: snapshot.active,
        hostsReady: frontier.ready,
        hostsResting: frontier.resting,
        rssBytes: process.memoryUsage.rss(),
        slow: slowBecause(snapshot, pacesOf(this.#steered.node)),
      },
      ...(place === null ? { limits: limitsOf(this.#steered.config) } : {}),
      cluster: place === null ? null : { crawl: place.crawl, nodes: 0 },
      can: place === null ? [...STEERED_BY] : ['stop'],
    }
  }

  #rates(): { pagesPerSecond: number; bytesPerSecond: number; cpuShare: number } {
    const { moments } = this.#steered
    const [first] = moments
    const last = moments.at(-1)
    const ms = first === undefined || last === undefined ? 0 : last.atMs - first.atMs
    if (first === undefined || last === undefined || ms <= 0)
      return { pagesPerSecond: 0, bytesPerSecond: 0, cpuShare: 0 }
    const perSecond = (more: number): number => Math.max(0, Math.round((more / ms) * 1e6) / 1e3)
    return {
      pagesPerSecond: perSecond(last.pages - first.pages),
      bytesPerSecond: perSecond(last.bytes - first.bytes),
      cpuShare: Math.max(0, Math.round(((last.cpuMs - first.cpuMs) / ms) * 1e3) / 1e3),
    }
  }

  watch(onInfo: (info: CrawlInfo) => void, onEvent: (event: CrawlEvent) => void): () => void {
    const unwatch = this.#steered.events.watch(onEvent)
    this.#watchers.add(onInfo)
    this.#timer ??= setInterval(() => this.#tellSafely(), INFO_EVERY_MS).unref()
    return () => {
      unwatch()
      this.#watchers.delete(onInfo)
      if (this.#watchers.size > 0 || this.#timer === null) return
      clearInterval(this.#timer)
      this.#timer = null
    }
  }

  /** On a timer of the process that crawls: what goes wrong here must not end it. Whoever asks is told. */
  #tellSafely(): void {
    try {
      this.#tell()
    } catch {
      // Looked at again.
    }
  }

  /** While something changes. */
  #tell(): void {
    if (this.#steered.job === null && this.#last === null) return
    const info = this.#info()
    const text = JSON.stringify(info)
    if (text === this.#lastText) return
    this.#lastText = text
    for (const watcher of this.#watchers) watcher(info)
  }

  async metrics(): Promise<string> {
    const info = this.#info()
    const { job, node } = this.#steered
    const agents = node === null ? [] : (await this.agents()).agents
    if (job === null) return renderMetrics([{ info, agents }])
    const { parked, out } = job.snapshot().frontier
    return renderMetrics([{ info, agents, more: { restarts: job.restarts, hostsParked: parked, hostsOut: out } }])
  }

  // ── What stands in files ────────────────────────────────────────────────────────────────────

  timeline(): Promise<AnswerOf<'timeline'>> {
    return this.#records.timeline()
  }

  events(asked: Asked<'events'>): Promise<AnswerOf<'events'>> {
    return this.#records.events(asked)
  }

  changes(asked: Asked<'changes'>): Promise<AnswerOf<'changes'>> {
    return this.#records.changes(asked)
  }

  archive(asked: Asked<'archive'>): Promise<AnswerOf<'archive'>> {
    return this.#records.archive(asked)
  }

  explain({ url }: Asked<'explain'>): Promise<AnswerOf<'explain'>> {
    return this.#records.explain(url, this.#steered.config)
  }

  async pages(asked: Asked<'pages'>): Promise<AnswerOf<'pages'>> {
    return (await this.#records.catalogue()).pages(asked)
  }

  async failures(asked: Asked<'failures'>): Promise<AnswerOf<'failures'>> {
    return (await this.#records.catalogue()).failures(asked)
  }

  async broken(asked: Asked<'broken'>): Promise<AnswerOf<'broken'>> {
    return (await this.#records.catalogue()).broken(asked)
  }

  async statistics(): Promise<AnswerOf<'statistics'>> {
    return (await this.#records.catalogue()).statistics()
  }

  // ── Hosts and agents ────────────────────────────────────────────────────────────────────────

  async hosts({ sort, after, limit, text }: Asked<'hosts'>): Promise<AnswerOf<'hosts'>> {
    if (sort === 'waiting') return this.#waitingHosts(after, limit, text ?? '')
    const found = await (await this.#records.catalogue()).hosts({ sort, after, limit, text })
    const standings = await this.#standings(found.items.map(({ host }) => host))
    return { ...found, items: found.items.map((item) => joinHost(item, standings.get(item.host))) }
  }

  /** Those for which most waits; `after` is how many were shown. */
  async #waitingHosts(after: string | undefined, limit: number, text: string): Promise<AnswerOf<'hosts'>> {
    const from = Math.max(0, Math.trunc(Number(after ?? 0)) || 0)
    const to = Math.min(WAITING_HOSTS_MAX, from + limit)
    const answers = await this.#node().ask({ ask: 'waiting', limit: to, text })
    const found = answers
      .flatMap(({ hosts }) => hosts)
      .toSorted((one, two) => two.waiting - one.waiting || (one.host < two.host ? -1 : 1))
    const shown = found.slice(from, to).map(({ host }) => host)
    const standings = await this.#standings(shown)
    const catalogue = await this.#records.catalogue().catch(() => null)
    const items = await Promise.all(
      shown.map(async (host) => {
        const facts = (await catalogue?.host(host)) ?? { host, pages: 0, errors: 0, bytes: 0 }
        return joinHost(facts, standings.get(host))
      }),
    )
    const isComplete = answers.every((answer) => answer.isComplete)
    const count = answers.reduce((sum, answer) => sum + answer.count, 0)
    const isMore = found.length > to || (count > to && to < WAITING_HOSTS_MAX)
    // The frontier knows them all; what the catalogue adds are figures.
    const next = isMore && items.length > 0 ? String(to) : null
    return { items, next, total: isComplete ? count : null, readShare: 1 }
  }

  async #standings(hosts: readonly string[]): Promise<ReadonlyMap<string, HostStanding>> {
    const { node } = this.#steered
    if (node === null || hosts.length === 0) return new Map()
    const answers = await node.ask({ ask: 'hosts', hosts })
    const standings = new Map<string, HostStanding>()
    for (const standing of answers.flat()) {
      const other = standings.get(standing.host)
      if (other === undefined || other.waiting < standing.waiting) standings.set(standing.host, standing)
    }
    return standings
  }

  async host({ host }: Asked<'host'>): Promise<AnswerOf<'host'>> {
    const catalogue = await this.#records.catalogue().catch(() => null)
    const facts = (await catalogue?.host(host)) ?? null
    const standing = (await this.#standings([host])).get(host)
    if (facts === null && standing === undefined) {
      throw new Fault('CONTROL_UNKNOWN', `${host} is no host of this crawl`)
    }
    const known = facts ?? { host, pages: 0, errors: 0, bytes: 0, statuses: {}, types: {}, failures: {}, skipped: {} }
    const { hostPages } = this.#steered.config.agent
    return {
      ...joinHost(known, standing),
      address: standing?.address ?? null,
      restMs: standing?.leastRestMs ?? null,
      ...(await this.#records.mannersOf(host, this.#steered.config)),
      statuses: known.statuses,
      types: known.types,
      failures: known.failures,
      skipped: known.skipped,
      budgetLeft: hostPages === null ? null : Math.max(0, hostPages - known.pages),
    }
  }

  async agents(): Promise<AnswerOf<'agents'>> {
    const node = this.#node()
    return {
      agents: node.standings.flatMap((status, agent) => {
        if (status === null) return []
        const { totals, frontier, active, pace } = status
        const { connections, ratePerSecond, bytesPerSecond } = pace.speed
        return [
          {
            agent,
            node: null,
            pages: totals.pages,
            failed: totals.failed,
            waiting: frontier.waiting,
            hosts: frontier.hosts,
            active,
            limit: pace.limit,
            bottleneck: pace.bottleneck,
            speed: { connections, ratePerSecond, bytesPerSecond },
          },
        ]
      }),
    }
  }

  // ── Steering ────────────────────────────────────────────────────────────────────────────────

  async start(): Promise<AnswerOf<'start'>> {
    throw new Fault('CONTROL_REFUSED', 'the crawl runs')
  }

  async pause(_: Asked<'pause'>, asker: Asker): Promise<AnswerOf<'pause'>> {
    this.#assertOwn('paused')
    if (this.#steered.isPaused) return { text: 'It is paused.' }
    await this.#steered.record(asker.who, 'pause', {})
    await this.#steered.pause()
    this.#tell()
    return { text: 'Nobody is asked from now on; what is under way ends.' }
  }

  async resume(_: Asked<'resume'>, asker: Asker): Promise<AnswerOf<'resume'>> {
    this.#assertOwn('resumed')
    if (!this.#steered.isPaused) return { text: 'It is not paused.' }
    await this.#steered.record(asker.who, 'resume', {})
    await this.#steered.resume()
    this.#tell()
    return { text: 'It goes on.' }
  }

  async stop(_: Asked<'stop'>, asker: Asker): Promise<AnswerOf<'stop'>> {
    // A full disk has no room for the record, and is a reason to stop: it is not refused for that.
    await this.#steered.record(asker.who, 'stop', {}).catch(() => undefined)
    this.#steered.stop()
    return { text: 'It stops: what is under way gets some seconds to end.' }
  }

  async checkpoint({ to }: Asked<'checkpoint'>, asker: Asker): Promise<AnswerOf<'checkpoint'>> {
    this.#assertOwn('copied')
    const { job, dir } = this.#steered
    if (job === null) throw notOpen()
    const stamp = new Date(systemClock.wallMs()).toISOString().replaceAll(/[-:]|\.\d+/g, '')
    if (to !== undefined && !isAbsolute(to)) {
      throw new FieldsFault([{ where: 'to', what: 'is not a whole path: nobody knows from where it would count' }])
    }
    const place = to ?? join(resolve(dir), 'checkpoints', stamp)
    await this.#steered.record(asker.who, 'checkpoint', { to: place })
    const { copiedBytes, copiedFiles, linkedFiles } = await job.checkpoint(place)
    this.#steered.events.add('crawl', `A checkpoint was made at ${place}.`)
    return { to: place, bytes: copiedBytes, files: copiedFiles + linkedFiles }
  }

  async addSeeds({ seeds }: Asked<'addSeeds'>, asker: Asker): Promise<AnswerOf<'addSeeds'>> {
    this.#assertOwn('given seeds')
    const problems: { where: string; what: string }[] = []
    const urls = new Map<CanonicalUrl, number>()
    for (const [index, text] of seeds.entries()) {
      const url = canonicalise(text.trim())
      if (typeof url === 'string') urls.set(url, urls.get(url) ?? index)
      else problems.push({ where: `seeds.${index}`, what: REFUSALS[url.refused] })
    }
    if (urls.size === 0) return { added: 0, known: 0, problems }
    const wanted = [...urls.keys()]
    const detail = { seeds: wanted.slice(0, SEEDS_RECORDED_MAX), count: wanted.length }
    await this.#steered.record(asker.who, 'seeds', detail)
    const answers = await this.#steered.addSeeds(wanted)
    for (const { url, reason } of answers.flatMap((answer) => answer.refused)) {
      problems.push({ where: `seeds.${urls.get(url) ?? 0}`, what: REFUSALS[reason] })
    }
    const added = answers.reduce((sum, answer) => sum + answer.added.length, 0)
    const known = answers.reduce((sum, answer) => sum + answer.known.length, 0)
    this.#steered.events.add('change', `Seeds were added: ${added} new, ${known} known, by ${asker.who}.`)
    return { added, known, problems }
  }

  async trace({ url: text }: Asked<'trace'>): Promise<AnswerOf<'trace'>> {
    const url = canonicalise(text)
    if (typeof url !== 'string') throw new FieldsFault([{ where: 'url', what: REFUSALS[url.refused] }])
    this.#assertOwn('followed')
    await this.#steered.trace(url)
    return { text: `What happens to ${url} is told among the events from now on.` }
  }

  async settings(): Promise<AnswerOf<'settings'>> {
    return listSettings(this.#steered.said)
  }

  async preview({ options }: Asked<'preview'>): Promise<AnswerOf<'preview'>> {
    this.#assertOwn('changed')
    const { config, takesEffect } = checkChange(this.#steered.said, options)
    const node = this.#node()
    const { waiting } = node.figures
    const answers = options['url'] === undefined ? [] : await node.ask({ ask: 'preview', url: config.url })
    const reasons: Record<string, number> = {}
    for (const answer of answers) {
      for (const [reason, count] of Object.entries(answer.reasons)) reasons[reason] = (reasons[reason] ?? 0) + count
    }
    const share = Math.ceil(20 / Math.max(1, answers.length))
    return {
      waiting,
      hit: answers.reduce((sum, { hit }) => sum + hit, 0),
      reasons,
      examples: answers.flatMap(({ examples }) => examples.slice(0, share)),
      isComplete: answers.every(({ isComplete }) => isComplete),
      takesEffect,
    }
  }

  async set({ options }: Asked<'set'>, asker: Asker): Promise<AnswerOf<'set'>> {
    this.#assertOwn('changed')
    const { takesEffect } = checkChange(this.#steered.said, options)
    if (Object.values(options).every((own) => Object.keys(own).length === 0)) {
      throw new FieldsFault([{ where: 'options', what: 'names no option' }])
    }
    await this.#steered.record(asker.who, 'settings', withoutSecrets(options))
    const names = Object.entries(options).flatMap(([section, own]) =>
      Object.keys(own).map((key) => `${section}.${key}`),
    )
    this.#steered.events.add('change', `Options were changed: ${names.join(', ')}, by ${asker.who}.`)
    const changed = this.#steered.change((said) => checkChange(said, options))
    if (takesEffect === 'now') {
      await changed
      return { takesEffect, text: 'It holds from now on.' }
    }
    const isInForce = await within(changed, CHANGE_WAIT_MS)
    return {
      takesEffect,
      text: isInForce
        ? 'The crawl was opened anew, and it holds.'
        : 'The crawl is being opened anew; the events tell when it is.',
    }
  }

  async speed({ agent, node, ...change }: Asked<'speed'>, asker: Asker): Promise<AnswerOf<'speed'>> {
    this.#assertOwn('set to another speed')
    if (node !== undefined) throw new FieldsFault([{ where: 'node', what: 'the crawl has one machine, and no nodes' }])
    const { agents } = this.#node()
    if (agent !== undefined && agent >= agents) {
      throw new FieldsFault([{ where: 'agent', what: `there is none of this number; they are 0 to ${agents - 1}` }])
    }
    const { connections, ratePerSecond, bytesPerSecond } = change
    if (connections === undefined && ratePerSecond === undefined && bytesPerSecond === undefined) {
      throw new FieldsFault([
        { where: 'ratePerSecond', what: 'say what is to change: connections, ratePerSecond or bytesPerSecond' },
      ])
    }
    const speed = {
      ...(connections === undefined ? {} : { connections }),
      ...(ratePerSecond === undefined ? {} : { ratePerSecond }),
      ...(bytesPerSecond === undefined ? {} : { bytesPerSecond }),
    }
    if (agent !== undefined) {
      await this.#steered.record(asker.who, 'speed', { ...speed, agent })
      await this.#steered.setAgentSpeed(agent, speed)
      return { text: `It holds for agent ${agent} from now on.` }
    }
    // Of the whole crawl it is an option like others, and stays until somebody changes it.
    const options = optionsOfSpeed(speed)
    checkSpeed(this.#steered.said, options)
    await this.#steered.record(asker.who, 'speed', speed)
    const changed = this.#steered.change((said) => checkSpeed(said, options))
    const isInForce = await within(changed, CHANGE_WAIT_MS)
    return { text: isInForce ? 'It holds from now on.' : 'It holds when the crawl is open again.' }
  }

  async nodes(): Promise<AnswerOf<'nodes'>> {
    return { shares: 0, nodes: [] }
  }

  async nodeAction(): Promise<AnswerOf<'nodeAction'>> {
    throw new Fault('CONTROL_REFUSED', 'the crawl has one machine, and no nodes')
  }

  async nodeWeight(): Promise<AnswerOf<'nodeWeight'>> {
    throw new Fault('CONTROL_REFUSED', 'the crawl has one machine, and no nodes')
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    await this.#records.close()
  }

  #node(): SteeredNode {
    const { node, place } = this.#steered
    if (node !== null) return node
    if (place !== null) throw new Fault('CONTROL_REFUSED', 'of a cluster, ask the cluster: portolan ui --nats')
    throw notOpen()
  }

  #assertOwn(what: string): void {
    if (this.#steered.place !== null) {
      throw new Fault('CONTROL_REFUSED', `a crawl of a cluster is not ${what} by one of its nodes: portolan ui --nats`)
    }
    if (this.#steered.isStopping) {
      throw new Fault('CONTROL_REFUSED', `the crawl is stopping, and cannot be ${what}`)
    }
  }
}

function notOpen(): Fault {
  return new Fault('CONTROL_REFUSED', 'the crawl is being opened; ask again in a moment')
}

function joinHost(known: CataloguedHost, standing: HostStanding | undefined): AnswerOf<'hosts'>['items'][number] {
  const { host, pages, errors, bytes } = known
  const isResting = standing?.state === 'resting'
  return {
    host,
    pages,
    errors,
    bytes,
    waiting: standing?.waiting ?? null,
    state: standing?.state ?? null,
    restUntil: isResting ? new Date(systemClock.wallMs() + standing.restMs).toISOString() : null,
  }
}

function pacesOf(node: SteeredNode | null): readonly PaceFigures[] {
  return node === null ? [] : node.standings.flatMap((status) => (status === null ? [] : [status.pace]))
}

function plain(counts: Readonly<Record<string, number | undefined>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count ?? 0]))
}

/** True when it was done in time; it goes on in any case. */
async function within(work: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | null = null
  const late = new Promise<boolean>((resolveLate) => {
    timer = setTimeout(() => resolveLate(false), ms)
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    if (timer !== null) clearTimeout(timer)
    work.catch(() => {})
  }
}
