// A frame for each record and nothing behind it, also where the frame fills the engine's buffer to the last byte.

import { randomBytes } from 'node:crypto'
import { constants, zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { zstdFrames } from '../../test/warc-frames.ts'
import { ZstdEngine } from './zstd-engine.ts'

const CHUNK_BYTES = 16 * 1_024
const params = { [constants.ZSTD_c_checksumFlag]: 1 }
const EMPTY_FRAME = zstdCompressSync(Buffer.alloc(0), { params })

/** Through an engine of its own, piece by piece, as a large record goes. */
async function streamed(content: Buffer): Promise<Buffer> {
  const engine = new ZstdEngine({ params, pledgedSrcSize: content.length, chunkSize: CHUNK_BYTES }, EMPTY_FRAME)
  const made: Buffer[] = []
  engine.on('data', (piece: Buffer) => made.push(piece))
  const end = new Promise<void>((resolve, reject) => engine.on('end', resolve).on('error', reject))
  for (let at = 0; at < content.length; at += CHUNK_BYTES) {
    await new Promise<void>((resolve) => engine.write(content.subarray(at, at + CHUNK_BYTES), () => resolve()))
  }
  engine.end()
  await end
  return Buffer.concat(made)
}

test('a stream that ends with the last byte of a buffer is one frame', async () => {
  let bytes = 40 * CHUNK_BYTES
  // Random bytes are stored as they are, so what is missing to fill the buffer can be added.
  for (let tries = 0; tries < 100; tries++) {
    const content = randomBytes(bytes)
    const frames = zstdFrames(await streamed(content))
    expect(frames).toHaveLength(1)
    expect(frames[0]!.content.equals(content)).toBe(true)
    const missing = -frames[0]!.length & (CHUNK_BYTES - 1)
    if (missing === 0) return
    bytes += missing
  }
  expect.unreachable('the buffer was never filled exactly')
})
