import { expect, test } from 'vitest'
import { contentSeenConformance, digestOf } from './content-seen.conformance.ts'
import { MemoryContentSeen } from './memory-content-seen.ts'

contentSeenConformance('MemoryContentSeen', () => new MemoryContentSeen())

test('the answer is there at once unless somebody holds the claim', () => {
  const seen = new MemoryContentSeen()
  expect(seen.claim(digestOf('x'))).toBeNull()
  expect(seen.claim(digestOf('x'))).toBeInstanceOf(Promise)
})
