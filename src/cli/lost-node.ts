// portolan cluster remove NODE --lost: a machine that never comes back. What of its archive is safe stays as it is; pages that were in
// the rest are had again.

import { userInfo } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../base/index.ts'
import {
  assertDead,
  type CrawlDefinition,
  type LostNode,
  lostNodesIn,
  LostProgress,
  makeWish,
  runOf,
} from '../cluster/index.ts'
import type { Engine } from '../engine/index.ts'
import { describeLostNode } from './describe-lost-node.ts'

const LOOK_MS = 500

/** Waits until everything that went with it waits again, as long as somebody works on the crawl. */
export async function loseNode(
  engine: Engine,
  node: string,
  definition: CrawlDefinition,
  say: (text: string) => void,
): Promise<void> {
  await assertDead(engine, node, definition, systemClock, () => sleep(LOOK_MS))
  const lost = await wishedLoss(engine, node, definition.shares)
  say(`${node} is lost. The others look what they had on it, and put it back in line where it is not on the shelf.\n`)
  for (;;) {
    const progress = await LostProgress.read(engine, lost, definition.shares)
    if (progress.isDone) {
      say(`${describeLostNode(node, progress.sum, true)}\n`)
      return
    }
    const { isOver, nodes } = await runOf(engine)
    if (isOver) {
      // An end that was decided before all had heard of the loss.
      await makeWish(engine, { kind: 'go', node: null, ...signature() })
      say('The crawl had ended, and goes on for what was lost: start its nodes again.\n')
      return
    }
    if (nodes.every((one) => one === node)) {
      say('Nobody works on the crawl; it is seen to by the nodes that join next.\n')
      return
    }
    await sleep(LOOK_MS)
  }
}

/** One that was asked for before and is not done with is gone on with. */
async function wishedLoss(engine: Engine, node: string, shares: number): Promise<LostNode> {
  const last = (await lostNodesIn(engine)).findLast((one) => one.node === node)
  if (last !== undefined && !(await LostProgress.read(engine, last, shares)).isDone) return last
  return { wish: await makeWish(engine, { kind: 'lost', node, ...signature() }), node }
}

function signature(): { by: string; at: string } {
  return { by: userInfo().username, at: new Date().toISOString() }
}
