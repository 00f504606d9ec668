// Keeps a crawl out of traps: judges a URL when its turn comes, before anything is asked, and learns from every page
// that was kept. Each kind of trap has a detector in a file of its own; here they are asked in turn.
//
//     turn of a URL ──▶ judge ──▶ asked (budgets) ──▶ … fetched, kept … ──▶ learn ──▶ what the next judgement goes by
//
// Always true:
//   - a seed is never refused, and nothing is refused for a count alone unless a budget was set: it takes evidence, and
//     nearly all of it (decision 0028);
//   - tables are bounded; what is forgotten costs requests, never a page;
//   - on a host where nothing was ever noticed a judgement is one look into a table.

import type { Clock, SkipReason } from '../base/index.ts'
import type { LinkSpans, Sketch } from '../parse/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import { Calendars, mayHaveDate } from './calendars.ts'
import { type DomainBudgets, Domains } from './domains.ts'
import { Echoes } from './echoes.ts'
import { shownBy, titleMark } from './face.ts'
import { Facets } from './facets.ts'
import { Floods } from './floods.ts'
import { type HostLessons, newHost, restoredHost, savedHost } from './host-lessons.ts'
import { isMissingPage, learnMissing } from './missing-pages.ts'
import type { TrapsOptions } from './options.ts'
import { pathLoop } from './path-loops.ts'
import { Recent } from './recent.ts'
import { SessionIds } from './session-ids.ts'
import { type SavedLesson, TrapFile } from './trap-file.ts'
import { Places } from './url-shape.ts'

/** A URL whose turn has come. */
export interface Candidate {
  readonly url: CanonicalUrl
  readonly host: HostKey
  readonly isSeed: boolean
}

export interface Refused {
  readonly reason: SkipReason
  readonly detail: string
}

/** What became of a URL, as far as it teaches something. */
export interface Lesson {
  readonly url: CanonicalUrl
  readonly host: HostKey
  readonly via: CanonicalUrl | null
  readonly status: number
  readonly sketch: Sketch | null
  readonly title: string | null
  readonly charset: string | null
  /** What it led to that was not known: URLs of ours, and how many of other agents or too deep for now. */
  readonly leads: readonly { readonly url: CanonicalUrl; readonly host: HostKey }[]
  readonly leadsAway: number
  /** All links it has, wanted or not; null where it is nothing that has links. */
  readonly spans: LinkSpans | null
  /** The body, where it is HTML. */
  readonly html: { bytes(max: number): Uint8Array } | null
}

export interface TrapWatchParts {
  readonly options: TrapsOptions
  readonly budgets: DomainBudgets
  readonly clock: Clock
  /** Pages that a host has had, in all runs. */
  readonly pagesOf: (host: HostKey) => number
  /** Where lessons are kept from run to run. */
  readonly path: string
}

/** How much of an answer of 404 is read. */
const MISSING_BYTES = 65_536
/** How many of them are read of a host: most have one such page, and it is read once for each of its dead links otherwise. */
const MISSING_READ_MAX = 16

/** How often what was learnt is written down. */
const SAVE_MS = 5 * 60_000

export class TrapWatch {
  readonly #parts: TrapWatchParts
  readonly #file: TrapFile
  readonly #hosts: Recent<HostKey, HostLessons>
  readonly #calendars: Calendars
  readonly #sessionIds: SessionIds
  readonly #facets: Facets
  readonly #floods: Floods
  readonly #echoes: Echoes
  readonly #domains: Domains
  #saveAtMs: number
  #hasNews = false

  private constructor(parts: TrapWatchParts) {
    const { options, clock } = parts
    this.#parts = parts
    this.#file = new TrapFile(parts.path)
    this.#hosts = new Recent(options.hostsKept)
    this.#calendars = new Calendars(options)
    this.#sessionIds = new SessionIds(options)
    this.#facets = new Facets(options)
    const places = new Places()
    this.#floods = new Floods(options, places)
    this.#echoes = new Echoes(options, places)
    this.#domains = new Domains(options, parts.budgets)
    this.#saveAtMs = clock.nowMs() + SAVE_MS
  }

