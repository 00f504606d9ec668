import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { contentSeenConformance } from './content-seen.conformance.ts'
import { MemoryContentSeen } from './memory-content-seen.ts'

contentSeenConformance('MemoryContentSeen', () => new MemoryContentSeen())

test('the answer is there at once unless somebody holds the claim', () => {
  const seen = new MemoryContentSeen()
  const digest = createHash('sha256').update('x').digest()
  expect(seen.claim(digest)).toBeNull()
  expect(seen.claim(digest)).toBeInstanceOf(Promise)
})
