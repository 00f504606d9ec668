// What was done to a cluster while it crawled, and what its shares had promised in that moment: the evidence for what a crawl may ask for
// a second time.
//
//   kill, freeze    the shares that the node had: what its journals say on disk is committed, the rest may be asked for again
//   engine          every share: until it answers again nothing can be committed, and whoever fences itself drops what it had under way
//
// A journal on disk is never ahead of the share's log, so what is in it is committed for good, whoever has the share next.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/base/index.ts'
import { type CommittedBatch, readShare } from '../crash/committed-state.ts'
import { keyOfUrl } from '../crash/judge-lives.ts'
import type { NodeProcess } from './node-process.ts'

export type DisturbanceKind = 'kill' | 'freeze' | 'engine' | 'cut'

export interface Disturbance {
  readonly kind: DisturbanceKind
  readonly what: string
  readonly startMs: number
  /** By then it was read what was promised. */
  readonly readMs: number
  /** Nothing that was asked for later is excused by it. Infinity while it lasts. */
  endMs: number
  /** By share: its last batches. */
  readonly shares: ReadonlyMap<number, readonly CommittedBatch[]>
}

/** Batches that say when the last one was taken: the last few. */
const BATCHES_KEPT = 30

export class Disturbances {
  readonly all: Disturbance[] = []
  /** By URL: the number of the first disturbance at which it was known to be committed. */
  readonly settled = new Map<string, number>()
  /** Which share a host belongs to; that never changes. */
  readonly shareOf = new Map<string, number>()

  /** Notes what the nodes have promised now. They stand still, or it does not matter that they go on. */
  async note(kind: DisturbanceKind, what: string, nodes: readonly NodeProcess[], endMs?: number): Promise<Disturbance> {
    const startMs = systemClock.nowMs()
    const shares = new Map<number, readonly CommittedBatch[]>()
    for (const node of nodes) {
      for (const share of node.shares) shares.set(share, await this.#read(node, share))
    }
    const readMs = systemClock.nowMs()
    const disturbance = { kind, what, startMs, readMs, endMs: endMs ?? Infinity, shares }
    this.all.push(disturbance)
    return disturbance
  }

  /** Learns where hosts belong from whatever a node has on its disk. */
  async learnHosts(nodes: readonly NodeProcess[]): Promise<void> {
    for (const node of nodes) for (const share of sharesOnDisk(node.dir)) await this.#read(node, share, false)
  }

  async #read(node: NodeProcess, share: number, counts = true): Promise<readonly CommittedBatch[]> {
    const { batches, pages, failures } = await readShare(shareDir(node.dir, share))
    for (const url of [...pages, ...failures]) {
      const { hostname } = new URL(url)
      if (!this.shareOf.has(hostname)) this.shareOf.set(hostname, share)
      const key = keyOfUrl(url)
      if (counts && !this.settled.has(key)) this.settled.set(key, this.all.length)
    }
    return batches.slice(-BATCHES_KEPT)
  }
}

export function sharesOnDisk(dir: string): number[] {
  try {
    return readdirSync(join(dir, 'state/shares'))
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

export function shareDir(dir: string, share: number): string {
  return join(dir, 'state/shares', String(share))
}
