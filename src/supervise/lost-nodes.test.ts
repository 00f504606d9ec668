import { expect, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import { type LostNode, LostProgress, noteLostStep } from '../cluster/index.ts'
import { MemoryEngine } from '../engine/index.ts'
import { LostNodes } from './lost-nodes.ts'
import { loadLost, storeLost } from './lost-object.ts'

const LOST: LostNode = { wish: 1, node: 'b' }
const FOUND = { safeFiles: 0, safePages: 0, goneFiles: 1, gonePages: 2, object: 'lost.x' }

test('agents are opened anew as often as there is a step for them, and nothing is left to do then', async () => {
  const engine = MemoryEngine.create().client()
  const clock = new ManualClock()
  const renewed: number[] = []
  const settled: number[] = []
  let isShelfThere = false
  const parts = {
    engine,
    shares: 2,
    clock,
    hosted: () => [0, 1],
    // As an agent does when it is opened.
    renew: async (share: number) => {
      renewed.push(share)
      for (;;) {
        const step = (await LostProgress.read(engine, LOST, 2)).nextOf(share)
        if (step === null || (step === 'find' && !isShelfThere)) return true
        if (step === 'find') await noteLostStep(engine, LOST, share, { step, found: FOUND })
        else if (step === 'forget') await noteLostStep(engine, LOST, share, { step })
        else await noteLostStep(engine, LOST, share, { step, pages: 1 })
      }
    },
    onSettled: (_: LostNode, { requeued }: { requeued: number }) => void settled.push(requeued),
  }
  const nodes = new LostNodes(parts)
  expect(nodes.isSettled([])).toBe(true)
  expect(nodes.isSettled([LOST])).toBe(false)
  await nodes.look([LOST])
  // Nothing came of it; not again at once.
  await nodes.look([LOST])
  expect(renewed).toEqual([0, 1])
  isShelfThere = true
  clock.advance(60_000)
  for (let looks = 0; looks < 5 && !nodes.isSettled([LOST]); looks++) await nodes.look([LOST])
  expect(settled).toEqual([2])
  expect(renewed.length).toBeLessThanOrEqual(8)
  const before = renewed.length
  await nodes.look([LOST])
  expect([renewed.length, settled.length]).toEqual([before, 1])
})

test('one that cannot be opened anew now is tried with the next look', async () => {
  const engine = MemoryEngine.create().client()
  let tries = 0
  const nodes = new LostNodes({
    engine,
    shares: 1,
    clock: new ManualClock(),
    hosted: () => [0],
    renew: async () => ++tries > 100,
    onSettled: () => {},
  })
  await nodes.look([LOST])
  await nodes.look([LOST])
  expect(tries).toBe(2)
})

test('what is lost is described by an object, which is read as it was written', async () => {
  const { objects } = MemoryEngine.create().client()
  const filter = new Uint8Array(2 ** 20)
  filter[12_345] = 7
  await storeLost(objects, 'lost.x', { safe: ['archive/a.warc'], gone: ['archive/b.warc'] }, filter)
  const described = await loadLost(objects, 'lost.x')
  expect(described.files).toEqual({ safe: ['archive/a.warc'], gone: ['archive/b.warc'] })
  expect(Buffer.from(await described.filter()).equals(Buffer.from(filter))).toBe(true)
})
