// Who may be asked what: the rules of every origin, and the errands that fetch them.
//
// robots.txt is asked for in the host's own turn, as an errand: the host is parked (it gives no turns
// for pages) until its rules are known. A redirect becomes an errand in the line of the host it
// points to, so that every hop is made in its host's turn, with its host's rest. Parked hosts
// still run errands; therefore two hosts whose robots.txt redirect to each other do not wait for ever.
//
//   unknown ──▶ errand ──▶ rules | allow-all | disallow-all ──┬──▶ kept ≤ 24 h
//                 │  ▲                                        └ errand for tdmrep.json, where that is wanted ─▶
//                 └──┘ redirect (≤ 5), server error (tries)

import { hash } from 'node:crypto'
import type { Clock, SkipReason } from '../base/index.ts'
import type { Document } from '../document/index.ts'
import type { FetchOutcome } from '../fetch/index.ts'
import type { ErrandAnswer, PlainAnswer } from '../exchange/index.ts'
import type { Errand, Frontier } from '../frontier/index.ts'
import {
  ALLOW_ALL,
  DISALLOW_ALL,
  judgeRobotsAnswer,
  type OptOutPolicy,
  parseRobots,
  parseTdmFile,
  type RobotsCache,
  type RobotsEntry,
  type RobotsLife,
  robotsLifeMs,
  type RobotsVerdict,
  type SavedRobotsEntry,
  SiteWishes,
  TDM_FILE_PATH,
  type TdmRule,
} from '../robots/index.ts'
import type { Archive } from '../store/index.ts'
import type { BrokenVisits } from './broken-visits.ts'
import { plainAnswer } from './plain-answer.ts'
import { passingTrouble } from './retry-table.ts'
import type { CrawlDelays } from './crawl-delays.ts'
import {
  BaseUrl,
  canonicalise,
  type CanonicalUrl,
  hostKeyOf,
  type HostKey,
  type Origin,
  originOf,
  robotsUrlOf,
} from '../url/index.ts'

/** What an errand for robots.txt carries with it. */
interface RobotsPurpose {
  /** Whose rules these will be. */
  readonly origin: Origin
  /** The host that waits for them. */
  readonly asker: HostKey
  readonly hops: number
  /** Vain attempts so far, and pauses the server asked for (429, 503). */
  readonly tries: number
  readonly pauses: number
  /** What robots.txt said, where tdmrep.json is what the errand is for. */
  readonly learnt: Learnt | null
}

/** What robots.txt said, while the second file is being fetched. */
interface Learnt {
  readonly entry: RobotsEntry
  readonly lifeMs: number
}

/** An errand that another agent asked for: its answer goes back as it is. */
interface NeighbourPurpose {
  readonly done: (answer: ErrandAnswer) => void
}

/** The other agents, for redirects to hosts of theirs. */
export interface ErrandsToOthers {
  /** Null for a host of our own. */
  ownerOf(host: HostKey): number | null
  errand(agent: number, url: CanonicalUrl): Promise<ErrandAnswer>
}

export interface RobotsDeskParts {
  readonly clock: Clock
  readonly frontier: Frontier
  readonly cache: RobotsCache
  readonly archive: Archive
  readonly productToken: string
  /** Null where one agent has all hosts. */
  readonly others: ErrandsToOthers | null
  /** Told of what broke where nobody waits for it. */
  readonly onFault: (fault: unknown) => void
  readonly broken: BrokenVisits
  readonly retries: number
  readonly pauses: number
  readonly crawlDelays: CrawlDelays
  readonly life: RobotsLife
  readonly policy: OptOutPolicy
  /** Rules that were learnt, for the ledger. */
  readonly onLearnt: (note: SavedRobotsEntry) => void
  readonly onSitemaps: (robotsUrl: CanonicalUrl, sitemaps: readonly string[]) => Promise<void>
}

export type Judgement =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'refused'; readonly reason: SkipReason; readonly detail: string }

/** Stands for what a file would have held where there is none. */
const NO_FILE: RobotsEntry = { rules: ALLOW_ALL, sitemaps: [], wishes: null, knowsTdm: false }
const LETTER_F = 102
const ALLOWED: Judgement = { kind: 'allowed' }
const UNKNOWN: Judgement = { kind: 'unknown' }

