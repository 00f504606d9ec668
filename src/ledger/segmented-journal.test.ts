// The journal in segments keeps the law of journals, does what its twin does, whatever the order of commits,
// forgettings and openings, and goes on from everything a crash can leave.

import { appendFile, copyFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  commitSamples,
  IDENTITY,
  journalOf,
  noise,
  numbersIn,
  openJournal,
  temporaryDirectory,
  upTo,
} from '../../test/journal-samples.ts'
import { Random } from '../base/index.ts'
import { emptyBatch } from './batch-codec.ts'
import { describeJournal } from './journal.conformance.ts'
import { MemoryJournal } from './memory-journal.ts'
import { SegmentedJournal } from './segmented-journal.ts'

describeJournal('segments', async () => {
  const directory = await temporaryDirectory()
  const harness = {
    journal: await openJournal(directory),
    async reopen() {
      await harness.journal.close()
      harness.journal = await openJournal(directory)
      return harness.journal
    },
    cleanUp: () => harness.journal.close(),
  }
  return harness
})

describeJournal('memory', async () => {
  const journal = new MemoryJournal(IDENTITY)
  return { journal, reopen: async () => journal, cleanUp: async () => {} }
})

test('commits, forgettings and openings in any order do what they do to the twin', async () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('commit' as const), length: fc.nat(1_500) }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('forget' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const directory = await temporaryDirectory()
      let journal = await openJournal(directory)
      const twin = new MemoryJournal(IDENTITY)
      let forgotten = 0
      for (const one of steps) {
        if (one.kind === 'commit') {
          const batch = { ...emptyBatch(), files: { text: noise(one.length) } }
          expect(await journal.commit(batch)).toBe(await twin.commit(batch))
        } else if (one.kind === 'forget') {
          forgotten = Math.max(forgotten, Math.floor(one.share * twin.lastNumber))
          await journal.forget(forgotten)
          await twin.forget(forgotten)
        } else {
          await journal.close()
          journal = await openJournal(directory)
        }
        expect(journal.lastNumber).toBe(twin.lastNumber)
        // Whole segments only: more may stay than must, never less.
        expect(journal.firstNumber).toBeLessThanOrEqual(twin.firstNumber)
        expect(await Array.fromAsync(journal.history(forgotten))).toEqual(
          await Array.fromAsync(twin.history(forgotten)),
        )
        const sizes = await Promise.all((await readdir(directory)).map((name) => stat(join(directory, name))))
        expect(journal.bytes).toBe(sizes.reduce((sum, { size }) => sum + size, 0))
      }
      await journal.close()
    }),
    { numRuns: 25 },
  )
})

describe('segments', () => {
  test('are begun when the one before is long enough, and named by their first batch', async () => {
    const directory = await journalOf(10)
    const names = (await readdir(directory)).sort()
    expect(names.length).toBeGreaterThan(2)
    expect(names[0]).toBe('batches-0000000001.log')
    expect(names.every((name) => /^batches-\d{10}\.log$/.test(name))).toBe(true)
    expect(await numbersIn(directory)).toEqual(upTo(10))
  })

  test('are unlinked when all their batches are forgotten, the current one never', async () => {
    const directory = await journalOf(10)
    const journal = await openJournal(directory)
    const names = (await readdir(directory)).sort()
    const second = Number(names[1]?.slice(8, 18))
    await journal.forget(second - 2)
    expect((await readdir(directory)).sort()).toEqual(names)
    await journal.forget(second - 1)
    expect((await readdir(directory)).sort()).toEqual(names.slice(1))
    await journal.forget(10)
    expect(await readdir(directory)).toEqual(names.slice(-1))
    await commitSamples(journal, 1)
    await journal.close()
    expect((await numbersIn(directory)).at(-1)).toBe(11)
  })

  test('hold at least one batch each, however large', async () => {
    const directory = await temporaryDirectory()
    const journal = await openJournal(directory)
    for (let i = 0; i < 3; i++) await journal.commit({ ...emptyBatch(), files: { text: noise(5_000) } })
    await journal.close()
    expect(await readdir(directory)).toHaveLength(3)
  })

  test('hold at least one batch each, however short they are meant to be', async () => {
    const directory = await temporaryDirectory()
    const options = { directory, random: new Random(1), create: () => IDENTITY, segmentBytes: 1 }
    for (let opening = 0; opening < 2; opening++) {
      const journal = await SegmentedJournal.open(options)
      await commitSamples(journal, 3)
      await journal.close()
    }
    expect(await readdir(directory)).toHaveLength(6)
    expect(await numbersIn(directory)).toEqual(upTo(6))
  })
})

