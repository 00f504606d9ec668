// What an operator does to a cluster without being a node of it: defines a crawl, wishes something, looks.

import type { Engine } from '../engine/index.ts'
import { MEMBERSHIP_QUESTION, NODE_SERVICE, type MemberReport } from './cluster-member.ts'
import { type CrawlDefinition, decodeDefinition, decodeRecord, encodeRecord, type View, type Wish } from './records.ts'
import { Wishes } from './wishes.ts'

/** Under this name is what a crawl is. */
const DEFINITION = 'crawl'
/** Somebody else may have wished something in the same moment. */
const WISH_TRIES = 20
const ANSWER_MS = 2_000

/** Null where no crawl of this name is defined. */
export async function loadDefinition(engine: Pick<Engine, 'records'>): Promise<CrawlDefinition | null> {
  const value = await engine.records.get(DEFINITION)
  return value === null ? null : decodeDefinition(value)
}

/** False where a crawl of this name is defined already. */
export async function defineCrawl(engine: Pick<Engine, 'records'>, definition: CrawlDefinition): Promise<boolean> {
  return (await engine.records.create(DEFINITION, encodeRecord(definition))) === 'created'
}

/** Says what is wanted; whoever takes part does it. */
export async function wishFor(engine: Pick<Engine, 'records'>, wish: Wish): Promise<number> {
  let number = (await engine.records.list('wish')).length + 1
  for (let tries = 1; ; tries++, number++) {
    if ((await engine.records.create(`wish.${number}`, encodeRecord(wish))) === 'created') return number
    if (tries === WISH_TRIES) throw new Error(`${WISH_TRIES} others wished something at the same time; say it again`)
  }
}

/** A node as it is seen from outside. */
export interface NodeStatus {
  readonly node: string
  readonly incarnation: string
  readonly weight: number
  readonly isDraining: boolean
  readonly isLeaving: boolean
  /** Where it runs and since when. */
  readonly host: string
  readonly since: string
  /** What it says of itself; null where it does not answer. */
  readonly report: MemberReport | null
  /** What it has done, as its owner tells it; null where it does not answer. */
  readonly figures: unknown
}

export interface ClusterStatus {
  readonly definition: CrawlDefinition
  readonly view: View | null
  readonly nodes: readonly NodeStatus[]
  /** Why the last run ended, and whether it is to stop. */
  readonly ended: string | null
  readonly isStopping: boolean
}

/** Null where no crawl is defined. Nodes are asked; those that do not answer in time are shown by what is recorded of them. */
export async function lookAtCluster(engine: Engine, figuresQuestion: Uint8Array): Promise<ClusterStatus | null> {
  const definition = await loadDefinition(engine)
  if (definition === null) return null
  const wishes = new Wishes()
  const joins = new Map<string, { host: string; at: string }>()
  const ends = new Map<number, string>()
  let view: View | null = null
  for (const kind of ['join', 'wish', 'view', 'end']) {
    for (const record of await engine.records.list(kind)) {
      const heard = decodeRecord(record)
      if (heard?.kind === 'join') joins.set(heard.join.incarnation, heard.join)
      if (heard?.kind === 'wish') wishes.add(heard.number, heard.wish)
      if (heard?.kind === 'view' && heard.view.number > (view?.number ?? 0)) view = heard.view
      if (heard?.kind === 'end') ends.set(heard.end.run, heard.end.reason)
    }
  }
  const nodes = await Promise.all(
    (view?.members ?? []).map(async ({ node, incarnation, weight, isDraining, isLeaving }) => {
      const { host = '', at: since = '' } = joins.get(incarnation) ?? {}
      const [report, figures] = await Promise.all([
        ask(engine, node, new TextEncoder().encode(MEMBERSHIP_QUESTION)),
        ask(engine, node, figuresQuestion),
      ])
      return {
        node,
        incarnation,
        weight,
        isDraining,
        isLeaving,
        host,
        since,
        report: report as MemberReport | null,
        figures,
      }
    }),
  )
  return { definition, view, nodes, ended: ends.get(wishes.run) ?? null, isStopping: wishes.isStopping }
}

async function ask(engine: Engine, node: string, question: Uint8Array): Promise<unknown> {
  try {
    return JSON.parse(new TextDecoder().decode(await engine.call(NODE_SERVICE, node, question, ANSWER_MS)))
  } catch {
    return null
  }
}
