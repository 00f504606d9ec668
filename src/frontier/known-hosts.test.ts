import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HostKey } from '../url/index.ts'
import { hostFingerprint, KnownHosts } from './known-hosts.ts'

const KEY = [1, 2] as const

test('a host that was added is known, whatever else was', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 2 ** 32 - 1 }), { maxLength: 2_000, size: 'max' }), (some) => {
      const known = new KnownHosts(KEY)
      for (const fingerprint of [...some, ...some]) known.add(fingerprint)
      expect(known.size).toBe(some.length)
      expect(some.every((fingerprint) => known.has(fingerprint))).toBe(true)
    }),
    { numRuns: 50 },
  )
})

test('of hosts that were not added few are taken for known', () => {
  const known = new KnownHosts(KEY)
  for (let i = 0; i < 100_000; i++) known.add(hostFingerprint(`www.site-${i}.example` as HostKey))
  let wrong = 0
  for (let i = 0; i < 100_000; i++) if (known.has(hostFingerprint(`other-${i}.example` as HostKey))) wrong++
  // Expected: 100,000 × 100,000 / 2³² = 2.3.
  expect(wrong).toBeLessThan(20)
})

test('what is listed is told with its band and addenda, of known hosts alone, whatever else happens', () => {
  const host = fc.nat({ max: 300 }).map((n) => `host-${n}.example` as HostKey)
  const step = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), host }),
    fc.record({ kind: fc.constant('list' as const), host, band: fc.nat({ max: 30 }) }),
    fc.record({ kind: fc.constantFrom('unlist' as const, 'count'), host }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 2_000, size: 'max' }), (sequence) => {
      const known = new KnownHosts(KEY)
      const added = new Set<HostKey>()
      const listed = new Map<HostKey, { band: number; addenda: number }>()
      for (const taken of sequence) {
        const before = listed.get(taken.host)
        if (taken.kind === 'add') {
          known.add(hostFingerprint(taken.host))
          added.add(taken.host)
        } else if (taken.kind === 'list') {
          known.list(taken.host, taken.band)
          if (added.has(taken.host)) listed.set(taken.host, { band: taken.band, addenda: 0 })
        } else if (taken.kind === 'unlist') {
          known.unlist(taken.host)
          listed.delete(taken.host)
        } else if ((before?.addenda ?? 0) < 255) {
          known.countAddendum(taken.host)
          if (before !== undefined) before.addenda++
        }
        expect(known.listing(taken.host)).toEqual(listed.get(taken.host) ?? null)
      }
      for (const name of added) expect(known.listing(name)).toEqual(listed.get(name) ?? null)
      expect(known.size).toBe(added.size)
    }),
    { numRuns: 50 },
  )
})

test('names made up to agree in all that has no key are not taken for each other', () => {
  const names = [
    '003pwux00z8j8x0112vux01jrj6x00gteax012pf8x00gtea.01fpadx009pf8x0093vux01jrj6x0093vux012pf8x.evil.test',
    '00a5fax01d562x01cueax012pf8x0093vux012pf8x0093vu.0103zxx00arj6x0093vux012pf8x00gteax012pf8x.evil.test',
  ] as HostKey[]
  const [a, b] = names as [HostKey, HostKey]
  expect(hostFingerprint(a)).toBe(hostFingerprint(b))
  const known = new KnownHosts(KEY)
  known.add(hostFingerprint(a))
  known.list(a, 3)
  expect(known.listing(b)).toBeNull()
  // The place is taken: nothing is noted of the other, and nothing of the one is lost.
  known.list(b, 5)
  known.unlist(b)
  known.countAddendum(b)
  expect([known.listing(a), known.listing(b)]).toEqual([{ band: 3, addenda: 0 }, null])
})

test('memory is counted as it is used: about fifteen bytes a host', () => {
  const known = new KnownHosts(KEY)
  for (let i = 0; i < 200_000; i++) known.add(hostFingerprint(`www.site-${i}.example` as HostKey))
  expect(known.bytes / known.size).toBeGreaterThan(10)
  expect(known.bytes / known.size).toBeLessThan(20)
})
