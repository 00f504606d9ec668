// A node that never comes back: steps in their order, and no living one is taken for lost.

import { expect, test } from 'vitest'
import { ManualClock, Random } from '../base/index.ts'
import { MemoryEngine } from '../engine/index.ts'
import { makeWish } from './cluster-commands.ts'
import { assertDead, lostNodesIn, runOf } from './lost-commands.ts'
import { type LostFound, LostProgress, noteLostStep } from './lost-nodes.ts'
import { encodeRecord } from './records.ts'

const LOST = { wish: 7, node: 'b' }
const GONE: LostFound = { safeFiles: 1, safePages: 10, goneFiles: 2, gonePages: 20, object: 'x' }
const SAFE: LostFound = { safeFiles: 1, safePages: 5, goneFiles: 0, gonePages: 0, object: null }

test('a share forgets when all have found, and puts back in line when all have forgotten', async () => {
  const engine = MemoryEngine.create().client()
  const shares = 3
  const random = new Random('steps')
  const order = ['find', 'forget', 'requeue']
  let reached = 0
  for (let steps = 0; ; steps++) {
    const progress = await LostProgress.read(engine, LOST, shares)
    const possible = [0, 1, 2].flatMap((share) => {
      const step = progress.nextOf(share)
      return step === null ? [] : [{ share, step }]
    })
    if (possible.length === 0) {
      expect(progress.isDone).toBe(true)
      expect(steps).toBe(3 * shares)
      break
    }
    expect(progress.isDone).toBe(false)
    const { share, step } = random.pick(possible)
    // Nobody is ahead of the others by a step that they have not done.
    expect(order.indexOf(step)).toBeGreaterThanOrEqual(reached)
    reached = Math.max(reached, order.indexOf(step))
    if (step === 'find') await noteLostStep(engine, LOST, share, { step, found: share === 0 ? GONE : SAFE })
    else if (step === 'forget') await noteLostStep(engine, LOST, share, { step })
    else await noteLostStep(engine, LOST, share, { step, pages: share })
  }
  const { sum } = await LostProgress.read(engine, LOST, shares)
  expect(sum).toEqual({ shares: 3, safeFiles: 3, safePages: 20, goneFiles: 2, gonePages: 20, requeued: 3 })
  // Of another loss nothing is known by that.
  expect((await LostProgress.read(engine, { wish: 70, node: 'b' }, shares)).nextOf(0)).toBe('find')
})

test('where nothing is gone nobody has to forget anything', async () => {
  const engine = MemoryEngine.create().client()
  for (const share of [0, 1]) await noteLostStep(engine, LOST, share, { step: 'find', found: SAFE })
  const progress = await LostProgress.read(engine, LOST, 2)
  expect([progress.isDone, progress.nextOf(0)]).toEqual([true, null])
})

test('a node that answers, or beats, is not lost; one that the view drops, or that is silent, is', async () => {
  const engine = MemoryEngine.create().client()
  const view = { members: [{ node: 'b', incarnation: 'b1', weight: 1 }], wishesUpTo: 0, by: '', because: '', at: '' }
  await engine.records.create('view.1', encodeRecord(view))
  const definition = { leaseMs: 40, marginMs: 10 }
  const clock = new ManualClock()
  const later = async (): Promise<void> => clock.advance(10)
  let beats = 0
  const beat = async (): Promise<void> => engine.beat('b.b1', new TextEncoder().encode(`${++beats} 1 0`), 1_000)
  await beat()
  await expect(assertDead(engine, 'b', definition, clock, beat)).rejects.toThrow('node b is alive')
  await assertDead(engine, 'b', definition, clock, later)
  expect(clock.nowMs()).toBeGreaterThanOrEqual(50)
  const drop = async (): Promise<void> => {
    await engine.records.create('view.2', encodeRecord({ ...view, members: [] }))
  }
  await assertDead(engine, 'b', { leaseMs: 1e9, marginMs: 0 }, clock, drop)
  const stop = await engine.serve({ kind: 'node', name: 'b', version: '1' }, async (question) => question)
  await expect(assertDead(engine, 'b', definition, clock, later)).rejects.toThrow('node b is alive')
  stop()
})

test('a loss is a wish like others, which also removes; whether the run is over is known', async () => {
  const engine = MemoryEngine.create().client()
  const join = { weight: 1, version: '', host: '', at: '', replaces: [], wishesUpTo: 0 }
  await engine.records.create('join.b.b1', encodeRecord(join))
  const wish = await makeWish(engine, { kind: 'lost', node: 'b', by: 'me', at: 'now' })
  expect(await lostNodesIn(engine)).toEqual([{ wish, node: 'b' }])
  await expect(makeWish(engine, { kind: 'lost', node: 'z', by: 'me', at: 'now' })).rejects.toThrow('no node named z')
  expect((await runOf(engine)).isOver).toBe(false)
  await engine.records.create('end.1', encodeRecord({ reason: 'finished', by: 'a', at: 'now' }))
  expect((await runOf(engine)).isOver).toBe(true)
  await makeWish(engine, { kind: 'go', node: null, by: 'me', at: 'now' })
  expect((await runOf(engine)).isOver).toBe(false)
})
