// The frontier on disk keeps the common law, with next to no memory: every few calls a checkpoint is made, lines are cut down
// to their heads, and in one of the runs hosts leave memory altogether.

import * as fc from 'fast-check'
import { describe, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import { DiskFrontier, type DiskFrontierTuning } from './disk-frontier.ts'
import { checkAgainstModel, operations } from './frontier-model.conformance.ts'
import { frontierConformance, type FrontierSettings } from './frontier.conformance.ts'
import type { LineStore } from './line-store.ts'
import { MemoryLineStore } from './memory-line-store.ts'
import type { Subject } from './steady-frontier.conformance.ts'

const TINY: DiskFrontierTuning = { headEntries: 1, readAhead: 1, blockEntriesMin: 2, hostsMin: 64 }

/** A frontier that makes a checkpoint after every few calls. */
async function spilling(
  settings: FrontierSettings,
  store: LineStore,
  callsPerCheckpoint: number,
  tuning: DiskFrontierTuning,
): Promise<Subject> {
  const frontier = await DiskFrontier.on(store, { ...settings, memoryBytes: 1, tuning }, true)
  await frontier.endReplay()
  let calls = 0
  return {
    frontier,
    keepsPlaces: tuning.hostsMin > 0,
    settled: async () => {
      if (++calls % callsPerCheckpoint === 0) {
        frontier.seal(calls)
        frontier.committed(calls)
        await frontier.written()
      }
      await frontier.idle()
    },
    entries: () => Array.fromAsync(frontier.entries()),
    hostStates: () => Array.fromAsync(frontier.hostStates()),
    close: () => frontier.close(),
  }
}

frontierConformance('DiskFrontier, a checkpoint after every second call', (settings) =>
  spilling(settings, new MemoryLineStore(), 2, TINY),
)

frontierConformance('DiskFrontier, a checkpoint now and then', (settings) =>
  spilling(settings, new MemoryLineStore(), 7, TINY),
)

describe('DiskFrontier, hosts leaving memory', () => {
  test('after any sequence of operations it has kept every law but that of places', async () => {
    const settings = fc.record({
      delayMs: fc.constantFrom(0, 0, 1_000),
      ipDelayMs: fc.constant(0),
      ipConnections: fc.constant(8),
      urlsPerTurn: fc.integer({ min: 1, max: 4 }),
      bands: fc.constantFrom(1, 4),
    })
    // An address is forgotten with its host, and claimed anew in its next turn.
    const sequences = fc
      .array(operations, { maxLength: 150, size: 'max' })
      .map((sequence) => sequence.filter(({ kind }) => kind !== 'claim'))
    await fc.assert(
      fc.asyncProperty(settings, sequences, fc.integer({ min: 1, max: 5 }), async (chosen, sequence, calls) => {
        const clock = new ManualClock()
        const subject = await spilling({ ...chosen, clock }, new MemoryLineStore(), calls, { ...TINY, hostsMin: 0 })
        await checkAgainstModel(subject, { ...chosen, clock }, sequence)
      }),
      { numRuns: 200 },
    )
  })
})
