// The set on disk against its twin in memory, operation by operation. A reopening throws the set away at any moment, as a
// crash would, and goes on from the last committed state with a replay of what the caller's ledger holds; the twin
// goes on as if nothing had been. A replay may count meetings twice, so counts are compared exactly until the first
// reopening, and from then on must not be fewer.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { DiskUrlSeen } from './disk-url-seen.ts'
import type { SeenState } from './seen-keeper.ts'
import { MemoryUrlSeen } from './memory-url-seen.ts'
import { type FingerprintBatch, newBatch } from './url-seen.ts'

type Operation =
  | { readonly kind: 'meet'; readonly first: number; readonly step: number; readonly count: number }
  | { readonly kind: 'ask' | 'visit'; readonly first: number }
  | { readonly kind: 'flush' | 'compact' | 'commit' | 'reopen' }

const URLS = 3_000
/** Generations of 48 to 768 URLs. */
const MEMORIES = [4, 8, 16, 64].map((kibibytes) => kibibytes * 1024)

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('meet'),
      first: fc.nat({ max: URLS }),
      step: fc.nat({ max: 7 }),
      count: fc.nat({ max: 400 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('ask'), first: fc.nat({ max: URLS }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('visit'), first: fc.constant(0) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('flush', 'compact') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('commit') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reopen') }) },
)

const highOf = (url: number): number => Math.imul(url % 40, 0x9e3779b1) >>> 0
const lowOf = (url: number): number => Math.imul(url, 0x85ebca6b) >>> 0

function batchOf({ first, step, count }: { first: number; step: number; count: number }): FingerprintBatch {
  const batch = newBatch(count)
  for (let i = 0; i < count; i++) {
    const url = (first + i * step) % URLS
    batch.high[i] = highOf(url)
    batch.low[i] = lowOf(url)
  }
  batch.count = count
  return batch
}

async function play(directory: string, memoryBytes: number, operations: readonly Operation[]): Promise<void> {
  const twin = new MemoryUrlSeen()
  let seen = await DiskUrlSeen.open({ directory, memoryBytes, state: null })
  let committed: SeenState | null = null
  let isExact = true
  const ledger: FingerprintBatch[] = []
  const compare = (disk: number, memory: number): void => {
    if (isExact ? disk !== memory : disk < memory) throw new Error(`met ${memory} times, counted ${disk}`)
  }
  for (const one of operations) {
    if (one.kind === 'meet') {
      const batch = batchOf(one)
      const same = batchOf(one)
      twin.meet(same)
      seen.mark(ledger.length)
      await seen.meet(batch)
      ledger.push(batch)
      expect(batch.isNew).toEqual(same.isNew)
    } else if (one.kind === 'ask') {
      for (let url = one.first; url < one.first + 50; url++) {
        if (seen.has(highOf(url), lowOf(url)) !== twin.has(highOf(url), lowOf(url))) throw new Error(`has ${url}`)
        compare(seen.meetings(highOf(url), lowOf(url)), twin.meetings(highOf(url), lowOf(url)))
      }
    } else if (one.kind === 'visit') {
      let visited = 0
      seen.visit((high, low, meetings) => {
        visited++
        compare(meetings, twin.meetings(high, low))
      })
      expect(visited).toBe(twin.size)
    } else if (one.kind === 'commit') {
      committed = JSON.parse(JSON.stringify(seen.state())) as SeenState
      seen.committed(committed)
    } else if (one.kind === 'reopen') {
      await seen.close()
      seen = await DiskUrlSeen.open({ directory, memoryBytes, state: committed })
      for (const { count, high, low } of ledger.slice(committed?.replayFrom ?? 0)) {
        for (let i = 0; i < count; i++) seen.restore(high[i] as number, low[i] as number, 1)
      }
      seen.mark(ledger.length)
      isExact = false
    } else await seen[one.kind]()
    expect(seen.size).toBe(twin.size)
  }
  await seen.close()
}

test('on disk and in memory answer alike, whatever is met, flushed, merged, committed and reopened', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'portolan-seen-fuzz-'))
  let made = 0
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...MEMORIES),
        fc.array(operation, { minLength: 1, maxLength: 60, size: 'max' }),
        async (memoryBytes, operations) => {
          const directory = join(parent, String(++made))
          await play(directory, memoryBytes, operations)
          rmSync(directory, { recursive: true })
        },
      ),
      { numRuns: 50 },
    )
  } finally {
    rmSync(parent, { recursive: true })
  }
})
