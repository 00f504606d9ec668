import { expect, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import type { Turn } from '../frontier/index.ts'
import { Pipeline, type PipelineParts } from './pipeline.ts'

/** A pipeline over a frontier that always has a turn, and visits that end when the test says so. */
function standOf(deadlineMs: number | null): {
  readonly pipeline: Pipeline
  readonly clock: ManualClock
  readonly visits: (() => void)[]
  readonly flushed: () => number
} {
  const clock = new ManualClock()
  const visits: (() => void)[] = []
  let flushed = 0
  const parts = {
    clock,
    frontier: { take: () => ({}) as Turn, figures: () => ({ waiting: 9 }), nextReadyMs: () => null },
    visitor: { visit: () => new Promise<void>((resolve) => void visits.push(resolve)) },
    books: { close: async () => {} },
    permits: { mayTake: () => true, isSpent: false },
    pace: {
      hasRoom: (active: number) => active < 2,
      isOpen: () => true,
      begin: () => {},
      end: () => {},
      flush: () => flushed++,
      takeDown: () => {},
    },
    onIdle: () => 'finished',
    deadlineMs: deadlineMs === null ? null : clock.nowMs() + deadlineMs,
    beforeClose: async () => {},
    abort: () => {},
  } as unknown as PipelineParts
  return { pipeline: new Pipeline(parts), clock, visits, flushed: () => flushed }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await Promise.resolve()
}

test('paused: what is under way ends, no turn is handed out, and having nothing under way is not the end', async () => {
  const { pipeline, visits, flushed } = standOf(null)
  const run = pipeline.run()
  expect(visits).toHaveLength(2)
  pipeline.pause()
  pipeline.pause()
  expect(flushed()).toBe(1)
  for (const end of visits) end()
  await settle()
  expect(pipeline.active).toBe(0)
  expect(visits).toHaveLength(2)
  pipeline.pump()
  expect(visits).toHaveLength(2)
  pipeline.resume()
  expect(visits).toHaveLength(4)
  pipeline.pause()
  pipeline.stop('interrupted')
  for (const end of visits) end()
  expect(await run).toBe('interrupted')
})

test('begun paused it asks nobody until it is resumed', async () => {
  const { pipeline, visits } = standOf(null)
  pipeline.pause()
  const run = pipeline.run()
  expect(visits).toHaveLength(0)
  pipeline.resume()
  expect(visits).toHaveLength(2)
  pipeline.stop('interrupted')
  for (const end of visits) end()
  expect(await run).toBe('interrupted')
})

test.for(['before', 'after'] as const)('--max-time stands still while it is paused, %s it has begun', async (when) => {
  const { pipeline, clock, visits } = standOf(1_000)
  if (when === 'before') pipeline.pause()
  const run = pipeline.run()
  if (when === 'after') pipeline.pause()
  clock.advance(5_000)
  expect(pipeline.isStopping).toBe(false)
  pipeline.resume()
  clock.advance(600)
  pipeline.pause()
  clock.advance(600)
  expect(pipeline.isStopping).toBe(false)
  pipeline.resume()
  clock.advance(399)
  expect(pipeline.isStopping).toBe(false)
  clock.advance(1)
  expect(pipeline.isStopping).toBe(true)
  for (const end of visits) end()
  expect(await run).toBe('max-time')
})