export class RobotsDesk {
  readonly #parts: RobotsDeskParts
  /**
   * Rules just learnt and not used yet. The cache may be too small to hold them until the host's next
   * turn; without this such a host would be asked for its robots.txt for ever.
   */
  readonly #fresh = new Map<Origin, RobotsEntry>()

  constructor(parts: RobotsDeskParts) {
    this.#parts = parts
  }

  judge(origin: Origin, pathAndQuery: string): Judgement {
    // Files have no server that could have rules.
    if (origin.charCodeAt(0) === LETTER_F && origin.startsWith('file:')) return ALLOWED
    const entry = this.#parts.cache.get(origin) ?? this.#fresh.get(origin) ?? null
    // A crawl that goes on with another purpose may need what it did not ask for before.
    if (entry === null || (this.#parts.policy.wantsTdmFile && !entry.knowsTdm)) return UNKNOWN
    if (this.#fresh.size > 0) this.#fresh.delete(origin)
    if (entry.rules.answer === 'disallow-all') return unavailable(entry)
    const decision = entry.rules.decide(pathAndQuery)
    if (!decision.allowed) {
      return { kind: 'refused', reason: 'robots', detail: `robots.txt line ${decision.line}: ${decision.rule}` }
    }
    return entry.wishes === null ? ALLOWED : this.#judgeWishes(entry.wishes, pathAndQuery)
  }

  #judgeWishes(wishes: SiteWishes, pathAndQuery: string): Judgement {
    const { policy } = this.#parts
    const tdm = wishes.tdmOf(pathAndQuery)
    const asked = wishes.usageOf(pathAndQuery)
    const reserved = { optOut: 'tdm', source: 'tdmrep.json: tdm-reservation 1' } as const
    const wish = policy.firstToSkip(tdm?.isReserved === true ? [...asked, reserved] : asked)
    return wish === null
      ? ALLOWED
      : { kind: 'refused', reason: 'opt-out', detail: `${wish.optOut}; not asked for: ${wish.source}` }
  }

  /**
   * What the site of a page asks of its use, as known when it was fetched. Null where it asks nothing, or its rules are
   * forgotten: hosts by the thousand would have to come between the question whether it may be fetched and its answer.
   */
  wishesFor(url: CanonicalUrl): SiteWishes | null {
    const { cache } = this.#parts
    return cache.hasWishes ? (cache.getStale(originOf(url))?.wishes ?? null) : null
  }

  /** Sends for the rules of an origin. Its host gives no turns for pages until they are there. */
  request(origin: Origin, host: HostKey): void {
    const { frontier } = this.#parts
    const purpose: RobotsPurpose = { origin, asker: host, hops: 0, tries: 0, pauses: 0, learnt: null }
    frontier.park(host)
    frontier.sendErrand({ url: robotsUrlOf(origin), host, purpose })
  }

  /** What an errand brought back: 'retry' when the same host has to be asked again. */
  async answer(errand: Errand, outcome: FetchOutcome): Promise<'done' | 'retry'> {
    if (isForNeighbour(errand.purpose)) return this.#answerNeighbour(errand.purpose, outcome)
    const purpose = errand.purpose as RobotsPurpose
    if (outcome.kind === 'skipped') {
      // Our own refusal to connect. Pages of the asker are refused for the same reason, each by its name;
      // a redirect into forbidden ground is a file that cannot be had.
      if (errand.host === purpose.asker) this.#learn(purpose, 'allow-all', NO_FILE, null)
      else this.#lacks(purpose, `it leads to ${errand.url}, ${outcome.reason}`)
      return 'done'
    }
    if (outcome.kind === 'failed' && outcome.code === 'FETCH_NOT_AVAILABLE') {
      this.#learn(purpose, 'allow-all', NO_FILE, null)
      return 'done'
    }
    if (outcome.kind === 'failed') {
      return this.#missed(errand.url, { ...purpose, tries: purpose.tries + 1 }, `${outcome.code}, ${outcome.detail}`)
    }
    try {
      await this.#archive(outcome.document)
      return await this.#judgeAnswer(purpose, plainAnswer(outcome.document))
    } catch (cause) {
      return this.#broke(errand.url, purpose, cause)
    }
  }

  /** We broke on a file, and have learnt nothing from it: as if it had not come. */
  #broke(url: CanonicalUrl, purpose: RobotsPurpose, cause: unknown): 'done' | 'retry' {
    this.#parts.broken.take(url, cause)
    return this.#missed(url, { ...purpose, tries: purpose.tries + 1 }, 'VISIT_BROKEN')
  }

  async #judgeAnswer(purpose: RobotsPurpose, answer: PlainAnswer): Promise<'done' | 'retry'> {
    const { url, status } = answer
    const target = targetOf(answer)
    const verdict = judgeRobotsAnswer({ status, location: target, hops: purpose.hops })
    switch (verdict) {
      case 'follow':
        if (target !== null) this.#send(target, { ...purpose, hops: purpose.hops + 1, tries: 0, pauses: 0 })
        return 'done'
      case 'disallow-all':
        return passingTrouble(status) === 'FETCH_THROTTLED'
          ? this.#missed(url, { ...purpose, pauses: purpose.pauses + 1 }, `status ${status}`)
          : this.#missed(url, { ...purpose, tries: purpose.tries + 1 }, `status ${status}`)
      case 'allow-all':
        this.#learn(purpose, verdict, NO_FILE, answer.cacheControl)
        return 'done'
      case 'parse': {
        if (purpose.learnt !== null) {
          this.#finish(purpose, purpose.learnt, answer.isCut ? [] : parseTdmFile(answer.body))
          return 'done'
        }
        const file = parseRobots(answer.body, answer.isCut)
        const { productToken } = this.#parts
        const wishes = SiteWishes.of(file.usageFor(productToken), [])
        const entry = { rules: file.rulesFor(productToken), sitemaps: file.sitemaps, wishes, knowsTdm: false }
        this.#learn(purpose, verdict, entry, answer.cacheControl)
        await this.#sitemaps(url, file.sitemaps)
        return 'done'
      }
    }
  }

