// Which records are compressed where, and that what is made in place is what a reader of gzip expects.

import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { plainDocument } from '../../test/plain-document.ts'
import { gzipMembers } from '../../test/warc-frames.ts'
import { factsOf } from './archive.conformance.ts'
import { compressionOf } from './compression.ts'
import { buildRecord, type PlannedRecord, planRecords } from './warc-record.ts'

const levels = { gzipLevel: 4, zstdLevel: 3 }
const gzip = compressionOf('gzip', levels)

function recordOf(bytes: Uint8Array, isPacked: boolean): PlannedRecord {
  const document = plainDocument('http://127.0.0.1/', bytes, { decoding: isPacked ? 'decoded' : 'none' })
  const settings = { uuid: () => 'id', requests: false, metadata: false, blockDigest: false }
  return planRecords(document, factsOf(document), settings)[0]!
}

test('small records and bodies that came compressed are done in place by gzip, others in the pool', () => {
  expect(gzip.inPlace(recordOf(Buffer.alloc(100), false))).not.toBeNull()
  expect(gzip.inPlace(recordOf(Buffer.alloc(14_000), false))).toBeNull()
  expect(gzip.inPlace(recordOf(Buffer.alloc(14_000), true))).not.toBeNull()
  for (const kind of ['zstd', 'none'] as const) {
    expect(compressionOf(kind, levels).inPlace(recordOf(Buffer.alloc(100), false))).toBeNull()
    expect(compressionOf(kind, levels).inPlace(recordOf(Buffer.alloc(100), true))).toBeNull()
  }
})

test('what is done in place is one whole member, whatever came before', () => {
  const bytes = fc.oneof(fc.nat(2_000), fc.nat(500_000))
  fc.assert(
    fc.property(bytes, fc.boolean(), (length, isPacked) => {
      const record = recordOf(randomBytes(length), isPacked)
      const member = gzip.inPlace(record)
      if (member === null) return
      const built = Buffer.alloc(record.bytes)
      buildRecord(record, built, 0)
      const frames = gzipMembers(Buffer.concat([...member]))
      expect(frames.map(({ content }) => content.equals(built))).toEqual([true])
    }),
    { numRuns: 60 },
  )
})

test('a body that came compressed is stored, and the text before it is compressed all the same', () => {
  const body = Buffer.alloc(20_000, 'this would compress well ')
  const record = recordOf(body, true)
  const text = record.bytes - body.length
  const member = Buffer.concat([...gzip.inPlace(record)!])
  expect(member.length).toBeGreaterThan(body.length)
  expect(member.length).toBeLessThan(body.length + 0.8 * text)
})
