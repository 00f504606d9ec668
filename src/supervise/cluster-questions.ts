// What is asked of a node by its name over the engine, by other nodes and by whoever looks at the cluster.

import { type CrawlTotals, type ScopePreview, sumTotals } from '../agent/index.ts'
import { Fault } from '../base/index.ts'
import { NODE_SERVICE, parseRunName, runName } from '../cluster/index.ts'
import type { Engine } from '../engine/index.ts'
import type { AgentStatus } from './agent-messages.ts'
import type { DeskQuestion } from './share-desk.ts'

export type NodeQuestion =
  | { readonly ask: 'shares'; readonly question: DeskQuestion }
  | { readonly ask: 'figures' }
  /** What of what waits here would be skipped if these options held: answered with a SharePreview of each share that can say it. */
  | { readonly ask: 'preview'; readonly said: unknown }
  /** Follow this URL from now on, whichever share here has it or comes to have it. */
  | { readonly ask: 'trace'; readonly url: string }
  | ControlQuestion

/** A question of the control API, which the node answers of its part of the crawl. */
export interface ControlQuestion {
  readonly ask: 'control'
  readonly route: string
  readonly asked: Readonly<Record<string, unknown>>
  readonly who: string
}

export interface SharePreview extends ScopePreview {
  readonly share: number
}

/** Messages of nodes that follow a URL. Only told: whoever does not listen misses them. */
export const TRACE_SUBJECT = 'cluster.trace'

/** Something happened to a URL that is followed. */
export interface TraceMessage {
  readonly node: string
  readonly share: number
  readonly url: string
  readonly step: string
  readonly at: string
}

export type ControlAnswer =
  | { readonly answer: unknown }
  | { readonly fault: { readonly code: string; readonly message: string } }

/** One share where it is. */
export interface ShareFigures {
  readonly share: number
  readonly totals: CrawlTotals
  readonly frontier: AgentStatus['frontier']
  readonly active: number
  readonly pace: Pick<AgentStatus['pace'], 'speed' | 'limit' | 'bottleneck'>
  /** The change of the crawl that it runs under; null where it is not open. */
  readonly change: number | null
}

export interface NodeFigures {
  readonly shares: readonly number[]
  readonly pages: number
  readonly failed: number
  readonly bytes: number
  readonly waiting: number
  readonly hosts: number
  readonly active: number
  readonly restarts: number
  readonly rssBytes: number
  readonly peakRssBytes: number
  readonly cpuSeconds: number
  /** By this process, whatever its shares had done before. */
  readonly donePages: number
  readonly doneBytes: number
  /** The least change of the crawl that a share here runs under; null where one is not open. */
  readonly leastChange: number | null
  /** Its shares, SHARES_TOLD_MAX at most; what the others have come to is `rest`. */
  readonly agents: readonly ShareFigures[]
  readonly rest: CrawlTotals | null
}

/** About a kilobyte each: with more an answer would not fit into a message of the engine. */
export const SHARES_TOLD_MAX = 256

export function shareFigures(
  standings: readonly (readonly [share: number, status: AgentStatus])[],
  changeOf: (share: number) => number | null,
  toldMax = SHARES_TOLD_MAX,
): Pick<NodeFigures, 'agents' | 'rest'> {
  const rest = standings.slice(toldMax).map(([, { totals }]) => totals)
  const agents = standings.slice(0, toldMax).map(([share, { totals, frontier, active, pace }]) => {
    const { speed, limit, bottleneck } = pace
    return { share, totals, frontier, active, pace: { speed, limit, bottleneck }, change: changeOf(share) }
  })
  return { agents, rest: rest.length === 0 ? null : sumTotals(rest) }
}

/** What a node has done; null where it does not answer. */
export async function nodeFigures(engine: Engine, node: string, withinMs: number): Promise<NodeFigures | null> {
  try {
    return (await askNode(engine, node, { ask: 'figures' }, withinMs)) as NodeFigures
  } catch (fault) {
    if (fault instanceof Fault) return null
    throw fault
  }
}

/** Fails where it does not answer in time. */
export async function askNode(
  engine: Engine,
  node: string,
  question: NodeQuestion,
  withinMs: number,
): Promise<unknown> {
  return decodeJson(await engine.call(NODE_SERVICE, node, encodeJson(question), withinMs))
}

/** What nodes had when it ended for the last time, as they left it: for when nobody is there to be asked. */
export async function figuresLeft(engine: Engine): Promise<ReadonlyMap<string, NodeFigures>> {
  const left = (await engine.records.list('done')).map(({ name, value }) => {
    const [, run = '', node = ''] = name.split('.')
    return { run, node, value }
  })
  const [last] = left
    .map(({ run }) => parseRunName(run))
    .toSorted((one, two) => two.run - one.run || two.change - one.change)
  const name = last === undefined ? '' : runName(last.run, last.change)
  return new Map(
    left.flatMap(({ run, node, value }) => (run === name ? [[node, decodeJson(value) as NodeFigures] as const] : [])),
  )
}

export function doneRecord(run: number, change: number, node: string): string {
  return `done.${runName(run, change)}.${node}`
}

export function encodeJson(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value))
}

export function decodeJson(bytes: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(bytes))
}
