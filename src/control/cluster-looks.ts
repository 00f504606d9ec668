// How a cluster stands, as it is looked at from here: once for all who ask within a second, and its course since somebody looks.

import { type StopReason, STOPS, systemClock } from '../base/index.ts'
import type { CrawlDefinition } from '../cluster/index.ts'
import type { Engine } from '../engine/index.ts'
import { Course, type TimelineSample } from '../report/index.ts'
import type { ClusterLook, loadClusterLook, NodeFigures } from '../supervise/index.ts'
import type { CrawlInfo } from './api.ts'
import { ClusterFigures } from './cluster-nodes.ts'
import { clusterSlowness } from './cluster-slowness.ts'
import { WorkRates } from './work-rates.ts'

/** Everybody who asks within this time is told the same. */
const LOOK_FRESH_MS = 900

type Tools = Pick<Awaited<ReturnType<typeof loadClusterLook>>, 'lookAtCluster' | 'sharesBehind'>

export class ClusterLooks {
  readonly figures = new ClusterFigures()
  readonly #id: string
  readonly #engine: Engine
  readonly #definition: CrawlDefinition
  readonly #tools: Tools
  readonly #rates = new WorkRates()
  #looking: { readonly atMs: number; readonly look: Promise<ClusterLook> } | null = null
  readonly #course = new Course()

  constructor(id: string, engine: Engine, definition: CrawlDefinition, tools: Tools) {
    this.#id = id
    this.#engine = engine
    this.#definition = definition
    this.#tools = tools
  }

  /** Since somebody looks from here. */
  get samples(): readonly TimelineSample[] {
    return this.#course.samples
  }

  /** Something was changed: what was seen before it is old. */
  forget(): void {
    this.#looking = null
  }

  /** For whoever is about to change something. */
  anew(): Promise<ClusterLook> {
    this.forget()
    return this.now()
  }

  now(): Promise<ClusterLook> {
    const nowMs = systemClock.nowMs()
    if (this.#looking !== null && nowMs - this.#looking.atMs < LOOK_FRESH_MS) return this.#looking.look
    const look = this.#tools.lookAtCluster(this.#engine, this.#definition).then((found) => this.#heard(found))
    this.#looking = { atMs: nowMs, look }
    // One that failed is no answer for the next.
    look.catch(() => (this.#looking = null))
    return look
  }

  #heard(look: ClusterLook): ClusterLook {
    this.figures.hear(look)
    const counts = [...look.figures].flatMap(([node, one]) => (one === null ? [] : [[node, workOf(one)] as const]))
    this.#rates.note(systemClock.nowMs(), new Map(counts))
    this.#rates.keepOnly(new Set(look.status.nodes.map(({ node }) => node)))
    this.#course.add(this.sample())
    return look
  }

  /** How it stands, as it was seen last. */
  sample(): TimelineSample {
    const { pages, bytes, failed, skipped, waiting, hosts, seconds, cpuSeconds } = this.figures.figures
    return {
      t: seconds,
      pages,
      bytes,
      failed,
      skipped: Object.values(skipped).reduce((sum, count) => sum + count, 0),
      waiting,
      hosts,
      active: this.figures.sum(({ active }) => active),
      rssBytes: this.figures.sum(({ rssBytes }) => rssBytes),
      cpuSeconds,
    }
  }

  infoOf({ status, figures }: ClusterLook): CrawlInfo {
    const isAlive = status.nodes.length > 0
    const { agents } = this.figures
    const frontiers = agents.map(({ frontier }) => frontier)
    const rate = (of: Parameters<WorkRates['perSecond']>[0]): number => round(this.#rates.perSecond(of))
    const isWorking = isAlive && (status.state === 'running' || status.state === 'stopping')
    return {
      id: this.#id,
      name: this.#id,
      dir: '',
      state: status.isPaused && isAlive && status.state === 'running' ? 'paused' : stateOf(status.state, isAlive),
      stoppedBecause: stopOf(status.state),
      startedAt: this.#definition.createdAt,
      agents: this.#definition.shares,
      figures: this.figures.figures,
      now: !isWorking
        ? null
        : {
            pagesPerSecond: rate('pages'),
            bytesPerSecond: rate('bytes'),
            active: this.figures.sum(({ active }) => active),
            hostsReady: frontiers.reduce((sum, { ready }) => sum + ready, 0),
            hostsResting: frontiers.reduce((sum, { resting }) => sum + resting, 0),
            rssBytes: this.figures.sum(({ rssBytes }) => rssBytes),
            cpuShare: rate('cpuSeconds'),
            slow: clusterSlowness(status, agents),
          },
      cluster: {
        crawl: this.#id,
        nodes: status.nodes.length,
        change: status.change,
        sharesBehind: this.#tools.sharesBehind(figures.values(), this.#definition.shares, status.change),
      },
      can: isWorking ? ['pause', 'resume', 'stop', 'seed', 'set', 'nodes'] : ['seed', 'set'],
    }
  }
}

function stateOf(said: string, isAlive: boolean): CrawlInfo['state'] {
  if (said === 'running') return isAlive ? 'running' : 'stopped'
  if (said === 'stopping') return isAlive ? 'stopping' : 'stopped'
  return said === 'finished' ? 'finished' : 'stopped'
}

function stopOf(said: string): StopReason | null {
  if (said === 'stop') return 'interrupted'
  return said in STOPS ? (said as StopReason) : null
}

function workOf({ donePages, doneBytes, cpuSeconds }: NodeFigures) {
  return { pages: donePages, bytes: doneBytes, cpuSeconds }
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
