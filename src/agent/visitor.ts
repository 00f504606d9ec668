// One turn of one host: resolve its name, claim its address, ask what may be asked, one request at a
// time, and give the turn back with the rest that follows from the answers.
//
// A host that needs no rest is asked for the next URL before its last pages are settled, where few hosts are asked: else the server would have
// nothing to do while we read, and we nothing while it answers (decision 0059).
//
// Always true: a turn is settled exactly once; an entry of the turn is settled with a verdict, or goes
// back to the frontier, never both; every request counts as one for the host's rest, robots.txt included.
//
// What came from the web (names, answers, pages, rules) is handled where a throw is caught: it costs its URL a try, as
// any failure does. A throw of frontier, books or permits is not caught: it ends the agent (broken-visits.ts).

import type { Clock, FailureCode, FaultPoints, RefusalReason, SkipReason } from '../base/index.ts'
import type { Address, Resolution, Resolver } from '../dns/index.ts'
import type { Document } from '../document/index.ts'
import type { FetchOutcome } from '../fetch/index.ts'
import type { Errand, Frontier, FrontierEntry, Turn } from '../frontier/index.ts'
import type { RestNote } from '../ledger/index.ts'
import type { TrapWatch } from '../traps/index.ts'
import { type CanonicalUrl, type HostKey, type Origin, originOf, robotsPathOf } from '../url/index.ts'
import type { Books } from './books.ts'
import type { BrokenVisits } from './broken-visits.ts'
import type { CookieWalls } from './cookie-walls.ts'
import type { HeadFirst } from './head-first.ts'
import type { Brought, Lending } from './lending.ts'
import { type Manners, maySayRest } from './manners.ts'
import type { PacedFetcher } from './paced-fetcher.ts'
import type { PageSettler } from './page-settler.ts'
import type { Returns } from './returns.ts'
import type { Permits } from './permits.ts'
import { PagesBehind } from './pages-behind.ts'
import { passingTrouble, RETRY_TABLE } from './retry-table.ts'
import type { RobotsDesk } from './robots-desk.ts'
import type { Traces } from './traces.ts'
import type { Trouble } from './trouble.ts'

export interface VisitorParts {
  readonly clock: Clock
  readonly frontier: Frontier
  /** Null behind a proxy, which resolves names itself. */
  readonly resolver: Resolver | null
  readonly fetcher: PacedFetcher
  /** Null where robots are ignored. */
  readonly desk: RobotsDesk | null
  readonly settler: PageSettler
  readonly books: Books
  /** Null where no page that waits was visited before. */
  readonly returns: Returns | null
  readonly walls: CookieWalls
  /** Null where no page's head is asked for first. */
  readonly heads: HeadFirst | null
  readonly trouble: Trouble
  readonly manners: Manners
  readonly broken: BrokenVisits
  /** Null where every turn of ours is made by us. */
  readonly lending: Lending | null
  /** Why a URL that waits is not wanted any more, where the scope has changed since it was admitted; else null. */
  readonly rescope: ((entry: FrontierEntry) => RefusalReason | null) | null
  /** Null where traps are walked into. */
  readonly traps: TrapWatch | null
  readonly permits: Permits
  readonly traces: Traces
  /** True once no new request may be made. */
  readonly isStopping: () => boolean
  /** Turns under way, of all hosts. */
  readonly turnsOut: () => number
  /** Aborted when requests under way must end too. */
  readonly signal: AbortSignal
  readonly rules: VisitorRules
  readonly faults: FaultPoints
}

export interface VisitorRules {
  readonly retries: number
  readonly pauses: number
  readonly hostPages: number | null
}

/** What an answer means, before anything is done about it. */
interface Reading {
  readonly restMs: number
  /** The rest the server asked for. */
  readonly pause: RestNote | null
  /** 'pause' and 'retry': no answer yet, the same URL is asked for again. */
  readonly kind: 'final' | 'pause' | 'retry'
}

/** Why a URL is not asked for. */
type Verdict =
  | { readonly kind: 'failed'; readonly code: FailureCode; readonly detail: string }
  | { readonly kind: 'skipped'; readonly reason: SkipReason; readonly detail: string }

