// A node that never comes back, and with it the WARC files that only it had: how far the others are with having its pages again.
//
//   wish 7: b is lost                       each share by itself              all shares, then each by itself
//     └─▶ lost.7.found.<share>    what of its pages stood in files of b, and which of those files are safe on the shelf
//         lost.7.forgot.<share>   nothing is kept as a copy of what is lost any more           (when all have found)
//         lost.7.waits.<share>    so many pages wait again                                     (when all have forgotten)
//
// In this order, because pages of one share may be kept as copies of another's: were a page asked for before the owner of its content
// has forgotten the lost one, it would be kept as a copy of itself. Each step is done again by whoever has the share next, where it was
// not written down; twice does no harm.

import { type Clock, Fault } from '../base/index.ts'
import type { Engine } from '../engine/index.ts'
import { MEMBERSHIP_QUESTION, NODE_SERVICE } from './cluster-member.ts'
import { type CrawlDefinition, decodeRecord, encodeRecord, type LostNode, type Member } from './records.ts'
import { Wishes } from './wishes.ts'

const ANSWER_MS = 2_000

/** What a share had in files of the lost node. */
export interface LostFound {
  /** WARC files that are on the shelf, and pages in them. */
  readonly safeFiles: number
  readonly safePages: number
  /** Those that are nowhere. */
  readonly goneFiles: number
  readonly gonePages: number
  /** Says which files and captures these are (src/supervise/lost-share.ts); null where nothing is gone. */
  readonly object: string | null
}

/** What all shares together had. */
export interface LostSum extends Omit<LostFound, 'object'> {
  /** Shares that have looked. */
  readonly shares: number
  /** Pages that wait again, or have been had again since. */
  readonly requeued: number
}

export type LostStep = 'find' | 'forget' | 'requeue'

export class LostProgress {
  readonly #shares: number
  readonly #found = new Map<number, LostFound>()
  readonly #forgot = new Set<number>()
  readonly #waits = new Map<number, number>()

  private constructor(shares: number) {
    this.#shares = shares
  }

  static async read(engine: Pick<Engine, 'records'>, { wish }: LostNode, shares: number): Promise<LostProgress> {
    const progress = new LostProgress(shares)
    for (const { name, value } of await engine.records.list(`lost.${wish}`)) {
      const [, , step, share] = name.split('.')
      const said = JSON.parse(new TextDecoder().decode(value)) as LostFound & { readonly pages: number }
      if (step === 'found') progress.#found.set(Number(share), said)
      else if (step === 'forgot') progress.#forgot.add(Number(share))
      else if (step === 'waits') progress.#waits.set(Number(share), said.pages)
    }
    return progress
  }

  /** What a share can do now; null where it has done everything, or others have to do something first. */
  nextOf(share: number): LostStep | null {
    if (!this.#found.has(share)) return 'find'
    if (this.#found.size < this.#shares || this.sum.gonePages === 0) return null
    if (!this.#forgot.has(share)) return 'forget'
    if (this.#forgot.size < this.#shares || this.#waits.has(share)) return null
    return 'requeue'
  }

  /** All that was lost waits again, or is had again already; or nothing was. */
  get isDone(): boolean {
    if (this.#found.size < this.#shares) return false
    return this.sum.gonePages === 0 || this.#waits.size === this.#shares
  }

  /** Where it is described what a share has lost; null where nothing is, or it has not looked. */
  objectOf(share: number): string | null {
    return this.#found.get(share)?.object ?? null
  }

  /** Over the shares that have looked; a file is one share's. */
  get sum(): LostSum {
    const all = [...this.#found.values()]
    const total = (of: keyof Omit<LostFound, 'object'>): number => all.reduce((sum, one) => sum + one[of], 0)
    return {
      shares: all.length,
      safeFiles: total('safeFiles'),
      safePages: total('safePages'),
      goneFiles: total('goneFiles'),
      gonePages: total('gonePages'),
      requeued: [...this.#waits.values()].reduce((sum, pages) => sum + pages, 0),
    }
  }
}

/** Says that a share has done a step. Whoever says it first is believed. */
export async function noteLostStep(
  engine: Pick<Engine, 'records'>,
  { wish }: LostNode,
  share: number,
  said:
    | { readonly step: 'find'; readonly found: LostFound }
    | { readonly step: 'forget' }
    | { readonly step: 'requeue'; readonly pages: number },
): Promise<void> {
  const name = { find: 'found', forget: 'forgot', requeue: 'waits' }[said.step]
  const value = said.step === 'find' ? said.found : said.step === 'requeue' ? { pages: said.pages } : {}
  await engine.records.create(`lost.${wish}.${name}.${share}`, encodeRecord(value))
}

/** Every node that was ever said to be lost, by the wishes that are there now. */
export async function lostNodesIn(engine: Pick<Engine, 'records'>): Promise<readonly LostNode[]> {
  const wishes = new Wishes()
  for (const record of await engine.records.list('wish')) {
    const heard = decodeRecord(record)
    if (heard?.kind === 'wish') wishes.add(heard.number, heard.wish)
  }
  return wishes.lost
}

/**
 * A node that still beats, or answers, is not lost: its pages would be had again for nothing. One that the last view has is watched for
 * as long as others would wait for it. `pause`: between two looks.
 */
export async function assertDead(
  engine: Engine,
  node: string,
  { leaseMs, marginMs }: Pick<CrawlDefinition, 'leaseMs' | 'marginMs'>,
  clock: Pick<Clock, 'nowMs'>,
  pause: () => Promise<void>,
): Promise<void> {
  const alive = (): Fault =>
    new Fault(
      'CLUSTER_REFUSED',
      `node ${node} is alive, and so are its files; stop its process first, or remove it without --lost: then it gives up its shares in order`,
    )
  if (await answers(engine, node)) throw alive()
  const { members } = await runOf(engine)
  const incarnation = members.find((one) => one.node === node)?.incarnation
  if (incarnation === undefined) return
  const name = `${node}.${incarnation}`
  const before = await engine.lastBeat(name)
  const endMs = clock.nowMs() + leaseMs + marginMs
  while (clock.nowMs() < endMs) {
    await pause()
    const now = await engine.lastBeat(name)
    if (!Buffer.from(now ?? []).equals(Buffer.from(before ?? []))) throw alive()
    if (!(await runOf(engine)).members.some((one) => one.incarnation === incarnation)) return
  }
}

/** Whether the present run of the crawl has come to its end, and who takes part. */
export async function runOf(
  engine: Pick<Engine, 'records'>,
): Promise<{ readonly isOver: boolean; readonly nodes: readonly string[]; readonly members: readonly Member[] }> {
  const wishes = new Wishes()
  let members: readonly Member[] = []
  const ends = new Set<number>()
  for (const kind of ['wish', 'view', 'end']) {
    for (const record of await engine.records.list(kind)) {
      const heard = decodeRecord(record)
      if (heard?.kind === 'wish') wishes.add(heard.number, heard.wish)
      else if (heard?.kind === 'view') members = heard.view.members
      else if (heard?.kind === 'end') ends.add(heard.end.run)
    }
  }
  return { isOver: ends.has(wishes.run), nodes: members.map(({ node }) => node), members }
}

async function answers(engine: Engine, node: string): Promise<boolean> {
  try {
    await engine.call(NODE_SERVICE, node, new TextEncoder().encode(MEMBERSHIP_QUESTION), ANSWER_MS)
    return true
  } catch (fault) {
    if (fault instanceof Fault && (fault.code === 'CALL_UNANSWERED' || fault.code === 'CALL_FAILED')) return false
    throw fault
  }
}