  /** With what an earlier run has learnt, if that can be read. */
  static async open(parts: TrapWatchParts): Promise<TrapWatch> {
    const watch = new TrapWatch(parts)
    for (const lesson of await watch.#file.load()) watch.#restore(lesson)
    return watch
  }

  /** What was wrong with what an earlier run had learnt; null where nothing was. */
  get warning(): string | null {
    return this.#file.warning
  }

  /** Why a URL is not asked for, or null. */
  judge({ url, host, isSeed }: Candidate): Refused | null {
    let lessons = this.#hosts.peek(host)
    if (lessons === undefined) {
      if (this.#parts.pagesOf(host) === 0) {
        const refused = this.#domains.judgeHost(host, isSeed)
        if (refused !== null) return refused
      }
      lessons = this.#hosts.set(host, newHost())
    }
    if (isSeed) return null
    // Its robots.txt may have taken so long that the others of its domain have been seen through meanwhile.
    if (!lessons.isBegun && this.#parts.pagesOf(host) === 0) {
      const endless = this.#domains.judgeEndless(host)
      if (endless !== null) return endless
    }
    return this.#judgeBudgets(url, host) ?? this.#judgeUrl(url, lessons)
  }

  #judgeBudgets(url: CanonicalUrl, host: HostKey): Refused | null {
    const { prefixPages } = this.#parts.options
    const spent = this.#domains.judgePage(host)
    if (spent !== null) return { reason: 'domain-budget', detail: spent }
    if (prefixPages === null || !this.#floods.isSpent(url, prefixPages, false)) return null
    return { reason: 'prefix-budget', detail: `its directory has its ${prefixPages} pages` }
  }

  #judgeUrl(url: CanonicalUrl, lessons: HostLessons): Refused | null {
    const { pathLoops } = this.#parts.options
    const loop = pathLoops === 0 ? null : pathLoop(url, pathLoops)
    if (loop !== null) return { reason: 'path-loop', detail: `${loop}/ again and again` }
    if (lessons.echoes > 0) {
      const detail = this.#echoes.judge(url)
      if (detail !== null) return { reason: 'path-loop', detail }
    }
    if (lessons.calendars > 0) {
      const detail = this.#calendars.judge(url, this.#parts.clock.wallMs())
      if (detail !== null) return { reason: 'calendar', detail }
    }
    if (lessons.sessions > 0 && lessons.parameters !== null) {
      const name = this.#sessionIds.judge(url, lessons.parameters)
      if (name !== null) {
        return { reason: 'session-id', detail: `visited with another ${name}, which changes nothing on this host` }
      }
    }
    if (lessons.facets > 0) {
      const detail = this.#facets.judge(url)
      if (detail !== null) return { reason: 'query-explosion', detail }
    }
    return lessons.floods > 0 ? this.#floods.judge(url) : null
  }

  /** A URL is asked for, for the first time: it counts for budgets. */
  asked({ url, host }: Candidate): void {
    const { prefixPages } = this.#parts.options
    this.#domains.asked(host)
    if (prefixPages !== null) this.#floods.isSpent(url, prefixPages, true)
    this.#hasNews = true
  }

  learn(lesson: Lesson): void {
    const lessons = this.#hosts.get(lesson.host) ?? this.#hosts.set(lesson.host, newHost())
    this.#hasNews = true
    if (lesson.status >= 200 && lesson.status < 300) this.#learnPage(lesson, lessons)
    else if (isMissing(lesson.status) && lesson.html !== null && lessons.missingRead < MISSING_READ_MAX) {
      const { html } = lesson
      lessons.missingRead++
      lessons.missing ??= []
      learnMissing(lessons.missing, () => html.bytes(MISSING_BYTES), lesson.charset)
    }
    const nowMs = this.#parts.clock.nowMs()
    if (nowMs < this.#saveAtMs) return
    this.#saveAtMs = nowMs + SAVE_MS
    void this.#save()
  }

  #learnPage({ url, host, via, sketch, title, leads, leadsAway, spans }: Lesson, lessons: HostLessons): void {
    const { options } = this.#parts
    if (mayHaveDate(url) && this.#calendars.learn(url, via, leads, this.#parts.clock.wallMs())) lessons.calendars++
    // A picture leads nowhere, and is worth its visit all the same.
    const isDeadEnd = leadsAway === 0 && spans !== null
    if (isDeadEnd && url.includes('?') && this.#facets.learn(url, leads)) lessons.facets++
    if (sketch === null) return
    const shown = shownBy(spans)
    const titled = titleMark(title)
    const face = shown ^ titled
    if (!lessons.isBegun) this.#domains.learn(host, sketch, face, leads, leadsAway)
    lessons.isBegun = true
    if (options.sessionIds > 0 && (url.includes('?') || url.includes(';'))) {
      lessons.parameters ??= new Map()
      if (this.#sessionIds.learn(url, sketch, title, shown, leads, lessons.parameters)) lessons.sessions++
    }
    if (this.#echoes.learn(url, sketch, face, leads)) lessons.echoes++
    const isSoft = lessons.missing !== null && isMissingPage(lessons.missing, sketch, titled, options.nearBits)
    if (this.#floods.learn(url, sketch, title, face, isSoft, leads, leadsAway)) lessons.floods++
  }

  /** Writes down what was learnt, if anything was. */
  async close(): Promise<void> {
    if (this.#hasNews) await this.#save()
  }

  #save(): Promise<void> {
    this.#hasNews = false
    return this.#file.save(this.#lessons())
  }

  *#lessons(): Generator<SavedLesson> {
    for (const [host, lessons] of this.#hosts) yield ['host', savedHost(host, lessons)]
    for (const one of this.#domains.save()) yield ['domain', one]
    for (const one of this.#calendars.save()) yield ['calendar', one]
    for (const one of this.#sessionIds.save()) yield ['rest', one]
    for (const one of this.#facets.save()) yield ['path', one]
    for (const one of this.#floods.save()) yield ['pattern', one]
    for (const one of this.#echoes.save()) yield ['directory', one]
  }

  #restore([kind, saved]: SavedLesson): void {
    switch (kind) {
      case 'host':
        this.#hosts.set(saved[0] as HostKey, restoredHost(saved))
        return
      case 'domain':
        return this.#domains.restore(saved)
      case 'calendar':
        return this.#calendars.restore(saved)
      case 'rest':
        return this.#sessionIds.restore(saved)
      case 'path':
        return this.#facets.restore(saved)
      case 'pattern':
        return this.#floods.restore(saved)
      case 'directory':
        return this.#echoes.restore(saved)
    }
  }
}

function isMissing(status: number): boolean {
  return status === 404 || status === 410
}