/** What follows from one request for the rest of the turn. */
interface Step {
  readonly restMs: number
  /** Goes back to the head of the line. */
  readonly back?: FrontierEntry
  /** Goes back to the tail of the line. */
  readonly again?: FrontierEntry
  /** The turn ends here, whatever the rest. */
  readonly ends?: boolean
  /** The page is not settled yet, and its host may be asked before it is. What comes of it is at most that it is asked for again. */
  readonly settle?: () => Promise<Step>
}

/**
 * With more turns under way than this the server of another host has an answer by the time a page is settled. Asked ahead all the same, of a
 * thousand hosts, a page took 3 or 4 % more of the processor: answers wait for us, and are in no cache any more when they are read.
 */
const TURNS_FEW = 8

export class Visitor {
  readonly #parts: VisitorParts

  constructor(parts: VisitorParts) {
    this.#parts = parts
  }

  async visit(turn: Turn): Promise<void> {
    const { frontier, resolver, clock, trouble, signal, manners } = this.#parts
    const closedMs = manners.closedMs(turn.host)
    if (closedMs > 0) return this.#giveBack(turn, 0, closedMs)
    let addresses: readonly Address[] = []
    if (resolver !== null) {
      const resolution = await this.#resolve(resolver, turn.host)
      if (signal.aborted) return this.#giveBack(turn, 0)
      if (resolution.kind === 'failed') {
        return this.#hostFailed(turn, turn.entries, turn.host, resolution.code, resolution.detail)
      }
      trouble.answered(turn.host)
      addresses = resolution.addresses
      const freeAtMs = frontier.claimAddress(turn, (addresses[0] as Address).ip)
      if (freeAtMs !== 0) return this.#giveBack(turn, Math.max(0, freeAtMs - clock.nowMs()))
    }
    if (turn.errand !== null) await this.#runErrand(turn, turn.errand, addresses)
    else await this.#visitEntries(turn, addresses)
  }

  async #resolve(resolver: Resolver, host: HostKey): Promise<Resolution> {
    try {
      return await resolver.resolve(host)
    } catch (cause) {
      return { kind: 'failed', code: 'VISIT_BROKEN', detail: this.#parts.broken.take(host, cause) }
    }
  }

