import { expect, test } from 'vitest'
import { Random } from '../base/index.ts'
import { FingerprintTable, mixFingerprint } from './fingerprint-table.ts'
import { MemoryUrlSeen } from './memory-url-seen.ts'
import { urlSeenConformance } from './url-seen.conformance.ts'
import { newBatch } from './url-seen.ts'

urlSeenConformance('MemoryUrlSeen', () => new MemoryUrlSeen())

test('the answer is there at once', () => {
  expect(new MemoryUrlSeen().meet(newBatch(1))).toBeUndefined()
})

test('a URL costs at most 27 bytes once there are many', () => {
  const seen = new MemoryUrlSeen()
  const random = new Random('memory')
  const batch = newBatch(1_000)
  let worst = 0
  for (let i = 0; i < 300; i++) {
    for (let j = 0; j < 1_000; j++) {
      batch.high[j] = random.next32()
      batch.low[j] = random.next32()
    }
    batch.count = 1_000
    seen.meet(batch)
    if (i >= 50) worst = Math.max(worst, seen.memoryBytes / seen.size)
  }
  expect(seen.size).toBe(300_000)
  expect(worst).toBeLessThan(27)
})

test('growing keeps every fingerprint with its meetings', () => {
  const table = new FingerprintTable()
  const meet = (i: number): boolean => table.meet(i >>> 3, i, mixFingerprint(i >>> 3, i), (i % 5) + 1)
  const firsts = Array.from({ length: 10_000 }, (_, i) => meet(i))
  expect(firsts.every(Boolean)).toBe(true)
  expect(table.size).toBe(10_000)
  const counts = Array.from({ length: 10_000 }, (_, i) => table.count(i >>> 3, i, mixFingerprint(i >>> 3, i)))
  expect(counts.every((count, i) => count === (i % 5) + 1)).toBe(true)
  expect(table.count(1, 0, mixFingerprint(1, 0))).toBe(0)
})