  /** The rules are learnt; a sitemap that breaks us changes nothing about them. */
  async #sitemaps(url: CanonicalUrl, sitemaps: readonly string[]): Promise<void> {
    try {
      await this.#parts.onSitemaps(url, sitemaps)
    } catch (cause) {
      this.#parts.broken.take(url, cause)
    }
  }

  /** The host an errand was sent to cannot be reached at all. */
  unreachable({ purpose }: Errand): void {
    if (isForNeighbour(purpose)) purpose.done({ kind: 'unreachable' })
    else this.#lacks(purpose as RobotsPurpose, 'its host cannot be reached')
  }

  /** Fetches a robots.txt of a host of ours for another agent. */
  runForNeighbour(url: CanonicalUrl): Promise<ErrandAnswer> {
    return new Promise((done) => {
      const purpose: NeighbourPurpose = { done }
      this.#parts.frontier.sendErrand({ url, host: hostKeyOf(url), purpose })
    })
  }

  async #answerNeighbour({ done }: NeighbourPurpose, outcome: FetchOutcome): Promise<'done'> {
    if (outcome.kind === 'fetched') {
      try {
        await this.#archive(outcome.document)
        done({ kind: 'answered', answer: plainAnswer(outcome.document) })
      } catch (cause) {
        this.#parts.broken.take(outcome.document.url, cause)
        done({ kind: 'failed' })
      }
    } else done({ kind: outcome.kind === 'skipped' ? 'refused' : 'failed' })
    return 'done'
  }

  /** What another agent brought back for us. */
  async #returned(url: CanonicalUrl, purpose: RobotsPurpose, answer: ErrandAnswer): Promise<void> {
    if (answer.kind === 'answered') {
      try {
        await this.#judgeAnswer(purpose, answer.answer)
      } catch (cause) {
        this.#broke(url, purpose, cause)
      }
    } else if (answer.kind === 'failed') {
      this.#missed(url, { ...purpose, tries: purpose.tries + 1 }, `it leads to ${url}, which does not answer`)
    } else this.#lacks(purpose, `it leads to ${url}, which cannot be reached`)
  }

  #missed(url: CanonicalUrl, purpose: RobotsPurpose, trouble: string): 'done' | 'retry' {
    const { retries, pauses } = this.#parts
    if (purpose.tries <= retries && purpose.pauses <= pauses) {
      this.#send(url, purpose)
      return 'retry'
    }
    this.#lacks(purpose, trouble)
    return 'done'
  }

  /** The file cannot be had: nothing may be asked for, and whoever asks why is told. */
  #lacks(purpose: RobotsPurpose, trouble: string): void {
    this.#learn(purpose, 'disallow-all', { ...NO_FILE, trouble }, null)
  }

  /** Into the line of its host, which may be with another agent. */
  #send(url: CanonicalUrl, purpose: RobotsPurpose): void {
    const { frontier, others, onFault } = this.#parts
    const host = hostKeyOf(url)
    const owner = others?.ownerOf(host) ?? null
    if (others === null || owner === null) frontier.sendErrand({ url, host, purpose })
    else {
      others
        .errand(owner, url)
        .then((answer) => this.#returned(url, purpose, answer))
        .catch(onFault)
    }
  }

  #learn(purpose: RobotsPurpose, verdict: RobotsVerdict, parsed: RobotsEntry, cacheControl: string | null): void {
    // Whatever became of tdmrep.json: a site without one reserves nothing.
    if (purpose.learnt !== null) return this.#finish(purpose, purpose.learnt, [])
    const { frontier, crawlDelays, life, policy } = this.#parts
    const { origin, asker } = purpose
    const rules = verdict === 'parse' ? parsed.rules : verdict === 'allow-all' ? ALLOW_ALL : DISALLOW_ALL
    const lifeMs = robotsLifeMs(verdict, cacheControl, life)
    const learnt: Learnt = { entry: { ...parsed, rules }, lifeMs }
    crawlDelays.learn(asker, origin, rules.crawlDelayMs)
    if (!policy.wantsTdmFile || !rules.decide(TDM_FILE_PATH).allowed) return this.#finish(purpose, learnt, [])
    const tdm: RobotsPurpose = { origin, asker, hops: 0, tries: 0, pauses: 0, learnt }
    frontier.sendErrand({ url: `${origin}${TDM_FILE_PATH}` as CanonicalUrl, host: asker, purpose: tdm })
  }

  /** All is known: the host may be visited. */
  #finish({ origin, asker }: RobotsPurpose, { entry: said, lifeMs }: Learnt, tdm: readonly TdmRule[]): void {
    const { cache, frontier, clock, onLearnt, policy } = this.#parts
    const { rules, sitemaps, trouble } = said
    const why = trouble === undefined ? {} : { trouble }
    const knowsTdm = policy.wantsTdmFile
    const wishes = tdm.length === 0 ? said.wishes : SiteWishes.of(said.wishes?.save().usage ?? [], tdm)
    const entry: RobotsEntry = { rules, sitemaps, wishes, knowsTdm, ...why }
    cache.set(origin, entry, lifeMs)
    this.#fresh.set(origin, entry)
    const note = { origin, fetchedWallMs: clock.wallMs(), lifeMs, rules: rules.save(), sitemaps }
    onLearnt({
      ...note,
      ...(wishes === null ? {} : { wishes: wishes.save() }),
      ...(knowsTdm ? { knowsTdm } : {}),
      ...why,
    })
    frontier.unpark(asker)
  }

  async #archive(document: Document): Promise<void> {
    const payloadDigest = `sha256:${hash('sha256', document.wire.bytes(), 'hex')}`
    await this.#parts.archive.write(document, { payloadDigest, revisitOf: null, via: null, depth: 0 })
  }
}

function unavailable({ trouble }: RobotsEntry): Judgement {
  const detail = `robots.txt could not be had${trouble === undefined ? '' : `: ${trouble}`}`
  return { kind: 'refused', reason: 'robots-unavailable', detail }
}

function isForNeighbour(purpose: unknown): purpose is NeighbourPurpose {
  return typeof purpose === 'object' && purpose !== null && 'done' in purpose
}

function targetOf({ location, url }: PlainAnswer): CanonicalUrl | null {
  if (location === null) return null
  const target = canonicalise(location, BaseUrl.of(url))
  return typeof target === 'string' && /^https?:/.test(target) ? target : null
}
