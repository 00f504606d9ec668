// How long a host rests after what just happened, and why. The visitor asks; the frontier keeps the rest; this file decides.
//
//   after any answer      the longest of: delay, Crawl-delay, what the host has taught, latencyFactor × the answer's time
//   429, 503              that, Retry-After, or a back-off that doubles; and the first of a row teaches
//   Retry-After           with any other status from 300 on: the host rests as long, the answer counts as usual
//   a failure             a back-off that doubles
//   outside its hours     until they begin
//
// A host whose delay is 0ms is asked without rests: neither its slowness nor its refusals lengthen the pace, only the pauses
// it asks for.

import type { Clock, Random } from '../base/index.ts'
import type { Document } from '../document/index.ts'
import { backoffAfter, type Frontier, type HostRules, parseRetryAfter, restAfter } from '../frontier/index.ts'
import type { RestNote } from '../ledger/index.ts'
import type { HostKey, Origin } from '../url/index.ts'
import type { LearntRests } from './learnt-rests.ts'
import type { Trouble } from './trouble.ts'

export interface MannersSettings {
  readonly delayMs: number
  readonly latencyFactor: number
  readonly restMaxMs: number
  readonly backoffBaseMs: number
  readonly backoffMaxMs: number
  readonly retryAfterMaxMs: number
}

export interface MannersParts {
  readonly clock: Clock
  readonly random: Random
  readonly frontier: Pick<Frontier, 'leastRestMs'>
  readonly trouble: Trouble
  readonly learnt: LearntRests
  /** Null where all hosts are treated alike. */
  readonly rules: HostRules | null
  readonly settings: MannersSettings
}

/** Below this a Retry-After asks for nothing: a page has no reason to name one. */
const RETRY_AFTER_STATUS_MIN = 300
/** From here on an answer is no sign that the host bears the pace. */
const TROUBLE_STATUS_MIN = 500

export class Manners {
  readonly #parts: MannersParts

  constructor(parts: MannersParts) {
    this.#parts = parts
  }

  /** How long the hours of a host keep it closed from now; 0 when it may be asked. */
  closedMs(host: HostKey): number {
    const { rules, clock } = this.#parts
    if (rules === null) return 0
    const hours = rules.ruleOf(host)?.hours ?? null
    if (hours === null) return 0
    const wallMs = clock.wallMs()
    return hours.opensAtMs(wallMs) - wallMs
  }

  /** The rest after a request that took so long, whatever came of it. */
  restAfter(host: HostKey, responseMs: number): number {
    const { settings, rules, frontier, learnt } = this.#parts
    const rule = rules === null ? null : rules.ruleOf(host)
    const delayMs = rule?.delay ?? settings.delayMs
    const restMs = restAfter({
      delayMs,
      crawlDelayMs: frontier.leastRestMs(host),
      latencyFactor: rule?.latencyFactor ?? settings.latencyFactor,
      lastResponseMs: responseMs,
      restMaxMs: settings.restMaxMs,
    })
    // What an earlier run was taught means nothing where there are no rests now.
    return learnt.size === 0 || delayMs === 0 ? restMs : Math.max(restMs, learnt.restMsOf(host))
  }

  /** The rest after an answer that is one. A note where the server asked for it with Retry-After. */
  restAfterAnswer(host: HostKey, document: Document): { readonly restMs: number; readonly note: RestNote | null } {
    const { learnt, frontier } = this.#parts
    const { status } = document
    // Without rests nothing was borne either.
    if (learnt.size > 0 && status < TROUBLE_STATUS_MIN && this.#delayMs(host) > 0) {
      learnt.answered(host, frontier.leastRestMs(host))
    }
    const restMs = this.restAfter(host, document.durationMs)
    if (!maySayRest(status)) return { restMs, note: null }
    const askedMs = this.#askedMs(document)
    if (askedMs === null || askedMs <= restMs) return { restMs, note: null }
    const why = whyOf(document)
    learnt.paused(host, askedMs, why, null)
    return { restMs: askedMs, note: { host, restMs: askedMs, why } }
  }

  /** The rest a server asked for with 429 or 503, as long as it says, or longer each time. */
  pauseAfter(host: HostKey, origin: Origin, document: Document): RestNote {
    const { trouble, learnt, frontier } = this.#parts
    const inARow = trouble.paused(origin)
    const delayMs = this.#delayMs(host)
    const usedMs = Math.max(frontier.leastRestMs(host), learnt.restMsOf(host))
    const why = whyOf(document)
    const pauseMs = this.#backoff(inARow, this.#askedMs(document))
    learnt.paused(host, pauseMs, why, inARow === 1 && delayMs > 0 ? usedMs : null)
    return { host, restMs: Math.max(this.restAfter(host, document.durationMs), pauseMs), why }
  }

  /** The rest after so many failures in a row. */
  backoff(inARow: number): number {
    return this.#backoff(inARow, null)
  }

  #delayMs(host: HostKey): number {
    const { settings, rules } = this.#parts
    return (rules === null ? null : rules.ruleOf(host)?.delay) ?? settings.delayMs
  }

  #askedMs(document: Document): number | null {
    const { clock, settings } = this.#parts
    const asked = document.header('retry-after')
    const askedMs = asked === null ? null : parseRetryAfter(asked, clock.wallMs())
    return askedMs === null ? null : Math.min(askedMs, settings.retryAfterMaxMs)
  }

  #backoff(pausesInARow: number, retryAfterMs: number | null): number {
    const { settings, random } = this.#parts
    return backoffAfter({
      pausesInARow,
      retryAfterMs,
      baseMs: settings.backoffBaseMs,
      maxMs: settings.backoffMaxMs,
      retryAfterMaxMs: settings.retryAfterMaxMs,
      random,
    })
  }
}

/** What is kept of a Retry-After: no date is longer, and it is noted each time. */
const ASKED_LENGTH_MAX = 64

function whyOf(document: Document): string {
  const asked = document.header('retry-after')
  if (asked === null) return `${document.status}`
  const said = asked.length > ASKED_LENGTH_MAX ? `${asked.slice(0, ASKED_LENGTH_MAX)}…` : asked
  return `${document.status}, Retry-After: ${said}`
}

/** Whether an answer may ask for a rest that is to be remembered. */
export function maySayRest(status: number): boolean {
  return status >= RETRY_AFTER_STATUS_MIN
}
