// The law of ledgers, run on every kind: what was committed comes back, in order and equal.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FrontierEntry } from '../frontier/index.ts'
import { type CanonicalUrl, hostKeyOf } from '../url/index.ts'
import { emptyBatch } from './batch-codec.ts'
import type { ContentNote, Ledger, LedgerBatch } from './ledger.ts'

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

const digest = fc.constantFrom('ab'.repeat(32), 'cd'.repeat(32))

const content: fc.Arbitrary<ContentNote> = fc.record({
  digest,
  url: repeatedUrl,
  fetchedAtMs: fc.nat(),
  payloadDigest: fc.option(
    digest.map((some) => `sha256:${some}`),
    { nil: null },
  ),
})

export const anyBatch: fc.Arbitrary<LedgerBatch> = fc
  .record({
    admitted: fc.array(entry, { maxLength: 20 }),
    held: fc.array(entry, { maxLength: 5 }),
    requeued: fc.array(url, { maxLength: 3 }),
    verdicts: fc.array(
      fc.oneof(
        fc.record({
          url: repeatedUrl,
          kind: fc.constant('page' as const),
          status: fc.constant(200),
          bytes: fc.nat(),
          wireBytes: fc.nat(),
        }),
        fc.record({ url, kind: fc.constant('failed' as const), code: fc.constantFrom('DNS_NO_NAME' as const) }),
        fc.record({ url, kind: fc.constant('skipped' as const), reason: fc.constantFrom('robots' as const) }),
      ),
      { maxLength: 10 },
    ),
    contents: fc.array(content, { maxLength: 6 }),
    refused: fc.dictionary(fc.constantFrom('scheme', 'out-of-scope'), fc.nat(9)),
    files: fc.dictionary(fc.constantFrom('pages', 'archive'), fc.nat()),
    ranMs: fc.nat(),
    cpuMs: fc.nat(),
  })
  .map((some) => ({ ...emptyBatch(), ...some, files: { ...some.files }, refused: { ...some.refused } }))

export interface LedgerHarness {
  ledger: Ledger
  /** Closes it and opens what it left behind. */
  reopen(): Promise<Ledger>
  cleanUp(): Promise<void>
}

export function describeLedger(name: string, open: () => Promise<LedgerHarness>): void {
  test(`${name}: what was committed comes back in order, also after reopening`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyBatch, { maxLength: 6 }), async (batches) => {
        const harness = await open()
        try {
          for (const batch of batches) await harness.ledger.commit(batch)
          expect(await Array.fromAsync(harness.ledger.history())).toEqual(batches)
          const reopened = await harness.reopen()
          expect(await Array.fromAsync(reopened.history())).toEqual(batches)
          expect(reopened.identity).toEqual(harness.ledger.identity)
        } finally {
          await harness.cleanUp()
        }
      }),
      { numRuns: 30 },
    )
  })

  test(`${name}: history can be read twice, and committing goes on after it`, async () => {
    const harness = await open()
    try {
      const batch = { ...emptyBatch(), ranMs: 7 }
      await harness.ledger.commit(batch)
      await Array.fromAsync(harness.ledger.history())
      await harness.ledger.commit({ ...batch, ranMs: 8 })
      const read = await Array.fromAsync(harness.ledger.history())
      expect(read.map((one) => one.ranMs)).toEqual([7, 8])
    } finally {
      await harness.cleanUp()
    }
  })
}
