// What the nodes of a cluster say, put together as the crawl says it: its figures, its agents (one a share), its nodes.
//
// A share that moves is with nobody for some seconds, and a node may not answer in time. What was last known of each share is kept, so
// that the figures of the crawl do not fall meanwhile. Bounded by the number of shares.

import { type CrawlTotals, sumTotals } from '../agent/index.ts'
import type { NodeStatus } from '../cluster/index.ts'
import type { ClusterLook, NodeFigures, ShareFigures } from '../supervise/index.ts'
import type { AnswerOf, CrawlInfo } from './api.ts'

export interface KnownShare extends ShareFigures {
  readonly node: string
}

export class ClusterFigures {
  readonly #shares = new Map<number, KnownShare>()
  /** Of nodes with more shares than they tell of. */
  #rests: readonly CrawlTotals[] = []
  #nodes: readonly NodeFigures[] = []
  #peakRssBytes = 0

  hear({ status, figures, left }: ClusterLook): void {
    const answers = [...figures, ...left].flatMap(([node, one]) => (one === null ? [] : [[node, one] as const]))
    this.#nodes = answers.map(([, one]) => one)
    this.#rests = this.#nodes.flatMap(({ rest }) => (rest === null ? [] : [rest]))
    this.#peakRssBytes = Math.max(this.#peakRssBytes, ...this.#nodes.map(({ peakRssBytes }) => peakRssBytes))
    for (const [node, { agents }] of answers) {
      for (const one of agents) {
        const known = this.#shares.get(one.share)
        // Of two who tell of a share, the one that has come further has it.
        if (
          known === undefined ||
          one.totals.admitted >= known.totals.admitted ||
          isHeldBy(status.shares[one.share], node)
        )
          this.#shares.set(one.share, { ...one, node })
      }
    }
  }

  /** Shares that some node says it has now. */
  get agents(): readonly KnownShare[] {
    const here = new Set(this.#nodes.flatMap(({ shares }) => shares))
    return [...this.#shares.values()].filter(({ share }) => here.has(share)).sort((one, two) => one.share - two.share)
  }

  sum(of: (node: NodeFigures) => number): number {
    return this.#nodes.reduce((total, node) => total + of(node), 0)
  }

  get figures(): CrawlInfo['figures'] {
    const totals = sumTotals([...[...this.#shares.values()].map((one) => one.totals), ...this.#rests])
    const { pages, failed, failures, answers, skipped, refused, bytes, wireBytes, hosts, admitted } = totals
    const settled = pages + failed + Object.values(skipped).reduce((sum, count) => sum + count, 0)
    return {
      pages,
      failed,
      failures: { ...failures },
      answers: { ...answers },
      skipped: { ...skipped },
      refused: { ...refused },
      bytes,
      wireBytes,
      seconds: Math.round(totals.ms) / 1_000,
      hosts,
      urlsSeen: admitted,
      waiting: Math.max(0, admitted - settled),
      // Agents of a cluster do not know their process; the processes that run say what they took.
      cpuSeconds: Math.max(
        Math.round(totals.cpuMs) / 1_000,
        this.sum(({ cpuSeconds }) => cpuSeconds),
      ),
      peakRssBytes: Math.max(totals.peakRssBytes, this.#peakRssBytes),
    }
  }
}

function isHeldBy(share: ClusterLook['status']['shares'][number] | undefined, node: string): boolean {
  return share !== undefined && !share.released && share.holder?.node === node
}

export function agentRow({
  share,
  node,
  totals,
  frontier,
  active,
  pace,
  change,
}: KnownShare): AnswerOf<'agents'>['agents'][number] {
  const { pages, failed } = totals
  return {
    agent: share,
    node,
    pages,
    failed,
    waiting: frontier.waiting,
    hosts: frontier.hosts,
    active,
    limit: pace.limit,
    bottleneck: pace.bottleneck,
    change: change ?? 0,
    speed: pace.speed,
  }
}

export function nodeRow(status: NodeStatus, figures: NodeFigures | null): AnswerOf<'nodes'>['nodes'][number] {
  const { node, host, version, weight, shares, beatAgeMs } = status
  return {
    node,
    state: nodeState(status),
    host,
    version,
    weight,
    shares: [...shares],
    ...workOf(figures),
    // By the clocks of two machines: a beat cannot lie ahead.
    lastBeatMs: beatAgeMs === null ? null : Math.max(0, Math.round(beatAgeMs)),
  }
}

/** One that took part to the end, as it left its figures. */
export function goneNodeRow(node: string, figures: NodeFigures): AnswerOf<'nodes'>['nodes'][number] {
  const shares = [...figures.shares]
  return {
    node,
    state: 'gone',
    host: '',
    version: '',
    weight: 0,
    shares,
    ...workOf(figures),
    active: 0,
    lastBeatMs: null,
  }
}

function workOf(figures: NodeFigures | null) {
  const { pages = 0, waiting = 0, active = 0, rssBytes = 0, cpuSeconds = 0, donePages, doneBytes } = figures ?? {}
  return { pages, waiting, active, rssBytes, cpuSeconds, ...(donePages === undefined ? {} : { donePages, doneBytes }) }
}

function nodeState({ isDraining, isLeaving, shares, report }: NodeStatus): AnswerOf<'nodes'>['nodes'][number]['state'] {
  if (report === null || report.isFenced) return 'silent'
  if (isDraining || isLeaving) return shares.length > 0 ? 'draining' : 'drained'
  return 'working'
}
