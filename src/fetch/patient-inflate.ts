// A body inflated piece by piece, which keeps what it got when the rest is broken.
//
// Zlib throws away what it made of the piece it broke on. So a broken body of moderate size is read again, in smaller pieces
// around the place:
//
//   64 KiB │ 64 KiB │ ✗        all up to the last piece
//                   256 B … ✗  all up to the last 256 bytes
//                         1 … ✗  all there is
//
// Then it may turn out that nothing is missing: some servers write a line of text behind their gzip, which
// browsers pass over. The checksum that stands behind the whole proves it.

import type { Transform } from 'node:stream'
import { crc32 } from 'node:zlib'
import type { Body, SpooledBody } from '../document/index.ts'

/** Bodies up to here are read again when they break: a hostile one costs three times its work, not more. */
const READ_AGAIN_BYTES_MAX = 4 * 1024 * 1024
/** As large as the pieces of a body. */
const STEP_BYTES = 64 * 1024
const SMALL_STEP_BYTES = 256
/** Head, the shortest data and tail of a gzip member. */
const GZIP_BYTES_MIN = 20

type End = 'whole' | 'cut' | 'broken'

interface Run {
  readonly output: SpooledBody
  readonly end: End
  /** Where the piece began that it broke on; null if it broke on no piece but for want of more. */
  readonly brokenAt: number | null
}

/** `newOutput` is asked once for each reading; all but the last are released. Rejects only with a Fault of an output. */
export async function inflatePatiently(
  newInflater: () => Transform,
  input: Body,
  newOutput: () => SpooledBody,
): Promise<{ readonly output: SpooledBody; readonly end: End }> {
  let run = await inflate(newInflater(), slices(input, input.length, STEP_BYTES), newOutput())
  if (run.end !== 'broken' || input.length > READ_AGAIN_BYTES_MAX) return run
  for (const step of [SMALL_STEP_BYTES, 1]) {
    // For want of more, not on a piece: there is nothing more to be had.
    if (run.brokenAt === null) break
    const again = await inflate(newInflater(), slices(input, run.brokenAt, step), newOutput())
    run.output.release()
    run = again
  }
  return isWholeGzip(input, run) ? { output: run.output, end: 'whole' } : run
}

/** The bytes up to `wholeUntil` in pieces as they come, the rest in steps; with where each begins. */
function* slices(input: Body, wholeUntil: number, step: number): Generator<[start: number, piece: Uint8Array]> {
  let start = 0
  for (const piece of input.chunks()) {
    const whole = Math.min(piece.length, Math.max(0, wholeUntil - start))
    if (whole > 0) yield [start, piece.subarray(0, whole)]
    for (let at = whole; at < piece.length; at += step) yield [start + at, piece.subarray(at, at + step)]
    start += piece.length
  }
}

async function inflate(
  inflater: Transform,
  pieces: Iterable<[start: number, piece: Uint8Array]>,
  output: SpooledBody,
): Promise<Run> {
  const ended = Promise.withResolvers<End>()
  inflater.on('data', (piece: Buffer) => {
    try {
      if (output.append(piece) < piece.length) ended.resolve('cut')
    } catch (fault) {
      ended.reject(fault)
    }
  })
  inflater.on('error', () => ended.resolve('broken'))
  inflater.on('end', () => ended.resolve('whole'))
  let isOver = false
  const end = ended.promise.finally(() => (isOver = true))
  let brokenAt: number | null = null
  // One piece at a time: the next overwrites it.
  for (const [start, piece] of pieces) {
    const written = new Promise<boolean>((resolve) => inflater.write(piece, (error) => resolve(error == null)))
    const isWritten = (await Promise.race([written, end])) === true
    if (!isWritten) brokenAt = start
    if (!isWritten || isOver) break
  }
  inflater.end()
  try {
    const how = await end
    output.finish()
    return { output, end: how, brokenAt: how === 'broken' ? brokenAt : null }
  } catch (fault) {
    output.release()
    throw fault
  } finally {
    inflater.destroy()
  }
}

/**
 * Whether checksum and length of what came out stand where a gzip member ends: right before what broke it, or before the
 * one or two bytes that zlib took for another member's first.
 */
function isWholeGzip(input: Body, { output, brokenAt }: Run): boolean {
  const end = brokenAt ?? input.length
  if (output.length === 0 || end < GZIP_BYTES_MIN) return false
  const tail = Buffer.from(input.bytes().subarray(end - GZIP_BYTES_MIN / 2, end))
  const wanted = Buffer.alloc(8)
  let sum = 0
  for (const piece of output.chunks()) sum = crc32(piece, sum)
  wanted.writeUInt32LE(sum, 0)
  wanted.writeUInt32LE(output.length, 4)
  return tail.includes(wanted)
}
