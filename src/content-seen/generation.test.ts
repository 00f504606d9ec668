// A generation gives back what it took, shows it in the order of the digests, and says when it is full.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CanonicalUrl } from '../url/index.ts'
import { digestOf, originalOf } from './content-seen.conformance.ts'
import { bitsAt } from './digest.ts'
import { Generation } from './generation.ts'

const BYTES = 16 * 1024

/** Fills a generation until it takes no more. */
function fill(generation: Generation, digestAt: (i: number) => Buffer): Buffer[] {
  const digests: Buffer[] = []
  for (let i = 0; generation.add(digestAt(i), originalOf(i), i); i++) digests.push(digestAt(i))
  return digests
}

function positionsOf(generation: Generation): number[] {
  const positions: number[] = []
  for (const shown of generation.ascending((_high, _low, position) => positions.push(position))) {
    expect(shown).toBeGreaterThanOrEqual(0)
  }
  return positions
}

/** Digests that agree in their first bytes, where places are sought by the first bits alone. */
const alike =
  (first: number) =>
  (i: number): Buffer => {
    const digest = digestOf(`c${i}`)
    digest.fill(first, 0, 3)
    return digest
  }

test.for([
  ['evenly spread', (i: number) => digestOf(`c${i}`), 100],
  ['alike, and the least of all', alike(0), 20],
  ['alike, and the greatest of all', alike(0xff), 3],
] as const)('digests that are %s are found and shown in order', ([, digestAt, least]) => {
  const generation = new Generation(BYTES)
  for (let round = 0; round < 2; round++) {
    const digests = fill(generation, digestAt)
    expect(digests.length).toBeGreaterThanOrEqual(least)
    expect(generation.size).toBe(digests.length)
    for (const [i, digest] of digests.entries()) expect(generation.original(digest)).toEqual(originalOf(i))
    expect(generation.holds(digestAt(digests.length))).toBe(false)
    expect(generation.original(digestAt(digests.length))).toBeNull()
    const sorted = digests.map((digest, i) => ({ digest, i })).sort((a, b) => a.digest.compare(b.digest))
    expect(positionsOf(generation)).toEqual(sorted.map(({ i }) => i))
    generation.clear()
    expect([generation.size, generation.holds(digests[0]!), positionsOf(generation)]).toEqual([0, false, []])
  }
})

test('it never takes more memory than it was given, but for a URL that is longer than all of it', () => {
  const generation = new Generation(BYTES)
  expect(generation.memoryBytes).toBeLessThanOrEqual(BYTES)
  fill(generation, (i) => digestOf(`c${i}`))
  expect(generation.memoryBytes).toBeLessThanOrEqual(BYTES)
  const long = { ...originalOf('long'), url: `http://h/${'x'.repeat(70_000)}` as CanonicalUrl }
  expect(generation.add(digestOf('long'), long, 1)).toBe(false)
  generation.clear()
  expect(generation.add(digestOf('long'), long, 1)).toBe(true)
  expect(generation.original(digestOf('long'))).toEqual(long)
})

test('guests are known but neither counted nor shown, and leave room for pages', () => {
  const generation = new Generation(BYTES)
  for (let i = 0; i < 1_000; i++) generation.addGuest(digestOf(`guest ${i}`), originalOf(`guest/${i}`))
  const guests = Array.from({ length: 1_000 }, (_, i) => i).filter((i) => generation.holds(digestOf(`guest ${i}`)))
  expect(guests.length).toBeGreaterThan(generation.sizeTypical / 8)
  expect(guests.length).toBeLessThan(generation.sizeTypical / 2)
  expect(generation.original(digestOf('guest 3'))).toEqual(originalOf('guest/3'))
  expect(generation.size).toBe(0)
  const digests = fill(generation, (i) => digestOf(`c${i}`))
  expect(digests.length).toBeGreaterThan(generation.sizeTypical / 2)
  expect(generation.size).toBe(digests.length)
  expect(positionsOf(generation).sort((a, b) => a - b)).toEqual(digests.map((_, i) => i))
  const long = { ...originalOf('long'), url: `http://h/${'x'.repeat(70_000)}` as CanonicalUrl }
  generation.clear()
  generation.addGuest(digestOf('long'), long)
  expect(generation.holds(digestOf('long'))).toBe(false)
  for (let i = 0; i < 1_000; i++) generation.addGuest(digestOf(`guest ${i}`), originalOf(`guest/${i}`))
  expect(generation.holds(digestOf('guest 3'))).toBe(true)
})

test('it takes about as many pages as it says', () => {
  for (const bytes of [BYTES, 100_000, 1_000_000]) {
    const generation = new Generation(bytes)
    const url = `https://www.example.org/${'x'.repeat(46)}` as CanonicalUrl
    let taken = 0
    while (generation.add(digestOf(`c${taken}`), { ...originalOf(0), url }, taken)) taken++
    expect(taken / generation.sizeTypical).toBeGreaterThan(0.8)
    expect(taken / generation.sizeTypical).toBeLessThan(1.25)
  }
})

test('whatever an original says comes back', () => {
  const original = fc.record({
    url: fc.string({ unit: 'binary', maxLength: 200 }).map((path) => `http://h/${path.toWellFormed()}` as CanonicalUrl),
    fetchedAtMs: fc.double({ noNaN: true, noDefaultInfinity: true }),
    payloadDigest: fc.option(
      fc.constantFrom(`sha256:${digestOf('x').toString('hex')}`, `sha256:${'ab'.repeat(32)}`, ''),
    ),
  })
  fc.assert(
    fc.property(original, fc.maxSafeNat(), (given, position) => {
      const generation = new Generation(BYTES)
      generation.add(digestOf('x'), given, position)
      expect(generation.original(digestOf('x'))).toEqual(given)
      const shown: number[][] = []
      for (const _ of generation.ascending((...entry) => shown.push(entry)));
      expect(shown).toEqual([[bitsAt(digestOf('x'), 0), bitsAt(digestOf('x'), 4), position]])
    }),
  )
})
