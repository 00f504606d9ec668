// What a site asks of the use of its pages, apart from the pages themselves: lines of its robots.txt (Content-Signal,
// Content-Usage) and its /.well-known/tdmrep.json. Kept beside the rules of robots.txt, and as bounded as they are.
//
//   robots.txt    the longest path that speaks of a use decides; of equal ones the one that denies
//   tdmrep.json   the first location that matches decides

import { OPT_OUTS, type OptOut } from '../base/index.ts'
import { normaliseUrlPath, PathPattern, plainQuery } from './path-pattern.ts'

/** A line of robots.txt about use. */
export interface UsageRule {
  /** The path in normal form (path-pattern.ts). */
  readonly path: string
  readonly denied: readonly OptOut[]
  readonly allowed: readonly OptOut[]
  readonly line: number
  readonly text: string
}

/** An object of tdmrep.json. */
export interface TdmRule {
  readonly path: string
  readonly isReserved: boolean
  readonly policy: string | null
}

/** Wishes as plain data, for a ledger to keep. */
export interface SavedWishes {
  readonly usage: readonly UsageRule[]
  readonly tdm: readonly TdmRule[]
}

/** One wish and where it was said. */
export interface Wish {
  readonly optOut: OptOut
  readonly source: string
}

export interface TdmWord {
  readonly isReserved: boolean
  readonly policy: string | null
}

const NO_WISHES: readonly Wish[] = []
const OPT_OUT_NAMES = Object.keys(OPT_OUTS) as readonly OptOut[]
/** What V8 keeps for a rule beside the characters of its strings, as for rules of robots.txt. */
const RULE_BYTES = 200

export class SiteWishes {
  /** Roughly what keeping this costs. */
  readonly bytes: number
  readonly #saved: SavedWishes
  /** Longest first. */
  readonly #usage: readonly { readonly rule: UsageRule; readonly pattern: PathPattern }[]
  readonly #tdm: readonly { readonly rule: TdmRule; readonly pattern: PathPattern }[]

  constructor(saved: SavedWishes) {
    this.#saved = saved
    this.#usage = saved.usage
      .map((rule) => ({ rule, pattern: new PathPattern(rule.path) }))
      .sort((a, b) => b.pattern.length - a.pattern.length || a.rule.line - b.rule.line)
    this.#tdm = saved.tdm.map((rule) => ({ rule, pattern: new PathPattern(rule.path) }))
    let bytes = 0
    for (const { path, text } of saved.usage) bytes += RULE_BYTES + path.length + text.length
    for (const { path, policy } of saved.tdm) bytes += RULE_BYTES + path.length + (policy?.length ?? 0)
    this.bytes = bytes
  }

  /** What robots.txt asks for a path. Costs one comparison per line about use. */
  usageOf(pathAndQuery: string): readonly Wish[] {
    if (this.#usage.length === 0) return NO_WISHES
    const matching = this.#usage.filter(matcherOf(pathAndQuery))
    if (matching.length === 0) return NO_WISHES
    const wishes: Wish[] = []
    for (const optOut of OPT_OUT_NAMES) {
      let length = -1
      let denier: UsageRule | null = null
      for (const { rule, pattern } of matching) {
        if (length >= 0 && pattern.length < length) break
        const denies = rule.denied.includes(optOut)
        if (!denies && !rule.allowed.includes(optOut)) continue
        length = pattern.length
        if (denies) denier ??= rule
      }
      if (denier !== null) wishes.push({ optOut, source: `robots.txt line ${denier.line}: ${denier.text}` })
    }
    return wishes
  }

  /** What tdmrep.json says of a path; null when it says nothing. */
  tdmOf(pathAndQuery: string): TdmWord | null {
    if (this.#tdm.length === 0) return null
    return this.#tdm.find(matcherOf(pathAndQuery))?.rule ?? null
  }

  save(): SavedWishes {
    return this.#saved
  }

  /** Null where nothing is asked. */
  static of(usage: readonly UsageRule[], tdm: readonly TdmRule[]): SiteWishes | null {
    return usage.length === 0 && tdm.length === 0 ? null : new SiteWishes({ usage, tdm })
  }
}

function matcherOf(pathAndQuery: string): (one: { readonly pattern: PathPattern }) => boolean {
  const path = normaliseUrlPath(pathAndQuery.startsWith('/') ? pathAndQuery : `/${pathAndQuery}`)
  const pathWithPlainQuery = plainQuery(path)
  return ({ pattern }) => pattern.matches(pattern.namesQuery ? pathWithPlainQuery : path)
}
