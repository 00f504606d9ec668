// A crawl at rest: a directory in which nobody works. What its files say is answered from them (crawl-records.ts, report/crawl-standing.ts);
// what changes it is done as the commands do it, under the directory's lock, for its next run; what only a process could do is refused.

import { isAbsolute, join, resolve } from 'node:path'
import { stat } from 'node:fs/promises'
import { copyStoppedCrawl, type ScopePreview } from '../agent/index.ts'
import { Fault, REFUSALS, systemClock } from '../base/index.ts'
import { type CrawlConfig, isKeptSetting, isRunLimit, picked, type Said, storeSettings } from '../config/index.ts'
import { lockDirectory, whoHolds } from '../disk/index.ts'
import { crawlStanding, type CrawlStanding, formatCount, formatSpan } from '../report/index.ts'
import { readJsonLines } from '../store/index.ts'
import { canonicalise, type CanonicalUrl, compileScope } from '../url/index.ts'
import { loadNodeMark, sharesOf } from '../view/index.ts'
import type { AnswerOf, CrawlInfo } from './api.ts'
import { ChangeLog } from './change-log.ts'
import { CrawlRecords } from './crawl-records.ts'
import type { Asked, Asker, CrawlAnswers } from './crawl-source.ts'
import { limitsAtRest, meantBySettings, nextRun } from './next-run.ts'
import { openAtRest } from './open-catalogue.ts'
import { checkChange, listSettings, withoutSecrets } from './option-changes.ts'
import { keepPendingSeeds, loadPendingSeeds } from './pending-seeds.ts'
import { type FieldProblem, FieldsFault } from './refusals.ts'

export interface AtRest {
  readonly id: string
  readonly dir: string
  /** Starts a process that goes on with it, with these options beside those that are kept; null where that is not done here. */
  readonly start: ((options: Said) => Promise<string>) | null
  /** Opens it to see what another scope would skip, and closes it again; null where that is not done here. */
  readonly preview: ((url: CrawlConfig['url']) => Promise<readonly ScopePreview[]>) | null
}

const EXAMPLES_MAX = 20

type Recorder = (asker: Asker, what: string, detail: Record<string, unknown>) => Promise<void>

export class RestingCrawl implements CrawlAnswers {
  readonly #at: AtRest
  readonly #records: CrawlRecords
  /** How it stood when its files were as the key says: a look at a large journal takes its time. */
  #stood: { readonly key: string; readonly standing: Promise<CrawlStanding> } | null = null

  constructor(at: AtRest, records = new CrawlRecords(at.dir, openAtRest)) {
    this.#at = at
    this.#records = records
  }

  async crawl(): Promise<CrawlInfo> {
    const { id, dir } = this.#at
    const { figures, state, stoppedBecause, agents, summary } = await this.#standing()
    const mark = await loadNodeMark(dir)
    return {
      id,
      name: id,
      dir: resolve(dir),
      // Of a process that cannot be spoken to.
      state,
      stoppedBecause,
      startedAt: summary?.startedAt ?? null,
      agents,
      figures: {
        ...figures,
        failures: plain(figures.failures),
        answers: plain(figures.answers),
        skipped: plain(figures.skipped),
        refused: plain(figures.refused),
      },
      now: null,
      ...(mark === null ? await limitsAtRest(dir) : {}),
      cluster: mark === null ? null : { crawl: mark.crawl, nodes: 0 },
      can:
        state === 'running' || mark !== null
          ? []
          : this.#at.start === null
            ? ['checkpoint', 'seed', 'set']
            : ['start', 'checkpoint', 'seed', 'set'],
    }
  }

  async #standing(): Promise<CrawlStanding> {
    const key = await this.#key()
    if (this.#stood?.key !== key) this.#stood = { key, standing: crawlStanding(this.#at.dir) }
    const { standing } = this.#stood
    standing.catch(() => {
      this.#stood = null
    })
    return standing
  }

