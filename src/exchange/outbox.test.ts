// What was found for others stays until they have confirmed it, and whoever finds more waits when it is too much.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FrontierEntry } from '../frontier/index.ts'
import { type OriginalNote, unpackEntries } from '../ledger/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import { Outbox } from './outbox.ts'

const AGENTS = 3

/** A URL whose host says whose it is. */
function entry(owner: number, path = '', isSeed = false): FrontierEntry {
  const url = `http://${owner}.test/${path}` as CanonicalUrl
  const host = `${owner}.test` as HostKey
  return { url, host, via: null, depth: 1, hops: 0, band: 2, isSeed, tries: 0, pauses: 0 }
}

/** A digest whose first digit says whose it is. */
function note(owner: number): OriginalNote {
  const url = `http://0.test/of${owner}` as CanonicalUrl
  return { digest: `${owner}`.padEnd(64, '0'), url, fetchedAtMs: 1, payloadDigest: null }
}

function outboxOf(bytesMax = 2 ** 20): Outbox {
  return new Outbox({
    self: 0,
    agents: AGENTS,
    ownerOfEntry: ({ host }) => Number(host[0]),
    ownerOfDigest: (digest) => Number(digest[0]),
    bytesMax,
  })
}

const urlsFor = (outbox: Outbox, agent: number): string[] =>
  outbox.pending(agent).flatMap(({ entries }) => unpackEntries(entries).map(({ url }) => url))

test('a batch becomes a parcel for each agent it has something for, of its number', () => {
  const outbox = outboxOf()
  expect(outbox.take(1, { abroad: [], originals: [] })).toEqual([])
  expect(outbox.isEmpty).toBe(true)
  const abroad = [entry(1, 'a'), entry(2, 'b'), entry(1, 'c')]
  expect(outbox.take(2, { abroad, originals: [] })).toEqual([1, 2])
  expect(outbox.take(5, { abroad: [], originals: [note(2)] })).toEqual([2])
  expect(urlsFor(outbox, 1)).toEqual(['http://1.test/a', 'http://1.test/c'])
  expect(outbox.pending(1).map(({ number }) => number)).toEqual([2])
  expect(outbox.pending(2)).toMatchObject([
    { number: 2, originals: [] },
    { number: 5, originals: [note(2)] },
  ])
  expect(unpackEntries(outbox.pending(2)[0]?.entries ?? '')).toEqual([entry(2, 'b')])
})

test('a seed goes to everybody but ourselves, also one of our own hosts', () => {
  const outbox = outboxOf()
  expect(outbox.take(1, { abroad: [entry(0, 'own', true), entry(1, 'theirs', true)], originals: [] })).toEqual([1, 2])
  for (const agent of [1, 2]) expect(urlsFor(outbox, agent)).toEqual(['http://0.test/own', 'http://1.test/theirs'])
})

test('what is confirmed goes, up to that batch, and what comes later stays', () => {
  const outbox = outboxOf()
  for (const number of [1, 2, 3]) outbox.take(number, { abroad: [entry(1, `${number}`)], originals: [] })
  outbox.confirm(1, 2)
  expect(urlsFor(outbox, 1)).toEqual(['http://1.test/3'])
  // A confirmation that is older than what is known changes nothing, nor does one of somebody else.
  outbox.confirm(1, 1)
  outbox.confirm(2, 3)
  expect(urlsFor(outbox, 1)).toEqual(['http://1.test/3'])
  expect(outbox.isEmpty).toBe(false)
  outbox.confirm(1, 9)
  expect(outbox.isEmpty).toBe(true)
  expect(outbox.bytes).toBe(0)
})

test('a batch is settled when everybody has confirmed what it holds for them, and all before it are', () => {
  const batch = fc.array(fc.integer({ min: 1, max: AGENTS - 1 }), { maxLength: 3 })
  const confirmation = fc.record({ agent: fc.integer({ min: 1, max: AGENTS - 1 }), upTo: fc.nat(12) })
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 12 }), fc.array(confirmation), (batches, confirmations) => {
      const outbox = outboxOf()
      for (const [i, owners] of batches.entries()) {
        outbox.take(i + 1, { abroad: owners.map((owner) => entry(owner)), originals: [] })
      }
      const confirmed = [Infinity, 0, 0]
      for (const { agent, upTo } of confirmations) {
        outbox.confirm(agent, upTo)
        confirmed[agent] = Math.max(confirmed[agent] ?? 0, upTo)
      }
      const isOpen = (owners: readonly number[], i: number): boolean =>
        owners.some((owner) => (confirmed[owner] ?? 0) < i + 1)
      const firstOpen = batches.findIndex(isOpen)
      expect(outbox.settledUpTo(batches.length)).toBe(firstOpen === -1 ? batches.length : firstOpen)
      expect(outbox.isEmpty).toBe(firstOpen === -1)
      expect(outbox.bytes > 0).toBe(firstOpen !== -1)
    }),
  )
})

test('whoever produces waits from the limit on, all together, until it is below again', async () => {
  const outbox = outboxOf(1)
  expect(outbox.pressure()).toBeUndefined()
  outbox.take(1, { abroad: [entry(1)], originals: [] })
  outbox.take(2, { abroad: [entry(2)], originals: [] })
  let relieved = 0
  const wait = async (): Promise<void> => {
    await outbox.pressure()
    relieved++
  }
  const waiting = [wait(), wait()]
  outbox.confirm(1, 2)
  await Promise.resolve()
  expect(relieved).toBe(0)
  outbox.confirm(2, 2)
  await Promise.all(waiting)
  expect(relieved).toBe(2)
  expect(outbox.pressure()).toBeUndefined()
  // And again: relief is for those who waited, not for ever.
  outbox.take(3, { abroad: [entry(1)], originals: [] })
  const again = outbox.pressure()
  expect(again).toBeInstanceOf(Promise)
  outbox.confirm(1, 3)
  await again
})