  /** The whole turn unused: what was to be asked waits on. */
  #giveBack(turn: Turn, restMs: number, closedMs = 0): void {
    const { frontier } = this.#parts
    frontier.settle(turn, { restMs, closedMs, unvisited: turn.entries, wasAsked: false })
    if (turn.errand !== null) frontier.sendErrand(turn.errand)
  }

  async #visitEntries(turn: Turn, addresses: readonly Address[]): Promise<void> {
    const { frontier, isStopping, permits, books, manners, lending } = this.#parts
    const { entries } = turn
    const again: FrontierEntry[] = []
    let wasAsked = false
    let brought: Brought | null = null
    /** Null as long as every page is settled before the next is asked for. */
    let behind: PagesBehind | null = null
    for (let i = 0; i < entries.length; i++) {
      const entry = entries[i] as FrontierEntry
      const origin = originOf(entry.url)
      const isHere = brought?.has(entry.url) === true
      const mustEnd = !isHere && (isStopping() || (i > 0 && manners.closedMs(turn.host) > 0))
      const leave = mustEnd ? 'stopping' : this.#look(entry, origin)
      if (leave === 'again') again.push({ ...entry, tries: entry.tries + 1 })
      if (leave === 'again' || leave === 'settled') continue
      if (leave === 'ask' && lending !== null && !wasAsked && lending.wants(turn, entry)) {
        brought = await this.#lend(turn, i, addresses, lending)
        wasAsked = brought !== null
      }
      // Whoever had the turn may have asked for it: the host rests before we do.
      const isOurs = brought === null || brought.has(entry.url)
      if (leave !== 'ask' || !isOurs || !permits.take()) {
        if (behind !== null) await behind.all()
        const restMs = isOurs ? 0 : manners.restAfter(turn.host, 0)
        return frontier.settle(turn, { restMs, unvisited: entries.slice(i), again, wasAsked })
      }
      wasAsked = true
      const isHead = this.#begin(entry, addresses)
      const asked = this.#ask(turn, entry, addresses, i, isHead, brought)
      behind?.begin()
      const outcome = await (behind?.unlessBroken(asked) ?? asked)
      // It may end the turn, which ends when all of its pages are settled; and a rest that it asks for stands behind them in the books (#settled).
      if (behind !== null && !saysNothingOfRests(outcome)) await behind.all()
      const step = await this.#answered(turn, entry, origin, i, again, isHead, outcome)
      if (step === null) return
      if (step.again !== undefined) again.push(step.again)
      const { settle } = step
      if (settle !== undefined) {
        behind ??= new PagesBehind()
        behind.hold(async () => {
          const settled = await settle()
          if (settled.again !== undefined) again.push(settled.again)
        })
        await behind.room()
      } else if (behind !== null) await behind.all()
      if (step.restMs > 0 || step.ends === true) {
        const unvisited = step.back === undefined ? entries.slice(i + 1) : [step.back, ...entries.slice(i + 1)]
        return frontier.settle(turn, { restMs: step.restMs, unvisited, again })
      }
    }
    if (behind !== null) await behind.all()
    frontier.settle(turn, { restMs: 0, again, wasAsked })
    // A host that was given up may have millions of URLs; what is not committed stays bounded.
    const pressure = books.pressure()
    if (pressure !== undefined) await pressure
  }

  /** Lends the turn from this entry on, as far as others may ask for what is in it; null where that is nothing. */
  async #lend(turn: Turn, from: number, addresses: readonly Address[], lending: Lending): Promise<Brought | null> {
    const { permits, returns } = this.#parts
    const urls: CanonicalUrl[] = []
    for (const entry of turn.entries.slice(from)) {
      const isReturn = returns !== null && returns.has(entry.url)
      if (isReturn || !lending.isPlain(entry) || !this.#isAllowed(entry) || !permits.take()) break
      urls.push(entry.url)
    }
    try {
      return urls.length === 0 ? null : await lending.lend(urls, addresses)
    } finally {
      // Each answer takes one when it is settled; one that finds none is asked for again some day.
      for (const _ of urls) permits.giveBack()
    }
  }

  #isAllowed(entry: FrontierEntry): boolean {
    try {
      return this.#judge(entry, originOf(entry.url)) === 'ask'
    } catch {
      // It is met again when its turn comes.
      return false
    }
  }

  /** As #mayAsk(), where rules may break on an odd URL: 'again' when they did and it has tries left. */
  #look(entry: FrontierEntry, origin: Origin): 'ask' | 'settled' | 'robots-needed' | 'again' {
    const { broken, books, rules } = this.#parts
    try {
      return this.#mayAsk(entry, origin)
    } catch (cause) {
      const detail = broken.take(entry.url, cause)
      if (entry.tries < rules.retries) return 'again'
      books.failed(entry, 'VISIT_BROKEN', detail)
      return 'settled'
    }
  }

  /** Settles what needs no request at all; sends for robots.txt where it is not known. */
  #mayAsk(entry: FrontierEntry, origin: Origin): 'ask' | 'settled' | 'robots-needed' {
    const { books, desk } = this.#parts
    const judgement = this.#judge(entry, origin)
    if (judgement === 'ask') return 'ask'
    if (judgement === 'robots-needed') {
      desk?.request(origin, entry.host)
      return 'robots-needed'
    }
    if (judgement.kind === 'failed') books.failed(entry, judgement.code, judgement.detail)
    else books.skipped(entry, judgement.reason, judgement.detail)
    return 'settled'
  }

  /** Whether it may be asked for now, and why not. */
  #judge(entry: FrontierEntry, origin: Origin): 'ask' | 'robots-needed' | Verdict {
    const { desk, frontier, traps, trouble, rescope, rules, returns } = this.#parts
    const gone = trouble.givenUp(origin) ?? trouble.givenUp(entry.host)
    if (gone !== null) return { kind: 'failed', code: gone.code, detail: gone.detail }
    const refusal = rescope === null ? null : rescope(entry)
    if (refusal !== null) {
      return skipped('scope-changed', `the scope was changed and refuses it now: ${refusal}`)
    }
    // A page that is returned to is among those of its host, and no trap.
    const isReturn = returns !== null && returns.has(entry.url)
    if (rules.hostPages !== null && frontier.pagesOf(entry.host) >= rules.hostPages && !isReturn) {
      return skipped('host-budget', `the host has its ${rules.hostPages} pages`)
    }
    const trap = traps === null || isReturn ? null : traps.judge(entry)
    if (trap !== null) return skipped(trap.reason, trap.detail)
    if (desk === null) return 'ask'
    const judgement = desk.judge(origin, robotsPathOf(entry.url))
    switch (judgement.kind) {
      case 'allowed':
        return 'ask'
      case 'unknown':
        return 'robots-needed'
      case 'refused':
        return skipped(judgement.reason, judgement.detail)
    }
  }

  /** Right before a request for a page. Says whether its head is all that is asked for. */
  #begin(entry: FrontierEntry, addresses: readonly Address[]): boolean {
    const { faults, returns, heads, traps, traces } = this.#parts
    faults.hit('visit')
    if (traces.isOn) traces.step(entry.url, `is asked for at ${addresses[0]?.ip ?? 'a proxy'}, try ${entry.tries + 1}`)
    const isReturn = returns !== null && returns.has(entry.url)
    const isHead = heads !== null && !isReturn && heads.isDue(entry)
    if (entry.tries === 0 && entry.pauses === 0 && !isHead && !isReturn) traps?.asked(entry)
    return isHead
  }

  /** The answer that was brought, or one request. Null: not made, since the crawl stops. */
  #ask(
    turn: Turn,
    entry: FrontierEntry,
    addresses: readonly Address[],
    index: number,
    isHead: boolean,
    brought: Brought | null,
  ): Promise<FetchOutcome | null> {
    const { fetcher, signal, rules, returns, lending } = this.#parts
    const answer = brought?.get(entry.url)
    if (answer !== undefined && lending !== null) return lending.outcomeOf(answer)
    return fetcher.fetch(
      {
        url: entry.url,
        addresses,
        purpose: 'page',
        method: isHead ? 'HEAD' : 'GET',
        isLast: index === turn.entries.length - 1,
        acceptPartial: entry.tries >= rules.retries,
        validators: returns?.validatorsOf(entry.url),
      },
      signal,
    )
  }

  /** What follows from one request. Null when the turn is already settled. */
  #answered(
    turn: Turn,
    entry: FrontierEntry,
    origin: Origin,
    index: number,
    again: readonly FrontierEntry[],
    isHead: boolean,
    outcome: FetchOutcome | null,
  ): Promise<Step> | Step | null {
    const { permits, signal, books, heads, traces } = this.#parts
    if (traces.isOn) traces.step(entry.url, describeOutcome(outcome))
    if (outcome === null || (signal.aborted && outcome.kind === 'failed')) {
      permits.giveBack()
      return { restMs: 0, back: entry, ends: true }
    }
    if (isHead && heads !== null && heads.leadsOn(entry, outcome)) return this.#headed(turn, entry, origin, outcome)
    switch (outcome.kind) {
      case 'skipped':
        permits.giveBack()
        books.skipped(entry, outcome.reason, outcome.detail)
        // Nothing was sent to an address we refuse; otherwise the head came and counts as a request.
        return { restMs: outcome.reason === 'private-address' ? 0 : this.#parts.manners.restAfter(turn.host, 0) }
      case 'failed': {
        permits.giveBack()
        const rule = RETRY_TABLE[outcome.code]
        if (rule.blame === 'host') {
          const back = [entry, ...turn.entries.slice(index + 1)]
          for (const one of again) back.push(one)
          this.#hostFailed(turn, back, origin, outcome.code, outcome.detail)
          return null
        }
        return this.#urlFailed(turn, entry, outcome.code, outcome.detail, outcome.durationMs)
      }
      case 'fetched': {
        const { document } = outcome
        let step: Promise<Step> | Step
        try {
          step = this.#fetched(turn, entry, origin, document, outcome.hasNewCookies === true)
        } catch (fault) {
          document.release()
          throw fault
        }
        if (step instanceof Promise) return step.finally(() => document.release())
        const { settle } = step
        if (settle !== undefined) return { ...step, settle: () => settle().finally(() => document.release()) }
        document.release()
        return step
      }
    }
  }

  #fetched(
    turn: Turn,
    entry: FrontierEntry,
    origin: Origin,
    document: Document,
    hasNewCookies: boolean,
  ): Promise<Step> | Step {
    if (!hasNewCookies) return this.#conclude(turn, entry, origin, document)
    const { permits, walls, lending, trouble, manners } = this.#parts
    lending?.keep(turn.host)
    const back = walls.again(entry, document)
    if (back === null) return this.#conclude(turn, entry, origin, document)
    permits.giveBack()
    trouble.answered(origin)
    return { restMs: manners.restAfter(turn.host, document.durationMs), back, ends: true }
  }

  /** The head came, or did not: the page itself is asked for when the host has rested. */
  #headed(turn: Turn, back: FrontierEntry, origin: Origin, outcome: FetchOutcome): Step {
    const { permits, books } = this.#parts
    permits.giveBack()
    if (outcome.kind !== 'fetched') return { restMs: this.#parts.manners.restAfter(turn.host, 0), back, ends: true }
    const { document } = outcome
    document.release()
    if (passingTrouble(document.status) !== 'FETCH_THROTTLED') {
      return { restMs: this.#parts.manners.restAfter(turn.host, document.durationMs), back, ends: true }
    }
    const pause = this.#parts.manners.pauseAfter(turn.host, origin, document)
    books.rest(pause)
    return { restMs: pause.restMs, back, ends: true }
  }

  /** A URL that failed by itself: again, or given up. The permit for it is back. */
  #urlFailed(turn: Turn, entry: FrontierEntry, code: FailureCode, detail: string, durationMs: number): Step {
    const { books, rules, manners } = this.#parts
    const restMs = manners.restAfter(turn.host, durationMs)
    if (RETRY_TABLE[code].again && entry.tries < rules.retries) {
      return { restMs, again: { ...entry, tries: entry.tries + 1 } }
    }
    books.failed(entry, code, detail)
    return { restMs }
  }

  #conclude(turn: Turn, entry: FrontierEntry, origin: Origin, document: Document): Promise<Step> | Step {
    const { permits, settler, books, faults } = this.#parts
    const broken = (cause: unknown): Step => this.#broke(turn, entry, document, cause)
    let reading: Reading
    try {
      faults.hit('visitor')
      reading = this.#read(turn, entry, origin, document)
    } catch (cause) {
      return broken(cause)
    }
    const { restMs, pause } = reading
    switch (reading.kind) {
      case 'final': {
        // One or the other: what fails after the page is settled is not the page's failure.
        const settle = (): Promise<Step> =>
          settler.settle(entry, document).then((isPage) => this.#settled(isPage, pause, restMs), broken)
        return pause === null && restMs === 0 && this.#mayGoAhead() ? { restMs, settle } : settle()
      }
      case 'pause':
        permits.giveBack()
        if (pause !== null) books.rest(pause)
        return { restMs, back: { ...entry, pauses: entry.pauses + 1 }, ends: true }
      case 'retry':
        permits.giveBack()
        if (pause !== null) books.rest(pause)
        return { restMs, again: { ...entry, tries: entry.tries + 1 } }
    }
  }

  /** Whether a host that needs no rest is asked before its last page is settled. A budget of pages is exact, and counts those that are settled. */
  #mayGoAhead(): boolean {
    return this.#parts.rules.hostPages === null && this.#parts.turnsOut() <= TURNS_FEW
  }

  /** An answer came and something of ours broke on it. Nothing of it is in the books. */
  #broke(turn: Turn, entry: FrontierEntry, document: Document, cause: unknown): Step {
    const { broken, permits } = this.#parts
    const detail = broken.take(entry.url, cause)
    permits.giveBack()
    return this.#urlFailed(turn, entry, 'VISIT_BROKEN', detail, document.durationMs)
  }

  #read(turn: Turn, entry: FrontierEntry, origin: Origin, document: Document): Reading {
    const { trouble, rules, manners } = this.#parts
    const passing = passingTrouble(document.status)
    if (passing === 'FETCH_THROTTLED') {
      const pause = manners.pauseAfter(turn.host, origin, document)
      return { restMs: pause.restMs, pause, kind: entry.pauses < rules.pauses ? 'pause' : 'final' }
    }
    const { restMs, note } = manners.restAfterAnswer(turn.host, document)
    if (passing !== null && entry.tries < rules.retries) return { restMs, pause: note, kind: 'retry' }
    trouble.answered(origin)
    return { restMs, pause: note, kind: 'final' }
  }

  #settled(isPage: boolean, pause: RestNote | null, restMs: number): Promise<Step> | Step {
    const { permits, books } = this.#parts
    if (isPage) permits.use()
    else permits.giveBack()
    // After the page: replaying the ledger, a page of the host ends the rests asked for before it.
    if (pause !== null) {
      books.rest(pause)
      // The turn is given back before the next turn of the loop: a checkpoint in between would hold the batch with the note, but not the rest.
      return { restMs }
    }
    const pressure = books.pressure()
    return pressure === undefined ? { restMs } : pressure.then(() => ({ restMs }))
  }

  /** robots.txt, here or at the end of a redirect. */
  async #runErrand(turn: Turn, errand: Errand, addresses: readonly Address[]): Promise<void> {
    const { fetcher, frontier, desk, signal, trouble, books, manners } = this.#parts
    if (desk === null) return frontier.settle(turn, { restMs: 0 })
    const outcome = await fetcher.fetch(
      { url: errand.url, addresses, purpose: 'robots', isLast: false, acceptPartial: true },
      signal,
    )
    if (outcome === null || (signal.aborted && outcome.kind === 'failed')) return this.#giveBack(turn, 0)
    const origin = originOf(errand.url)
    if (outcome.kind === 'failed' && RETRY_TABLE[outcome.code].blame === 'host') {
      return this.#hostFailed(turn, [], origin, outcome.code, outcome.detail)
    }
    const document = outcome.kind === 'fetched' ? outcome.document : null
    try {
      const verdict = await desk.answer(errand, outcome)
      // Read after the answer: it may have brought a Crawl-delay.
      let restMs = manners.restAfter(turn.host, document?.durationMs ?? 0)
      if (document !== null && passingTrouble(document.status) === 'FETCH_THROTTLED') {
        const pause = manners.pauseAfter(turn.host, origin, document)
        books.rest(pause)
        restMs = pause.restMs
      } else if (verdict === 'retry') {
        restMs = Math.max(restMs, manners.backoff(trouble.failed(origin)))
        books.rest({ host: turn.host, restMs, why: 'robots.txt could not be had' })
      } else trouble.answered(origin)
      frontier.settle(turn, { restMs, wasAsked: outcome.kind !== 'skipped' })
    } finally {
      document?.release()
    }
  }

  /**
   * A host that cannot be reached: it rests, longer each time, and what waits for it waits. When its
   * tries are spent its URLs fail. `key` is the host for trouble with its name, else the origin.
   */
  #hostFailed(
    turn: Turn,
    back: readonly FrontierEntry[],
    key: HostKey | Origin,
    code: FailureCode,
    detail: string,
  ): void {
    const { frontier, trouble, books, rules, desk, manners } = this.#parts
    const failures = trouble.failed(key)
    if (RETRY_TABLE[code].again && failures <= rules.retries) {
      const restMs = manners.backoff(failures)
      books.rest({ host: turn.host, restMs, why: detail })
      frontier.settle(turn, { restMs, unvisited: back })
      if (turn.errand !== null) frontier.sendErrand(turn.errand)
      return
    }
    // What else waits for it fails as its turns come, without being asked for.
    trouble.giveUp(key, code, detail)
    const others: FrontierEntry[] = []
    for (const entry of back) {
      if (entry.host === key || originOf(entry.url) === key) books.failed(entry, code, detail)
      else others.push(entry)
    }
    frontier.settle(turn, { restMs: manners.restAfter(turn.host, 0), unvisited: others })
    // A robots.txt that redirects to a host we cannot reach is unreachable itself.
    if (turn.errand !== null && desk !== null) desk.unreachable(turn.errand)
  }
}

function describeOutcome(outcome: FetchOutcome | null): string {
  if (outcome === null) return 'is put back: nobody is asked now'
  if (outcome.kind === 'fetched') {
    return `was answered with ${outcome.document.status} after ${Math.round(outcome.document.durationMs)} ms`
  }
  return `was not had: ${outcome.kind === 'failed' ? outcome.code : outcome.reason} (${outcome.detail})`
}

function saysNothingOfRests(outcome: FetchOutcome | null): boolean {
  return outcome?.kind === 'fetched' && !maySayRest(outcome.document.status)
}

function skipped(reason: SkipReason, detail: string): Verdict {
  return { kind: 'skipped', reason, detail }
}
