// The law of journals, run on every kind: what was committed comes back by number, in order and equal,
// until it is forgotten; and what is asked for and not there is a fault.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FrontierEntry } from '../frontier/index.ts'
import { type CanonicalUrl, hostKeyOf } from '../url/index.ts'
import { emptyBatch } from './batch-codec.ts'
import type { Journal } from './journal.ts'
import type { LedgerBatch } from './ledger.ts'

const url = fc
  .tuple(fc.constantFrom('a.test', 'b.test', '[::1]'), fc.webPath(), fc.boolean())
  .map(([host, path, isSecure]) => `http${isSecure ? 's' : ''}://${host}/${path.replace(/^\/+/, '')}` as CanonicalUrl)

/** Of few, so that the same URL stands in several places of a batch. */
const repeatedUrl = fc.oneof(
  fc.constantFrom('http://a.test/1', 'http://a.test/2', 'http://b.test/').map((one) => one as CanonicalUrl),
  url,
)

const entry: fc.Arbitrary<FrontierEntry> = fc
  .record({
    url,
    via: fc.option(repeatedUrl, { nil: null }),
    depth: fc.nat(5),
    hops: fc.nat(2),
    band: fc.nat(7),
    isSeed: fc.boolean(),
  })
  .map((some) => ({ ...some, host: hostKeyOf(some.url), tries: 0, pauses: 0 }))

const anyBatch: fc.Arbitrary<LedgerBatch> = fc
  .record({
    admitted: fc.array(entry, { maxLength: 20 }),
    pages: fc.array(repeatedUrl, { maxLength: 10 }),
    returned: fc.array(url, { maxLength: 3 }),
    ended: fc.array(url, { maxLength: 3 }),
    rests: fc.array(fc.record({ host: url.map(hostKeyOf), restMs: fc.nat(), why: fc.string() }), { maxLength: 2 }),
    files: fc.dictionary(fc.constantFrom('pages', 'archive'), fc.nat()),
    totals: fc.record({ pages: fc.nat() }),
  })
  .map((some) => ({ ...emptyBatch(), ...some, files: { ...some.files } }))

export interface JournalHarness {
  journal: Journal
  /** Closes it and opens what it left behind. */
  reopen(): Promise<Journal>
  cleanUp(): Promise<void>
}

export function describeJournal(name: string, open: () => Promise<JournalHarness>): void {
  async function withJournal(use: (harness: JournalHarness) => Promise<void>): Promise<void> {
    const harness = await open()
    try {
      await use(harness)
    } finally {
      await harness.cleanUp()
    }
  }

  async function commitSome(journal: Journal, count: number): Promise<void> {
    for (let left = count; left > 0; left--) {
      await journal.commit({ ...emptyBatch(), totals: journal.lastNumber + 1, files: { text: 'x'.repeat(200) } })
    }
  }

  async function numbersAfter(journal: Journal, after: number): Promise<number[]> {
    const numbers: number[] = []
    for await (const { number, batch } of journal.history(after)) {
      expect(batch.totals).toBe(number)
      numbers.push(number)
    }
    return numbers
  }

  test(`${name}: what was committed comes back in order, also after reopening`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyBatch, { maxLength: 6 }), async (batches) => {
        await withJournal(async (harness) => {
          const numbered = batches.map((batch, i) => ({ number: i + 1, batch }))
          for (const { number, batch } of numbered) expect(await harness.journal.commit(batch)).toBe(number)
          expect(await Array.fromAsync(harness.journal.history(0))).toEqual(numbered)
          const { identity } = harness.journal
          const reopened = await harness.reopen()
          expect(await Array.fromAsync(reopened.history(0))).toEqual(numbered)
          expect(reopened.identity).toEqual(identity)
          expect(reopened.lastNumber).toBe(batches.length)
        })
      }),
      { numRuns: 30 },
    )
  })

  test(`${name}: a new journal is empty, begins at 1 and has a history of nothing`, () =>
    withJournal(async ({ journal }) => {
      expect([journal.firstNumber, journal.lastNumber, journal.bytesAfter(0)]).toEqual([1, 0, 0])
      expect(await numbersAfter(journal, 0)).toEqual([])
    }))

  test(`${name}: history begins after any number, and committing goes on after it`, () =>
    withJournal(async ({ journal }) => {
      await commitSome(journal, 9)
      for (let after = 0; after <= 9; after++) {
        expect(await numbersAfter(journal, after)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].slice(after))
      }
      await commitSome(journal, 1)
      expect(await numbersAfter(journal, 8)).toEqual([9, 10])
    }))

  test(`${name}: a history ends with what was committed when it was begun`, () =>
    withJournal(async ({ journal }) => {
      await commitSome(journal, 3)
      const history = journal.history(0)[Symbol.asyncIterator]()
      const first = await history.next()
      expect(first.done).toBe(false)
      await commitSome(journal, 3)
      let count = 1
      while (!(await history.next()).done) count++
      expect(count).toBe(3)
    }))

  test(`${name}: a history after a batch that is not there yet is refused`, () =>
    withJournal(async ({ journal }) => {
      await commitSome(journal, 3)
      await expect(numbersAfter(journal, 4)).rejects.toMatchObject({
        code: 'LEDGER_CORRUPT',
        message: expect.stringContaining('portolan repair'),
      })
    }))

  test(`${name}: what is forgotten is refused, what is not stays, and numbers go on`, () =>
    withJournal(async (harness) => {
      await commitSome(harness.journal, 20)
      await harness.journal.forget(12)
      const { firstNumber } = harness.journal
      expect(firstNumber).toBeGreaterThan(1)
      expect(firstNumber).toBeLessThanOrEqual(13)
      for (const journal of [harness.journal, await harness.reopen()]) {
        expect(journal.firstNumber).toBe(firstNumber)
        expect(await numbersAfter(journal, 12)).toEqual([13, 14, 15, 16, 17, 18, 19, 20])
        expect((await numbersAfter(journal, firstNumber - 1))[0]).toBe(firstNumber)
        await expect(numbersAfter(journal, firstNumber - 2)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
        expect(journal.lastNumber).toBe(20)
      }
    }))

  test(`${name}: nothing can be forgotten that was not committed`, () =>
    withJournal(async ({ journal }) => {
      await commitSome(journal, 2)
      await expect(journal.forget(3)).rejects.toMatchObject({ code: 'ASSERTION' })
    }))

  test(`${name}: bytes grow with every batch, are fewer the more is held, and shrink by forgetting`, () =>
    withJournal(async ({ journal }) => {
      await commitSome(journal, 20)
      const after = Array.from({ length: 21 }, (_, number) => journal.bytesAfter(number))
      expect(after.at(-1)).toBe(0)
      for (let i = 1; i < after.length; i++) expect(after[i]).toBeLessThan(after[i - 1] ?? 0)
      expect(journal.bytes).toBeGreaterThanOrEqual(after[0] ?? 0)
      const before = journal.bytes
      await journal.forget(15)
      expect(journal.bytes).toBeLessThan(before)
      expect(journal.bytesAfter(15)).toBe(after[15])
    }))
}
