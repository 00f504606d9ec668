import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HostKey } from '../url/index.ts'
import { hostFingerprint, KnownHosts } from './known-hosts.ts'

test('a host that was added is known, whatever else was', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 2 ** 32 - 1 }), { maxLength: 2_000, size: 'max' }), (some) => {
      const known = new KnownHosts()
      for (const fingerprint of [...some, ...some]) known.add(fingerprint)
      expect(known.size).toBe(some.length)
      expect(some.every((fingerprint) => known.has(fingerprint))).toBe(true)
    }),
    { numRuns: 50 },
  )
})

test('of hosts that were not added few are taken for known', () => {
  const known = new KnownHosts()
  for (let i = 0; i < 100_000; i++) known.add(hostFingerprint(`www.site-${i}.example` as HostKey))
  let wrong = 0
  for (let i = 0; i < 100_000; i++) if (known.has(hostFingerprint(`other-${i}.example` as HostKey))) wrong++
  // Expected: 100,000 × 100,000 / 2³² = 2.3.
  expect(wrong).toBeLessThan(20)
})
