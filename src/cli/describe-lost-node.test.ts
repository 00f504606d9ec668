import { expect, test } from 'vitest'
import { describeLostNode } from './describe-lost-node.ts'

const NOTHING = { shares: 0, safeFiles: 0, safePages: 0, goneFiles: 0, gonePages: 0, requeued: 0 }

test('says what is safe, what is lost, and how far it is known', () => {
  expect(describeLostNode('b', NOTHING, false)).toBe('Node b is lost; no share has looked yet what went with it.')
  expect(describeLostNode('b', { ...NOTHING, shares: 4 }, true)).toBe(
    'Node b is lost: none of its WARC files is on the shelf; nothing has to be fetched again.',
  )
  const some = { shares: 1, safeFiles: 1, safePages: 32, goneFiles: 2, gonePages: 40, requeued: 41 }
  expect(describeLostNode('b', some, false)).toBe(
    'Node b is lost: 1 WARC file of it with 32 pages is on the shelf; 2 files with 40 pages are lost, 41 pages are fetched again (so far: 1 share has looked).',
  )
})
