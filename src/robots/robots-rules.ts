// What one robots.txt says to one crawler. Small enough to be kept for every host of a crawl: it holds
// no part of the file it came from, only the rules of the groups that speak to us.

import { normaliseUrlPath, PathPattern, plainQuery } from './path-pattern.ts'

/** Whether a URL may be asked for, and the line that decided it; null when no line had a say. */
export interface RobotsDecision {
  readonly allowed: boolean
  /** Counted from 1. */
  readonly line: number | null
  /** The deciding line as it stands in the file, without comment and surrounding space. */
  readonly rule: string | null
}

export interface RobotsRule {
  readonly isAllow: boolean
  /** The path in normal form (path-pattern.ts). */
  readonly path: string
  readonly line: number
  readonly text: string
}

/** Rules as plain data, for a ledger to keep. */
export interface SavedRules {
  readonly answer: 'rules' | 'allow-all' | 'disallow-all'
  readonly crawlDelayMs: number | null
  readonly rules: readonly RobotsRule[]
}

const NO_SAY: RobotsDecision = Object.freeze({ allowed: true, line: null, rule: null })
const DENIED: RobotsDecision = Object.freeze({ allowed: false, line: null, rule: null })

interface RankedRule {
  readonly pattern: PathPattern
  readonly decision: RobotsDecision
}

// What V8 keeps for a rule and for a set of them, beside the characters of their strings. Measured as growth of
// the heap over 2^16 entries of a cache: 250 bytes for an entry without rules, 1,300 for one with five.
const RULE_BYTES = 160
const RULES_BYTES = 100

export class RobotsRules {
  /** The pause this site asks for between requests; null when it asks for none. */
  readonly crawlDelayMs: number | null
  readonly answer: 'rules' | 'allow-all' | 'disallow-all'
  /** Roughly what keeping this costs; nothing for the two that all hosts share. */
  readonly bytes: number
  /** Most specific first; of equal length allows first. So the first that matches decides. */
  readonly #ranked: readonly RankedRule[]
  /** Whether any rule must be compared with the plain query form. */
  readonly #namesQuery: boolean

  constructor(
    answer: 'rules' | 'allow-all' | 'disallow-all',
    rules: readonly RobotsRule[],
    crawlDelayMs: number | null,
  ) {
    this.answer = answer
    this.crawlDelayMs = crawlDelayMs
    const ranked = rules.map((rule) => ({
      pattern: new PathPattern(rule.path),
      decision: { allowed: rule.isAllow, line: rule.line, rule: rule.text },
    }))
    ranked.sort(
      (a, b) =>
        b.pattern.length - a.pattern.length ||
        Number(b.decision.allowed) - Number(a.decision.allowed) ||
        a.decision.line - b.decision.line,
    )
    this.#ranked = ranked
    this.#namesQuery = ranked.some((rule) => rule.pattern.namesQuery)
    this.bytes =
      answer === 'rules'
        ? rules.reduce((sum, rule) => sum + RULE_BYTES + rule.path.length + rule.text.length, RULES_BYTES)
        : 0
  }

  /**
   * Decides on path and query of a URL ('' counts as '/'). The longest matching rule wins, an allow wins
   * over a disallow of equal length, /robots.txt itself is always allowed. Costs one comparison per rule.
   */
  decide(pathAndQuery: string): RobotsDecision {
    if (pathAndQuery === '/robots.txt') return NO_SAY
    if (this.answer !== 'rules') return this.answer === 'allow-all' ? NO_SAY : DENIED
    if (this.#ranked.length === 0) return NO_SAY
    const path = normaliseUrlPath(pathAndQuery.startsWith('/') ? pathAndQuery : `/${pathAndQuery}`)
    const pathWithPlainQuery = this.#namesQuery ? plainQuery(path) : path
    for (const { pattern, decision } of this.#ranked) {
      if (pattern.matches(pattern.namesQuery ? pathWithPlainQuery : path)) return decision
    }
    return NO_SAY
  }

  save(): SavedRules {
    return {
      answer: this.answer,
      crawlDelayMs: this.crawlDelayMs,
      rules: this.#ranked.map(({ pattern, decision }) => ({
        isAllow: decision.allowed,
        path: pattern.normalised,
        line: decision.line ?? 0,
        text: decision.rule ?? '',
      })),
    }
  }

  static restore(saved: SavedRules): RobotsRules {
    if (saved.answer === 'allow-all') return ALLOW_ALL
    if (saved.answer === 'disallow-all') return DISALLOW_ALL
    return new RobotsRules('rules', saved.rules, saved.crawlDelayMs)
  }
}

/** There is no robots.txt: everything is allowed. */
export const ALLOW_ALL = new RobotsRules('allow-all', [], null)
/** The robots.txt could not be had: nothing is allowed but asking for it again. */
export const DISALLOW_ALL = new RobotsRules('disallow-all', [], null)