describe('a crash', () => {
  test('that cuts the last batch at any byte loses that batch and no other', async () => {
    const directory = await journalOf(5)
    const names = (await readdir(directory)).sort()
    const path = join(directory, names.at(-1) ?? '')
    const whole = await readFile(path)
    const journal = await openJournal(directory)
    const lastStart = whole.length - journal.bytesAfter(4)
    await journal.close()
    for (let length = lastStart; length < whole.length; length += 5) {
      await writeFile(path, whole.subarray(0, length))
      const reopened = await openJournal(directory)
      expect([reopened.lastNumber, reopened.tornTailBytes]).toEqual([4, length - lastStart])
      await commitSamples(reopened, 1)
      await reopened.close()
      expect(await numbersIn(directory)).toEqual(upTo(5))
    }
  })

  test('while a segment is created leaves at most an unfinished file, which is thrown away', async () => {
    for (const count of [0, 3]) {
      const directory = await journalOf(count)
      const unfinished = `batches-${String(count + 1).padStart(10, '0')}.log.new`
      for (const bytes of ['', 'half a he']) {
        await writeFile(join(directory, unfinished), bytes)
        expect(await numbersIn(directory)).toEqual(upTo(count))
        expect(await readdir(directory)).not.toContain(unfinished)
      }
    }
  })

  test('before the very first segment stands leaves a directory in which a crawl can begin', async () => {
    const directory = await temporaryDirectory()
    await mkdir(directory)
    await writeFile(join(directory, 'batches-0000000001.log.new'), 'half')
    expect(await numbersIn(directory)).toEqual([])
  })

  test('at any byte of sealing, with the new segment created and empty, is put right', async () => {
    // A journal whose current segment is full, and the same one commit later: what is created and sealed in between.
    const directory = await journalOf(3)
    const [first] = await readdir(directory)
    expect(await readdir(directory)).toHaveLength(1)
    const path = join(directory, first ?? '')
    const unsealedBytes = (await stat(path)).size
    const journal = await openJournal(directory)
    await commitSamples(journal, 1)
    const emptyBytes = (await stat(join(directory, 'batches-0000000004.log'))).size - journal.bytesAfter(3)
    await journal.close()
    const sealed = await readFile(path)
    const next = join(directory, 'batches-0000000004.log')
    await truncate(next, emptyBytes)
    const emptyNext = await readFile(next)
    for (let length = unsealedBytes; length <= sealed.length; length++) {
      await writeFile(path, sealed.subarray(0, length))
      await writeFile(next, emptyNext)
      expect(await numbersIn(directory), `${length} of ${sealed.length}`).toEqual(upTo(3))
      expect(await readFile(path)).toEqual(sealed)
      const reopened = await openJournal(directory)
      expect(await Array.fromAsync(await readdir(directory))).toHaveLength(2)
      await commitSamples(reopened, 1)
      await reopened.close()
      expect(await numbersIn(directory)).toEqual(upTo(4))
    }
  })

  test('of a commit is final: the journal takes no more, and the next opening tells what is there', async () => {
    const directory = await journalOf(3)
    const journal = await openJournal(directory)
    // The next commit begins a segment; something is in its way.
    await mkdir(join(directory, 'batches-0000000004.log'))
    await expect(commitSamples(journal, 1)).rejects.toMatchObject({ code: 'ASSERTION' })
    await rm(join(directory, 'batches-0000000004.log'), { recursive: true })
    await expect(commitSamples(journal, 1)).rejects.toMatchObject({ code: 'ASSERTION' })
    await journal.close()
    expect(await numbersIn(directory)).toEqual(upTo(3))
  })
})

test('the identity of a crawl is made once and never again', async () => {
  const directory = await journalOf(7)
  const journal = await openJournal(directory, () => expect.unreachable('there is one already'))
  expect(journal.identity).toEqual(IDENTITY)
  await journal.close()
})

test('two commits at once are refused', async () => {
  const journal = await openJournal(await temporaryDirectory())
  const first = journal.commit(emptyBatch())
  await expect(journal.commit(emptyBatch())).rejects.toMatchObject({ code: 'ASSERTION' })
  expect(await first).toBe(1)
  await journal.close()
})

test('files of other names in the directory are nobody’s business', async () => {
  const directory = await journalOf(4)
  await appendFile(join(directory, '.nfs0001'), 'x')
  expect(await numbersIn(directory)).toEqual(upTo(4))
})

test('the ledger of an earlier version is refused by name, and not begun anew beside it', async () => {
  const directory = await temporaryDirectory()
  const former = join(dirname(directory), 'ledger.log')
  const other = await journalOf(1)
  await copyFile(join(other, 'batches-0000000001.log'), former)
  await expect(openJournal(directory)).rejects.toMatchObject({
    code: 'LEDGER_VERSION',
    message: expect.stringContaining(former),
  })
  expect(await readdir(dirname(directory))).toEqual(['ledger.log'])
})