  /** Changes whenever somebody has worked in the directory. */
  async #key(): Promise<string> {
    const shares = await sharesOf(this.#at.dir)
    const places = ['crawl.json', 'state/lock', 'state/layout.json'].map((name) => join(this.#at.dir, name))
    const all = [
      ...places,
      ...shares.map((share) => join(share, 'state/journal')),
      ...shares.map((share) => join(share, 'pages.jsonl')),
    ]
    const marks = await Promise.all(
      all.map(async (path) => {
        const found = await stat(path).catch(() => null)
        return found === null ? '' : `${found.ino}:${found.size}:${found.mtimeMs}`
      }),
    )
    // A process that was killed leaves its lock as it was.
    return `${(await whoHolds(join(this.#at.dir, 'state')))?.pid} ${marks.join(' ')}`
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

  async explain({ url }: Asked<'explain'>): Promise<AnswerOf<'explain'>> {
    return this.#records.explain(url, (await meantBySettings(this.#at.dir)).config)
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

  /** How many wait for a host is known while it runs: by that, the order is that of pages. */
  async hosts({ sort, ...asked }: Asked<'hosts'>): Promise<AnswerOf<'hosts'>> {
    const catalogue = await this.#records.catalogue()
    const found = await catalogue.hosts({ ...asked, sort: sort === 'waiting' ? 'pages' : sort })
    const unknown = { waiting: null, state: null, restUntil: null }
    return {
      ...found,
      items: found.items.map(({ host, pages, errors, bytes }) => ({ host, pages, errors, bytes, ...unknown })),
    }
  }

  async host({ host }: Asked<'host'>): Promise<AnswerOf<'host'>> {
    const facts = await (await this.#records.catalogue()).host(host)
    if (facts === null) throw new Fault('CONTROL_UNKNOWN', `of ${host} nothing was fetched, and nothing failed`)
    const { config } = await meantBySettings(this.#at.dir)
    const { hostPages } = config.agent
    const { pages, errors, bytes, statuses, types, failures, skipped } = facts
    return {
      ...{ host, pages, errors, bytes, statuses, types, failures, skipped },
      ...{ waiting: null, state: null, restUntil: null, address: null, restMs: null },
      ...(await this.#records.mannersOf(host, config)),
      budgetLeft: hostPages === null ? null : Math.max(0, hostPages - pages),
    }
  }

  async agents(): Promise<AnswerOf<'agents'>> {
    const { shares, figures } = await this.#standing()
    const { agent } = (await meantBySettings(this.#at.dir)).config
    const speed = { connections: agent.connections, ratePerSecond: agent.maxRate, bytesPerSecond: agent.maxBandwidth }
    const each = shares.length === 0 ? [figures] : shares
    return {
      agents: each.map(({ pages, failed, waiting, hosts }, number) => ({
        ...{
          agent: number,
          node: null,
          pages,
          failed,
          waiting,
          hosts,
          active: 0,
          limit: 0,
          bottleneck: 'at rest',
          speed,
        },
      })),
    }
  }

  async nodes(): Promise<AnswerOf<'nodes'>> {
    return { shares: 0, nodes: [] }
  }

  // ── What changes it ─────────────────────────────────────────────────────────────────────────

  /** Under the limits of the last run, unless it is told others: whoever began it with 1,000 pages at most meant 1,000 pages. */
  async start({ options }: Asked<'start'>, asker: Asker): Promise<AnswerOf<'start'>> {
    if (this.#at.start === null) throw new Fault('CONTROL_REFUSED', 'crawls are not started from here')
    await this.#refuseForeign()
    const kept = Object.entries(options).flatMap(([section, own]) =>
      Object.keys(own).flatMap((key) => (isRunLimit(section, key) ? [] : [`options.${section}.${key}`])),
    )
    const what = 'is no limit of a run: change it in the settings, and start the crawl then'
    if (kept.length > 0) throw new FieldsFault(kept.map((where) => ({ where, what })))
    const { said, config } = checkChange((await nextRun(this.#at.dir)).said, options)
    refuseReached((await this.#standing()).figures, config)
    await this.#locked((record) => record(asker, 'start', options))
    return { text: await this.#at.start(picked(said, isRunLimit)) }
  }

  async checkpoint({ to }: Asked<'checkpoint'>, asker: Asker): Promise<AnswerOf<'checkpoint'>> {
    await this.#refuseForeign()
    if (to !== undefined && !isAbsolute(to)) {
      throw new FieldsFault([{ where: 'to', what: 'is not a whole path: nobody knows from where it would count' }])
    }
    const stamp = new Date(systemClock.wallMs()).toISOString().replaceAll(/[-:]|\.\d+/g, '')
    const place = to ?? join(resolve(this.#at.dir), 'checkpoints', stamp)
    await this.#locked((record) => record(asker, 'checkpoint', { to: place }))
    const clock = { nowMs: () => systemClock.nowMs() }
    const { copiedBytes, copiedFiles, linkedFiles } = await copyStoppedCrawl(this.#at.dir, place, clock)
    return { to: place, bytes: copiedBytes, files: copiedFiles + linkedFiles }
  }

  /** They wait beside the crawl for its next run, which takes them in before anything else. */
  async addSeeds({ seeds }: Asked<'addSeeds'>, asker: Asker): Promise<AnswerOf<'addSeeds'>> {
    await this.#refuseForeign()
    const scope = compileScope((await meantBySettings(this.#at.dir)).config.url)
    const problems: { where: string; what: string }[] = []
    const wanted = new Set<CanonicalUrl>()
    for (const [index, text] of seeds.entries()) {
      const url = canonicalise(text.trim())
      if (typeof url === 'string') scope.addSeed(url)
      const refusal = typeof url === 'string' ? scope.judge(url, 0) : url.refused
      if (typeof url === 'string' && refusal === null) wanted.add(url)
      else if (refusal !== null) problems.push({ where: `seeds.${index}`, what: REFUSALS[refusal] })
    }
    if (wanted.size === 0) return { added: 0, known: 0, problems }
    // Looked at while nobody else can add some: theirs stay.
    const added = await this.#locked(async (record) => {
      const pending = await loadPendingSeeds(this.#at.dir)
      const known = new Set<string>([...pending, ...(await this.#seeds())])
      const unknown = [...wanted].filter((url) => !known.has(url))
      if (unknown.length === 0) return unknown
      await record(asker, 'seeds', { seeds: unknown.slice(0, 100), count: unknown.length })
      await keepPendingSeeds(this.#at.dir, [...pending, ...unknown])
      return unknown
    })
    return { added: added.length, known: wanted.size - added.length, problems }
  }

  async #seeds(): Promise<readonly string[]> {
    const seeds: string[] = []
    for (const share of await sharesOf(this.#at.dir)) {
      const path = join(share, 'state/seeds.jsonl')
      if ((await stat(path).catch(() => null)) === null) continue
      for await (const { url } of readJsonLines<{ readonly url: string }>(path)) seeds.push(url)
    }
    return seeds
  }

  async settings(): Promise<AnswerOf<'settings'>> {
    return listSettings((await meantBySettings(this.#at.dir)).said)
  }

  async set({ options }: Asked<'set'>, asker: Asker): Promise<AnswerOf<'set'>> {
    await this.#refuseForeign()
    // Of what is said by then: what another changed a moment ago stays.
    await this.#locked(async (record) => {
      const change = this.#checked((await meantBySettings(this.#at.dir)).said, options)
      await record(asker, 'settings', withoutSecrets(options))
      await storeSettings(this.#at.dir, change.said)
    })
    return { takesEffect: 'next run', text: 'It holds from the next run on.' }
  }

  #checked(said: Said, options: Asked<'set'>['options']): ReturnType<typeof checkChange> {
    const change = checkChange(said, options)
    const names = Object.entries(options).flatMap(([section, own]) =>
      Object.keys(own).map((key) => [section, key] as const),
    )
    if (names.length === 0) throw new FieldsFault([{ where: 'options', what: 'names no option' }])
    const lost = names.filter(([section, key]) => !isKeptSetting(section, key))
    if (lost.length === 0) return change
    const what = 'belongs to one run and is not kept; say it when the crawl is started, or change it while it runs'
    throw new FieldsFault(lost.map(([section, key]) => ({ where: `options.${section}.${key}`, what })))
  }

  async preview({ options }: Asked<'preview'>): Promise<AnswerOf<'preview'>> {
    await this.#refuseForeign()
    const { config } = checkChange((await meantBySettings(this.#at.dir)).said, options)
    const { waiting } = (await this.#standing()).figures
    if (options['url'] === undefined) {
      return { waiting, hit: 0, reasons: {}, examples: [], isComplete: true, takesEffect: 'anew' }
    }
    if (this.#at.preview === null) {
      throw new Fault('CONTROL_REFUSED', 'what waits can be looked through only while the crawl runs')
    }
    return joinPreviews(waiting, await this.#at.preview(config.url))
  }

  // ── What only a process can do ──────────────────────────────────────────────────────────────

  pause(): Promise<never> {
    return this.#refuse('there is nothing to pause')
  }

  resume(): Promise<never> {
    return this.#refuse('start it')
  }

  stop(): Promise<never> {
    return this.#refuse('there is nothing to stop')
  }

  trace(): Promise<never> {
    return this.#refuse('a URL is followed while it runs; `explain` says what is known of it')
  }

  speed(): Promise<never> {
    return this.#refuse('set agent.maxRate, agent.maxBandwidth or agent.connections for its next run')
  }

  nodeAction(): Promise<never> {
    return this.#refuse('nodes are those of a cluster')
  }

  nodeWeight(): Promise<never> {
    return this.#refuse('nodes are those of a cluster')
  }

  async #refuse(what: string): Promise<never> {
    const { state } = await this.#standing()
    const why = state === 'running' ? 'the process that runs it cannot be spoken to' : 'the crawl does not run'
    throw new Fault('CONTROL_REFUSED', `${why}: ${what}`)
  }

  close(): Promise<void> {
    return this.#records.close()
  }

  /** Of a cluster, its engine has the say. */
  async #refuseForeign(): Promise<void> {
    const mark = await loadNodeMark(this.#at.dir)
    if (mark === null) return
    throw new Fault(
      'CONTROL_REFUSED',
      `this is the part of node ${mark.node} in crawl ${mark.crawl}: portolan ui --nats`,
    )
  }

  /** Done while nobody else can come in: a crawl that was started meanwhile is LEDGER_LOCKED. Whatever is changed is recorded first. */
  async #locked<T>(work: (record: Recorder) => Promise<T>): Promise<T> {
    const lock = await lockDirectory(join(this.#at.dir, 'state'))
    try {
      return await work(async (asker, what, detail) => {
        const changes = await ChangeLog.open(this.#at.dir, systemClock)
        try {
          await changes.record(asker.who, what, detail)
        } finally {
          await changes.close()
        }
      })
    } finally {
      await lock.release()
    }
  }
}

/** A run that would end at once is not what somebody wants who starts it. */
function refuseReached({ pages, seconds }: CrawlStanding['figures'], { agent }: CrawlConfig): void {
  const more = 'say more, or null for no limit'
  const fields: FieldProblem[] = []
  if (agent.maxPages !== null && pages >= agent.maxPages) {
    fields.push({ where: 'options.agent.maxPages', what: `the crawl has ${formatCount(pages)} pages; ${more}` })
  }
  if (agent.maxTime !== null && seconds * 1_000 >= agent.maxTime) {
    const worked = formatSpan(seconds * 1_000)
    fields.push({ where: 'options.agent.maxTime', what: `the crawl has worked for ${worked}; ${more}` })
  }
  if (fields.length > 0) throw new FieldsFault(fields)
}

function joinPreviews(waiting: number, previews: readonly ScopePreview[]): AnswerOf<'preview'> {
  const reasons: Record<string, number> = {}
  for (const preview of previews) {
    for (const [reason, count] of Object.entries(preview.reasons)) reasons[reason] = (reasons[reason] ?? 0) + count
  }
  return {
    waiting,
    hit: previews.reduce((sum, { hit }) => sum + hit, 0),
    reasons,
    examples: previews.flatMap(({ examples }) => examples).slice(0, EXAMPLES_MAX),
    isComplete: previews.every(({ isComplete }) => isComplete),
    takesEffect: 'anew',
  }
}

function plain(counts: Readonly<Record<string, number | undefined>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count ?? 0]))
}
