// A journal that is also in an engine keeps the law of all journals, and waits for an engine that is away.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextRound } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ManualClock, Random } from '../base/index.ts'
import { MemoryEngine } from '../engine/index.ts'
import { emptyBatch, SegmentedJournal } from '../ledger/index.ts'
import { describeJournal } from '../ledger/journal.conformance.ts'
import { HeldLog } from './held-log.ts'
import { ReplicatedJournal } from './replicated-journal.ts'
import { ShareLog } from './share-log.ts'

const IDENTITY = { name: 'test', key: '0011223344556677', startedAtMs: 1 }

class Stand {
  readonly clock = new ManualClock()
  readonly client = MemoryEngine.create({ clock: this.clock, operationMs: 1_000 }).client()
  readonly root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'portolan-test-'))
  isFenced = false
  #lives = 0

  /** Everything that it forgets is in snapshots. */
  async open(): Promise<ReplicatedJournal> {
    const shareLog = await ShareLog.open(this.client, 1)
    const held = await shareLog.begin({ node: 'a', incarnation: `life-${++this.#lives}` }, await shareLog.standing())
    if (held === null) throw new Error('somebody was quicker')
    const directory = join(this.root, 'state/journal')
    const random = new Random(this.#lives)
    const local = await SegmentedJournal.open({ directory, random, create: () => IDENTITY, segmentBytes: 600 })
    return new ReplicatedJournal({
      local,
      directory,
      log: await HeldLog.resume(this.client, held),
      dir: this.root,
      files: [],
      states: {},
      clock: this.clock,
      isFenced: () => this.isFenced,
      neededFrom: () => Infinity,
      restateSnapshot: async () => false,
      statesInLog: async () => null,
    })
  }

  cleanUp(): void {
    rmSync(this.root, { recursive: true, force: true })
  }
}

describeJournal('replicated', async () => {
  const stand = new Stand()
  const harness = {
    journal: await stand.open(),
    reopen: async () => {
      await harness.journal.close()
      harness.journal = await stand.open()
      return harness.journal
    },
    cleanUp: async () => {
      await harness.journal.close().catch(() => {})
      stand.cleanUp()
    },
  }
  return harness
})

test('a batch waits for an engine that is away, and fails once the node is fenced', async () => {
  const stand = new Stand()
  const { clock, client } = stand
  try {
    const journal = await stand.open()
    await journal.commit(emptyBatch())
    client.cut()
    const committed = journal.commit(emptyBatch())
    for (let tries = 1; tries <= 3; tries++) {
      while (journal.figures.unanswered < tries) {
        clock.advance(1_000)
        await nextRound()
      }
      expect(journal.lastNumber).toBe(1)
    }
    client.restore()
    clock.advance(1_000)
    expect(await committed).toBe(2)

    client.cut()
    stand.isFenced = true
    const late = journal.commit(emptyBatch())
    const refused = expect(late).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
    await nextRound()
    clock.advance(1_000)
    await refused
    expect(journal.lastNumber).toBe(2)
    // And it stays so: whether the engine has it is for the next opening to find out.
    await expect(journal.commit(emptyBatch())).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
    await journal.close()
  } finally {
    stand.cleanUp()
  }
})
