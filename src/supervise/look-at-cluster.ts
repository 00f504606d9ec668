// How a cluster stands, and what its nodes say they have done; for people, from any machine that reaches the engine.

import { fingerprintKeyOf } from '../agent/index.ts'
import { systemClock } from '../base/index.ts'
import { type ClusterStatus, clusterStatus, type CrawlDefinition } from '../cluster/index.ts'
import type { Engine } from '../engine/index.ts'
import { assignmentNamed, placeShares, shareOfSlot } from '../placement/index.ts'
import { ShareLog } from '../replica/index.ts'
import { type CanonicalUrl, Fingerprinter, slotOf } from '../url/index.ts'
import { figuresLeft, type NodeFigures, nodeFigures } from './cluster-questions.ts'

/** How long nodes may take to answer. */
const ANSWER_MS = 2_000

export interface ClusterLook {
  readonly status: ClusterStatus
  /** By node; null: it does not answer. */
  readonly figures: ReadonlyMap<string, NodeFigures | null>
  /** Where nobody works on it: what they had when the run ended. */
  readonly left: ReadonlyMap<string, NodeFigures>
}

/** Shares that have not taken the last change in, or of which nobody says so. */
export function sharesBehind(nodes: Iterable<NodeFigures | null>, shares: number, last: number): number {
  if (last === 0) return 0
  let have = 0
  for (const node of nodes) {
    if (node === null) continue
    const isTold = node.leastChange !== null && node.leastChange >= last
    have += isTold ? node.shares.length : node.agents.filter(({ change }) => change !== null && change >= last).length
  }
  return Math.max(0, shares - have)
}

/** The share that has the host of a URL, and always will. */
export function shareOfUrl({ identity, shares, assignment }: CrawlDefinition, url: CanonicalUrl): number {
  const fingerprinter = new Fingerprinter(fingerprintKeyOf({ key: identity }))
  fingerprinter.compute(url)
  return shareOfSlot(shares, assignmentNamed(assignment))[slotOf(fingerprinter.high)] as number
}

export async function lookAtCluster(engine: Engine, definition: CrawlDefinition): Promise<ClusterLook> {
  const status = await clusterStatus({
    engine,
    clock: systemClock,
    definition,
    place: (shares, nodes) => placeShares(shares, nodes, definition.assignment),
    standing: async (share) => {
      const { epoch, holder, released, at } = await (await ShareLog.open(engine, share)).standing()
      return { epoch, holder, released, last: at }
    },
    withinMs: ANSWER_MS,
  })
  const figures = new Map(
    await Promise.all(
      status.nodes.map(async ({ node }) => [node, await nodeFigures(engine, node, ANSWER_MS)] as const),
    ),
  )
  const left = status.nodes.length > 0 ? new Map<string, NodeFigures>() : await figuresLeft(engine)
  return { status, figures, left }
}
