// What somebody who looks at a running crawl, or steers it, asks of its agents, and how each answers. Plain data: it crosses threads.
//
//   node    ask ──▶                      answers of all, joined by whoever asked
//   agents       answer ──▶
//
// An agent that dies before it has answered is asked again when it is back: every question may be asked twice.

import type { AdmittedSeeds, ScopePreview } from '../agent/index.ts'
import type { HostState } from '../frontier/index.ts'
import type { CanonicalUrl, UrlOptions } from '../url/index.ts'

export type AgentQuestion =
  | { readonly ask: 'seeds'; readonly seeds: readonly CanonicalUrl[] }
  | { readonly ask: 'preview'; readonly url: UrlOptions }
  /** States of these hosts, of those that the agent knows. */
  | { readonly ask: 'hosts'; readonly hosts: readonly string[] }
  /** The hosts with most waiting, of those whose names have this text in them. */
  | { readonly ask: 'waiting'; readonly limit: number; readonly text: string }
  | { readonly ask: 'trace'; readonly url: string }

/** A host as its agent knows it; times as what is left, for threads have clocks of their own. */
export interface HostStanding extends Pick<HostState, 'host' | 'waiting' | 'state' | 'address' | 'leastRestMs'> {
  /** What is left of its rest; 0 where it does not rest. */
  readonly restMs: number
}

export interface WaitingHosts {
  readonly hosts: readonly { readonly host: string; readonly waiting: number }[]
  /** Hosts with something waiting, as far as it was looked. */
  readonly count: number
  readonly isComplete: boolean
}

export interface AgentAnswers {
  readonly seeds: AdmittedSeeds
  readonly preview: ScopePreview
  readonly hosts: readonly HostStanding[]
  readonly waiting: WaitingHosts
  readonly trace: null
}

export type AnswerTo<Q extends AgentQuestion> = AgentAnswers[Q['ask']]
