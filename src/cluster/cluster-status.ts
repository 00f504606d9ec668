// How a cluster stands, for people: what the records say, what the logs of the shares say, and what the nodes themselves answer.

import { type Clock, Fault } from '../base/index.ts'
import type { Engine } from '../engine/index.ts'
import { MEMBERSHIP_QUESTION, type MemberReport, NODE_SERVICE } from './cluster-member.ts'
import { Changes } from './changes.ts'
import { LostProgress, type LostSum } from './lost-nodes.ts'
import type { PlaceShares } from './membership.ts'
import { type CrawlDefinition, decodeRecord, type Join, parseRunName, runName, type View } from './records.ts'
import type { ShareStanding } from './share-desk.ts'
import { type LostNode, Wishes } from './wishes.ts'

export interface NodeStatus {
  readonly node: string
  readonly incarnation: string
  readonly host: string
  readonly version: string
  readonly joinedAt: string
  readonly weight: number
  readonly isDraining: boolean
  readonly isLeaving: boolean
  /** By the clocks of both machines; as good as they agree. Null: it never beat. */
  readonly beatAgeMs: number | null
  /** Views it is behind, by its last beat. */
  readonly viewsBehind: number | null
  readonly shares: readonly number[]
  readonly targets: readonly number[]
  /** What it says itself; null: it does not answer. */
  readonly report: MemberReport | null
}

export interface ShareStatus extends ShareStanding {
  readonly share: number
  /** The node it should be with; null: nobody. */
  readonly target: string | null
}

export interface ClusterStatus {
  readonly definition: CrawlDefinition
  readonly view: View | null
  readonly run: number
  /** The number of the last change; 0 where the crawl is as it was set up. */
  readonly change: number
  /** `running`, `stopping`, or why it ended. */
  readonly state: string
  /** Nobody is asked for anything until an operator says otherwise, whoever joins. */
  readonly isPaused: boolean
  readonly nodes: readonly NodeStatus[]
  readonly shares: readonly ShareStatus[]
  /** Nodes that never come back, and how far the others are with what went with them. */
  readonly lost: readonly (LostNode & LostSum & { readonly isDone: boolean })[]
}

export interface StatusOptions {
  readonly engine: Engine
  readonly clock: Clock
  readonly definition: CrawlDefinition
  readonly place: PlaceShares
  readonly standing: (share: number) => Promise<ShareStanding>
  /** How long nodes may take to answer. */
  readonly withinMs: number
}

export async function clusterStatus(options: StatusOptions): Promise<ClusterStatus> {
  const { engine, definition, place, standing } = options
  const records = await readRecords(engine)
  const { view, wishes, changes, ends } = records
  const weights = (view?.members ?? []).map(({ node, weight, isDraining, isLeaving }) => ({
    name: node,
    weight: isDraining || isLeaving ? 0 : weight,
  }))
  const targets = place(definition.shares, weights)
  const shares = await Promise.all(
    Array.from({ length: definition.shares }, async (_, share): Promise<ShareStatus> => {
      return { share, target: targets[share] ?? null, ...(await standing(share)) }
    }),
  )
  const nodes = await Promise.all(
    (view?.members ?? []).map(async (member): Promise<NodeStatus> => {
      const join = records.joins.get(member.incarnation)
      const beat = await lastBeat(engine, `${member.node}.${member.incarnation}`)
      const isHeld = ({ holder, released }: ShareStatus): boolean =>
        holder?.incarnation === member.incarnation && !released
      return {
        ...member,
        host: join?.host ?? '',
        version: join?.version ?? '',
        joinedAt: join?.at ?? '',
        beatAgeMs: beat === null ? null : options.clock.wallMs() - beat.wallMs,
        viewsBehind: beat === null ? null : (view?.number ?? 0) - beat.view,
        shares: shares.filter(isHeld).map(({ share }) => share),
        targets: shares.filter(({ target }) => target === member.node).map(({ share }) => share),
        report: await askNode(options, member.node),
      }
    }),
  )
  const end = ends.get(runName(wishes.run, changes.upTo))
  // One that has stopped is stopped, whatever was changed since.
  const hasStopped = wishes.isStopping && endsOf(wishes.run, ends).includes('stop')
  const state = end ?? (hasStopped ? 'stop' : wishes.isStopping ? 'stopping' : 'running')
  const lost = await Promise.all(
    wishes.lost.map(async (one) => {
      const progress = await LostProgress.read(engine, one, definition.shares)
      return { ...one, ...progress.sum, isDone: progress.isDone }
    }),
  )
  return {
    definition,
    view,
    run: wishes.run,
    change: changes.upTo,
    state,
    isPaused: wishes.isPaused,
    nodes,
    shares,
    lost,
  }
}

async function readRecords(engine: Engine) {
  const wishes = new Wishes()
  const joins = new Map<string, Join>()
  const changes = new Changes()
  const ends = new Map<string, string>()
  let view: View | null = null
  for (const kind of ['join', 'wish', 'view', 'change', 'end']) {
    for (const record of await engine.records.list(kind)) {
      const heard = decodeRecord(record)
      if (heard?.kind === 'join') joins.set(heard.join.incarnation, heard.join)
      else if (heard?.kind === 'wish') wishes.add(heard.number, heard.wish)
      else if (heard?.kind === 'view') view = heard.view
      else if (heard?.kind === 'change') changes.add(heard.number, heard.change)
      else if (heard?.kind === 'end') ends.set(runName(heard.end.run, heard.end.change), heard.end.reason)
    }
  }
  return { wishes, changes, joins, ends, view }
}

/** Why a run ended, under one change after the other. */
function endsOf(run: number, ends: ReadonlyMap<string, string>): string[] {
  return [...ends].flatMap(([name, reason]) => (parseRunName(name).run === run ? [reason] : []))
}

async function lastBeat(engine: Engine, name: string): Promise<{ view: number; wallMs: number } | null> {
  const value = await engine.lastBeat(name)
  if (value === null) return null
  const [, view = 0, wallMs = 0] = new TextDecoder().decode(value).split(' ').map(Number)
  return { view, wallMs }
}

async function askNode({ engine, withinMs }: StatusOptions, node: string): Promise<MemberReport | null> {
  try {
    const answer = await engine.call(NODE_SERVICE, node, new TextEncoder().encode(MEMBERSHIP_QUESTION), withinMs)
    return JSON.parse(new TextDecoder().decode(answer)) as MemberReport
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}
