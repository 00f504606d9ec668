// The set on disk against its twin in memory, operation by operation, over a ledger and records as a crawl has them. A
// crash throws the set away at any moment, and with it all that is in no committed batch: claims, pages, and records,
// whose positions are given out again. It goes on from the last committed state with what the ledger's batches hold since.
// Every second content has a digest that begins like that of its neighbour.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { digestOf, originalOf, Records } from './content-seen.conformance.ts'
import type { ContentSeen, Original } from './content-seen.ts'
import { DiskContentSeen } from './disk-content-seen.ts'
import { MemoryContentSeen } from './memory-content-seen.ts'
import type { ContentState } from './run-shelf.ts'

const CONTENTS = 800
const PATIENCE_MS = 10_000
/** Generations of 6 to 100 pages. */
const MEMORIES = [2, 4, 8, 32].map((kibibytes) => kibibytes * 1024)

type Operation =
  /** Asks for some contents at once, each as often as given; then pages that hold claims are kept or given up. */
  | { readonly kind: 'claim'; readonly first: number; readonly count: number; readonly askers: number }
  | { readonly kind: 'settle'; readonly keeps: number; readonly releases: number }
  /** The state is read some time before it is committed. */
  | { readonly kind: 'commit'; readonly meanwhile: 'nothing' | 'flush' | 'compact'; readonly isLost: boolean }
  | { readonly kind: 'flush' | 'compact' | 'crash' }

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('claim'),
      first: fc.nat({ max: CONTENTS }),
      count: fc.nat({ max: 60 }),
      askers: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('settle'),
      keeps: fc.nat({ max: 200 }),
      releases: fc.nat({ max: 5 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('commit'),
      meanwhile: fc.constantFrom('nothing', 'flush', 'compact'),
      isLost: fc.nat({ max: 3 }).map((chance) => chance === 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('flush', 'compact') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash') }) },
)

function digestOfContent(content: number): Buffer {
  const digest = digestOf(`content ${content}`)
  if (content % 2 === 1) digest.set(digestOf(`content ${content - 1}`).subarray(0, 8))
  return digest
}

interface Note {
  readonly digest: Buffer
  readonly original: Original
  readonly position: number
}

/** One set with its askers: what each was answered, and which contents are theirs to settle. */
class Asked {
  readonly answers: string[] = []
  readonly seen: ContentSeen
  readonly onHeld: (content: number) => void

  constructor(seen: ContentSeen, onHeld: (content: number) => void = () => undefined) {
    this.seen = seen
    this.onHeld = onHeld
  }

  claim(asker: number, content: number): void {
    void Promise.resolve(this.seen.claim(digestOfContent(content))).then((original) => {
      this.answers.push(`asker ${asker}, content ${content}: ${original?.url ?? 'is the first'}`)
      if (original === null) this.onHeld(content)
    })
  }
}

async function play(directory: string, memoryBytes: number, operations: readonly Operation[]): Promise<number> {
  const records = new Records()
  const { readOriginal } = records
  const batches: Note[][] = []
  let batch: Note[] = []
  let committed: ContentState | null = null
  let committedLength = 0
  let held: number[] = []
  let asker = 0
  let page = 0
  let runsMost = 0
  let seen = await DiskContentSeen.open({ directory, memoryBytes, state: null, readOriginal })
  let disk = new Asked(seen)
  let twin = new Asked(new MemoryContentSeen(), (content) => held.push(content))

  const keepNote = ({ digest, original, position }: Note, set: ContentSeen): void =>
    set.keep(digest, original, position)
  const crash = async (): Promise<void> => {
    await seen.close()
    seen = await DiskContentSeen.open({ directory, memoryBytes, state: committed, readOriginal })
    records.cut(committedLength)
    batch = []
    held = []
    disk = new Asked(seen)
    twin = new Asked(new MemoryContentSeen(), (content) => held.push(content))
    for (const note of batches.flat()) keepNote(note, twin.seen)
    const from = committed?.replayFrom ?? 0
    for (const [i, notes] of batches.slice(from).entries()) {
      for (const note of notes) keepNote(note, seen)
      seen.mark(from + i + 1)
    }
  }

  for (const one of operations) {
    if (one.kind === 'claim') {
      for (let i = 0; i < one.count * one.askers; i++) {
        const content = (one.first + (i % one.count)) % CONTENTS
        asker++
        disk.claim(asker, content)
        twin.claim(asker, content)
      }
    } else if (one.kind === 'settle') {
      for (const content of held.splice(0, one.releases)) {
        for (const { seen: set } of [disk, twin]) set.release(digestOfContent(content))
      }
      for (const content of held.splice(0, one.keeps)) {
        const note = {
          digest: digestOfContent(content),
          original: originalOf(`page/${++page}`),
          position: records.length,
        }
        batch.push(note)
        records.keep(seen, note.digest, note.original)
        keepNote(note, twin.seen)
      }
    } else if (one.kind === 'commit') {
      const state = JSON.parse(JSON.stringify(seen.state())) as ContentState
      const { length } = records
      seen.mark(batches.length + 1)
      if (one.meanwhile !== 'nothing') await seen[one.meanwhile]()
      if (one.isLost) await crash()
      else {
        batches.push(batch)
        batch = []
        committed = state
        committedLength = length
        seen.committed(state)
      }
    } else if (one.kind === 'crash') await crash()
    else await seen[one.kind]()
    await new Promise(setImmediate)
    // Where the disk is behind an answer takes as long as a sync.
    for (let i = 0; i < PATIENCE_MS && disk.answers.length < twin.answers.length; i++) await setTimeout(1)
    expect(disk.answers.sort()).toEqual(twin.answers.sort())
    expect(seen.size).toBe(twin.seen.size)
    runsMost = Math.max(runsMost, readdirSync(directory).length)
  }
  await seen.close()
  return runsMost
}

test('on disk and in memory answer alike, whatever is claimed, kept, released, flushed, merged, committed and lost', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'portolan-contents-fuzz-'))
  let made = 0
  let runsMost = 0
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...MEMORIES),
        fc.array(operation, { minLength: 1, maxLength: 80, size: 'max' }),
        async (memoryBytes, operations) => {
          const directory = join(parent, String(++made))
          runsMost = Math.max(runsMost, await play(directory, memoryBytes, operations))
          rmSync(directory, { recursive: true })
        },
      ),
      { numRuns: 60 },
    )
    // Otherwise all this would have been about memory.
    expect(runsMost).toBeGreaterThan(3)
  } finally {
    rmSync(parent, { recursive: true })
  }
})
