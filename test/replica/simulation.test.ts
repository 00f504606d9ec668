// A share that is killed, taken over, given back, snapshotted and lied to by its engine, at moments drawn from a seed, is at its end the
// share that never moved. A longer run: PORTOLAN_REPLICA_SEEDS=500 npx vitest run test/replica/simulation.test.ts

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Fault, Random } from '../../src/base/index.ts'
import { MemoryEngine, type Unanswered } from '../../src/engine/index.ts'
import { temporaryDirectory } from '../crawl/run-crawl.ts'
import { type Attempt, expectSame, imageOf, imageOfTwin, Machine } from './simulated-share.ts'

const SEEDS = Number(process.env['PORTOLAN_REPLICA_SEEDS'] ?? 3)
const FIRST = Number(process.env['PORTOLAN_REPLICA_FIRST'] ?? 1)
const STEPS = 30
const UNANSWERED: readonly Unanswered[] = ['not-done', 'done', 'done-later']

for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
  test(`seed ${seed}`, async () => {
    const random = new Random(seed)
    const engine = MemoryEngine.create({ operationMs: 1 })
    const root = quickDirectory()
    const attempts: Attempt[] = []
    /** By machine: all that it had when it was last heard of. */
    const kept = new Map<number, readonly Attempt[]>()
    let acknowledged = 0
    let lives = 0
    /** The engine has lost entries that whoever has them cannot tell again: he is gone. */
    let isLossy = false
    const open = async (place: number): Promise<Machine> => {
      const node = `n${place}`
      const onAttempt = (attempt: Attempt): void => {
        attempts.length = attempt.number - 1
        attempts.push(attempt)
      }
      const machine = await Machine.open(engine.client(), node, `life-${++lives}`, join(root, node), random, onAttempt)
      // Batches that the engine has lost, and this machine has kept: they count again.
      if (machine.replica.made.ahead > 0) attempts.splice(0, attempts.length, ...(kept.get(place) ?? []))
      // What was acknowledged is there; what was not may be.
      if (!isLossy) expect(machine.last).toBeGreaterThanOrEqual(acknowledged)
      expect(machine.last).toBeLessThanOrEqual(attempts.length)
      attempts.length = machine.last
      acknowledged = machine.last
      isLossy = false
      return machine
    }
    let place = 0
    let machine = await open(place)
    for (let step = 0; step < STEPS; step++) {
      const what = random.below(12)
      if (what < 5) await machine.work()
      else if (what === 5) await machine.snapshot()
      else if (what === 6) {
        await machine.leave()
        // With the last batch, which leaving has written.
        kept.set(place, [...attempts])
        place = random.below(3)
        machine = await open(place)
      } else if (what < 9) {
        await machine.die()
        if (random.below(2) === 0) place = random.below(3)
        machine = await open(place)
      } else if (what === 9) {
        // Another takes it, and the former owner wakes up later: whatever it does is refused.
        const former = machine
        const before = former.last
        place = (place + 1) % 3
        machine = await open(place)
        const counted = [...attempts]
        await expect(former.work()).rejects.toMatchObject({ code: 'SHARE_LOST' })
        expect(former.last).toBe(before)
        attempts.splice(0, attempts.length, ...counted)
        await former.die()
      } else if (what === 10) {
        const how = random.pick(UNANSWERED)
        machine.client.failNext('append', how)
        await machine.work()
      } else {
        const lost = 1 + random.below(4)
        engine.forgetTail('share-0', lost)
        machine.client.cut()
        machine.client.restore()
        if (random.below(3) > 0) await machine.work()
        else {
          // Its owner is gone before it could tell them again.
          await machine.die()
          isLossy = true
          place = random.below(3)
          machine = await open(place)
        }
      }
      acknowledged = machine.last
      kept.set(place, [...attempts])
    }
    await machine.work()
    await machine.leave()
    expectSame(await imageOf(join(root, `n${place}`), random), await imageOfTwin(root, attempts, random))
  })
}

/** Where there is memory that looks like a disk, syncs cost nothing; what they promise is not what is tested here. */
function quickDirectory(): string {
  const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'portolan-test-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return root
}

test('entries of another format are refused by name', async () => {
  const engine = MemoryEngine.create().client()
  const log = await engine.log('share-0')
  await log.append(new Uint8Array([9, 9, 0, 0, 0, 0]), 0)
  const root = temporaryDirectory(onTestFinished)
  const opening = Machine.open(engine, 'a', '1', join(root, 'a'), new Random(1), () => {})
  await expect(opening).rejects.toThrow(Fault)
  await expect(opening).rejects.toMatchObject({ code: 'LEDGER_VERSION' })
})
