// The course of a cluster outlives whoever keeps it, stays small, and is one though two may think that it is theirs.

import { expect, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import { MemoryEngine } from '../engine/index.ts'
import type { TimelineSample } from '../report/index.ts'
import { ClusterCourse, readCourse } from './cluster-course.ts'

const sample = (t: number): TimelineSample => ({
  t,
  pages: 10 * t,
  bytes: 1_000 * t,
  failed: 0,
  skipped: 0,
  waiting: 5,
  hosts: 3,
  active: 2,
  rssBytes: 1e8,
  cpuSeconds: t / 2,
})

function stand() {
  const clock = new ManualClock()
  const engine = MemoryEngine.create({ clock })
  return { clock, engine, course: () => new ClusterCourse(engine.client(), clock) }
}

test('a crawl of which nobody kept a course has none', async () => {
  const { engine } = stand()
  expect(await readCourse(engine.client())).toEqual([])
})

test('whoever has the share next goes on where the last one stopped, and all of it is there for whoever looks', async () => {
  const { clock, engine, course } = stand()
  const first = course()
  for (let t = 0; t < 60; t += 5) {
    await first.add(sample(t))
    clock.advance(5_000)
  }
  const second = course()
  for (let t = 60; t < 100; t += 5) {
    await second.add(sample(t))
    clock.advance(5_000)
  }
  await second.add(sample(101), true)
  const kept = await readCourse(engine.client())
  // The first died without a last word: what it had not written yet is missing.
  expect(kept.map(({ t }) => t)).toEqual([0, 5, 10, 15, 20, 25, 30, 35, 40, 60, 65, 70, 75, 80, 85, 90, 95, 101])
  expect(kept.at(-1)).toEqual(sample(101))
})

test('however long the crawl, one entry of bounded size is kept', async () => {
  const { clock, engine, course } = stand()
  const long = course()
  for (let t = 0; t < 6_000; t++) {
    await long.add(sample(t))
    clock.advance(1_000)
  }
  await long.add(sample(6_000), true)
  const kept = await readCourse(engine.client())
  expect(kept.at(-1)).toEqual(sample(6_000))
  expect(kept.length).toBeGreaterThan(900)
  expect(kept.length).toBeLessThanOrEqual(2_000)
  const log = await engine.client().log('course')
  expect((await log.last()) - (await log.first())).toBe(0)
})

test('of two who think that it is theirs, one is refused and goes on from what the other wrote', async () => {
  const { clock, engine, course } = stand()
  const [old, heir] = [course(), course()]
  await old.add(sample(0))
  await heir.add(sample(10))
  clock.advance(20_000)
  await heir.add(sample(20))
  // Refused, and what it said is lost; then it knows better.
  await old.add(sample(21))
  clock.advance(20_000)
  await old.add(sample(40))
  expect((await readCourse(engine.client())).map(({ t }) => t)).toEqual([0, 10, 20, 40])
})

test('a last word is said after all where somebody else had written', async () => {
  const { clock, engine, course } = stand()
  const [old, heir] = [course(), course()]
  await old.add(sample(0))
  await heir.add(sample(10))
  clock.advance(20_000)
  await old.add(sample(20), true)
  expect((await readCourse(engine.client())).map(({ t }) => t)).toEqual([0, 10, 20])
})

test('an entry that is trimmed while it is read is looked for again', async () => {
  const { clock, engine, course } = stand()
  const keeper = course()
  await keeper.add(sample(0))
  clock.advance(20_000)
  const client = engine.client()
  const log = await client.log('course')
  const late = {
    log: async () => ({
      last: () => log.last(),
      // Between the two questions, once, the next entry comes.
      read: async function* (after: number) {
        if (after === 0) await keeper.add(sample(20))
        yield* log.read(after)
      },
    }),
  } as unknown as typeof client
  expect((await readCourse(late)).map(({ t }) => t)).toEqual([0, 20])
})

test('whoever has not heard from all yet does not make the course go back', async () => {
  const { clock, engine, course } = stand()
  await course().add(sample(10))
  const heir = course()
  await heir.add({ ...sample(20), pages: 3 })
  clock.advance(20_000)
  await heir.add(sample(40))
  expect((await readCourse(engine.client())).map(({ pages }) => pages)).toEqual([100, 400])
})

test('an engine that is away costs samples, not the course', async () => {
  const { clock, engine } = stand()
  const client = engine.client()
  const course = new ClusterCourse(client, clock)
  await course.add(sample(0))
  clock.advance(20_000)
  client.cut()
  const failing = expect(course.add(sample(20))).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
  for (let i = 0; i < 100; i++) {
    clock.advance(1_000)
    await Promise.resolve()
  }
  await failing
  client.restore()
  await course.add(sample(60))
  clock.advance(20_000)
  await course.add(sample(80))
  const kept = (await readCourse(engine.client())).map(({ t }) => t)
  expect(kept[0]).toBe(0)
  expect(kept.at(-1)).toBe(80)
})

test('bytes that are no course are none', async () => {
  const { engine } = stand()
  const log = await engine.client().log('course')
  await log.append(Buffer.from('nonsense'), 0)
  expect(await readCourse(engine.client())).toEqual([])
})
