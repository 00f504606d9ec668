// Members out of lanes that are used again and again: each must be as if it were the first.

import { randomBytes } from 'node:crypto'
import * as fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { PlainBody, plainDocument } from '../../test/plain-document.ts'
import { gzipMembers, zstdFrames } from '../../test/warc-frames.ts'
import { factsOf } from './archive.conformance.ts'
import { CompressionPool } from './compression-pool.ts'
import { compressionOf } from './compression.ts'
import { buildRecord, type PlannedRecord, planRecords } from './warc-record.ts'

const uuid = (): string => '00000000-0000-4000-8000-000000000000'
const settings = { uuid, requests: false, metadata: false, blockDigest: false }
const pools: CompressionPool[] = []
afterEach(() => {
  for (const pool of pools.splice(0)) pool.close()
})

function poolOf(kind: 'gzip' | 'zstd'): CompressionPool {
  const pool = new CompressionPool(compressionOf(kind, { gzipLevel: 4, zstdLevel: 3 }).engines!)
  pools.push(pool)
  return pool
}

function recordOf(bytes: Uint8Array): PlannedRecord {
  const document = plainDocument('http://127.0.0.1/', bytes)
  return planRecords(document, factsOf(document), settings)[0]!
}

function compressed(pool: CompressionPool, record: PlannedRecord): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    pool.take({ record, done: (member) => resolve(Buffer.concat([...member])), failed: reject })
  })
}

function built(record: PlannedRecord): Buffer {
  const target = Buffer.alloc(record.bytes)
  buildRecord(record, target, 0)
  return target
}

const framesOf = { gzip: gzipMembers, zstd: zstdFrames }

test.each(['gzip', 'zstd'] as const)('every record becomes one whole %s member, whatever came before', async (kind) => {
  const body = fc.record({
    // Up to what takes several buffers of output.
    bytes: fc.oneof({ weight: 6, arbitrary: fc.nat(5_000) }, { weight: 1, arbitrary: fc.nat(400_000) }),
    isRandom: fc.boolean(),
  })
  const pool = poolOf(kind)
  await fc.assert(
    fc.asyncProperty(fc.array(body, { minLength: 1, maxLength: 20 }), async (bodies) => {
      const records = bodies.map(({ bytes, isRandom }) =>
        recordOf(isRandom ? randomBytes(bytes) : Buffer.alloc(bytes, 'some text ')),
      )
      const members = await Promise.all(records.map((record) => compressed(pool, record)))
      for (const [i, member] of members.entries()) {
        const frames = framesOf[kind](member)
        expect(frames).toHaveLength(1)
        expect(frames[0]!.content.equals(built(records[i]!))).toBe(true)
      }
    }),
    { numRuns: 30 },
  )
})

// An engine that has filled its buffer is asked for more, and must have nothing more to say.
test.each(['gzip', 'zstd'] as const)('a %s member that ends with the last byte of a buffer is whole', async (kind) => {
  const outputBytes = 64 * 1_024
  let bytes = outputBytes / 2
  // Random bytes are stored as they are: what is missing to fill the buffer can be added, in a try or two.
  for (let tries = 0; tries < 100; tries++) {
    const pool = poolOf(kind)
    const first = await compressed(pool, recordOf(randomBytes(outputBytes / 4)))
    const record = recordOf(randomBytes(bytes))
    const member = await compressed(pool, record)
    const frames = framesOf[kind](member)
    expect(frames).toHaveLength(1)
    expect(frames[0]!.content.equals(built(record))).toBe(true)
    const missing = outputBytes - first.length - member.length
    if (missing === 0) return
    bytes += missing
  }
  expect.unreachable('the buffer was never filled exactly')
})

class CountedBody extends PlainBody {
  static read = 0
  override bytes(): Uint8Array {
    CountedBody.read++
    return super.bytes()
  }

  override chunks(): Generator<Uint8Array> {
    CountedBody.read++
    return super.chunks()
  }
}

test('bodies are read only when a lane is free for them', async () => {
  const pool = poolOf('gzip')
  const records = Array.from({ length: 50 }, () => ({
    ...recordOf(Buffer.alloc(0)),
    body: new CountedBody(Buffer.alloc(0)),
  }))
  const all = Promise.all(records.map((record) => compressed(pool, record)))
  // Nothing can be done before control is given away.
  expect(CountedBody.read).toBe(4)
  await all
  expect(CountedBody.read).toBe(50)
})

class UnreadableBody extends PlainBody {
  override bytes(): Uint8Array {
    throw new Error('EIO')
  }

  override chunks(): Generator<Uint8Array> {
    throw new Error('EIO')
  }
}

test('a body that cannot be read fails its own job; the lane goes on', async () => {
  const pool = poolOf('gzip')
  const broken = { ...recordOf(Buffer.from('x')), body: new UnreadableBody(Buffer.from('x')) }
  const good = recordOf(Buffer.from('good'))
  for (let i = 0; i < 6; i++) await expect(compressed(pool, broken)).rejects.toThrow('EIO')
  expect(gzipMembers(await compressed(pool, good))[0]!.content.equals(built(good))).toBe(true)
})
