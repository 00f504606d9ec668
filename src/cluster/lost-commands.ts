// What an operator's word that a node is lost is checked against: whether it lives, and how the crawl stands.

import { type Clock, Fault } from '../base/index.ts'
import type { Engine } from '../engine/index.ts'
import { MEMBERSHIP_QUESTION, NODE_SERVICE } from './cluster-member.ts'
import { Changes } from './changes.ts'
import { type CrawlDefinition, decodeRecord, type Member, runName } from './records.ts'
import { type LostNode, Wishes } from './wishes.ts'

const ANSWER_MS = 2_000

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
  const changes = new Changes()
  const ends = new Set<string>()
  for (const kind of ['wish', 'view', 'change', 'end']) {
    for (const record of await engine.records.list(kind)) {
      const heard = decodeRecord(record)
      if (heard?.kind === 'wish') wishes.add(heard.number, heard.wish)
      else if (heard?.kind === 'view') members = heard.view.members
      else if (heard?.kind === 'change') changes.add(heard.number, heard.change)
      else if (heard?.kind === 'end') ends.add(runName(heard.end.run, heard.end.change))
    }
  }
  return { isOver: ends.has(runName(wishes.run, changes.upTo)), nodes: members.map(({ node }) => node), members }
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
