// Which records are compressed where, and that what is made in place is what a reader of gzip expects.

import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { plainDocument } from '../../test/plain-document.ts'
import { gzipMembers } from '../../test/warc-frames.ts'
import { factsOf } from './archive.conformance.ts'
import { compressionOf } from './compression.ts'
import { buildRecord, type PlannedRecord, planRecords } from './warc-record.ts'

const levels = { gzipLevel: 4, zstdLevel: 3 } as const
const gzip = compressionOf('gzip', levels)
const fast = compressionOf('gzip', { ...levels, gzipLevel: 'fast' })
/** What a document may take to be made in one piece. */
const WHOLE_BYTES_MAX = 512 * 1_024

function recordOf(bytes: Uint8Array, isPacked: boolean): PlannedRecord {
  const document = plainDocument('http://127.0.0.1/', bytes, { decoding: isPacked ? 'decoded' : 'none' })
  const settings = { uuid: () => 'id', requests: false, metadata: false, blockDigest: false }
  return planRecords(document, factsOf(document), settings)[0]!
}

function built(record: PlannedRecord): Buffer {
  const target = Buffer.alloc(record.bytes)
  buildRecord(record, target, 0)
  return target
}

/** Of one member, and nothing else. */
function contentOf(pieces: readonly Uint8Array[]): Buffer {
  const frames = gzipMembers(Buffer.concat([...pieces]))
  expect(frames).toHaveLength(1)
  return frames[0]!.content
}

test('fast gzip does everything in place, and has no engines', () => {
  expect(fast.engines).toBeNull()
  expect(fast.wholeBytesMax).toBe(WHOLE_BYTES_MAX)
  for (const isPacked of [false, true]) {
    const empty = recordOf(Buffer.alloc(0), isPacked)
    const record = recordOf(randomBytes(WHOLE_BYTES_MAX - empty.bytes - 10), isPacked)
    expect(contentOf(fast.inPlace(record)!).equals(built(record))).toBe(true)
  }
})

test('what is too large for fast gzip is streamed; the small records beside it are not', () => {
  const large = recordOf(Buffer.alloc(WHOLE_BYTES_MAX, 'text '), false)
  expect(fast.stream(large).compressor).not.toBeNull()
  const packed = fast.stream(recordOf(randomBytes(WHOLE_BYTES_MAX), true))
  expect(packed.compressor).toBeNull()
  const small = recordOf(Buffer.from('text'), false)
  const { pieces, compressor } = fast.stream(small)
  expect(compressor).toBeNull()
  expect(contentOf([...pieces]).equals(built(small))).toBe(true)
})

test('small records and bodies that came compressed are done in place by level, others in the pool', () => {
  expect(gzip.inPlace(recordOf(Buffer.alloc(100), false))).not.toBeNull()
  expect(gzip.inPlace(recordOf(Buffer.alloc(14_000), false))).toBeNull()
  expect(gzip.inPlace(recordOf(Buffer.alloc(14_000), true))).not.toBeNull()
  for (const kind of ['zstd', 'none'] as const) {
    expect(compressionOf(kind, levels).inPlace(recordOf(Buffer.alloc(100), false))).toBeNull()
    expect(compressionOf(kind, levels).inPlace(recordOf(Buffer.alloc(100), true))).toBeNull()
  }
})

test.each([
  ['by level', gzip],
  ['fast', fast],
])('what is done in place %s is one whole member, whatever came before', (_, compression) => {
  const bytes = fc.oneof(fc.nat(2_000), fc.nat(500_000))
  fc.assert(
    fc.property(bytes, fc.boolean(), fc.boolean(), (length, isPacked, isRandom) => {
      const record = recordOf(isRandom ? randomBytes(length) : Buffer.alloc(length, 'some text '), isPacked)
      const member = compression.inPlace(record)
      if (member !== null) expect(contentOf(member).equals(built(record))).toBe(true)
    }),
    { numRuns: 60 },
  )
})

test.each([
  ['by level', gzip],
  ['fast', fast],
])('a body that came compressed is stored %s, and the text before it is compressed all the same', (_, compression) => {
  const body = Buffer.alloc(20_000, 'this would compress well ')
  const record = recordOf(body, true)
  const text = record.bytes - body.length
  const member = Buffer.concat([...compression.inPlace(record)!])
  expect(member.length).toBeGreaterThan(body.length)
  expect(member.length).toBeLessThan(body.length + 0.8 * text)
})
