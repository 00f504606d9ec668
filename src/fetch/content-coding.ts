// Content codings undone: gzip, deflate, br, zstd, also several in a row.
//
// Small bodies are inflated in one synchronous call, which costs a third of a stream; only what does
// not go smoothly (large, cut, broken, a bomb) takes the patient way, which keeps whatever it got.
// Nothing grows beyond the limit it is given: a bomb is cut like any body too long.

import type { Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import { type Body, type Decoding, type Spool, SpooledBody } from '../document/index.ts'
import { inflatePatiently } from './patient-inflate.ts'

/** Up to here one call inflates a body in memory. */
const AT_ONCE_BYTES_MAX = 64 * 1024
/** What one call may make of it: more is rare, and what was made of a bomb is thrown away and made again patiently. */
const AT_ONCE_RATIO_MAX = 16
const AT_ONCE_OUTPUT_BYTES_MIN = 128 * 1024
/** Brotli fills its window of some MiB before it gives out a byte: twice is too much, and bombs are this small. */
const BROTLI_BOMB_BYTES = 1_024
/** What an inflater makes at a time: each piece costs a round through the thread pool. */
const PIECE = { chunkSize: 128 * 1024 }
/** More codings in a row than this are an attack, not a body (curl's limit too). */
const CODINGS_MAX = 5
/** RFC 9659: a zstd body for HTTP may ask for a window of 8 MiB, not more. */
const ZSTD = { params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } }

/** What servers write when there is none; 'none' is no name of the registry, but common. */
const NO_CODING: ReadonlySet<string> = new Set(['', 'identity', 'none'])

type Coding = 'gzip' | 'deflate' | 'deflate-raw' | 'br' | 'zstd'

interface Inflate {
  atOnce(bytes: Uint8Array, limit: { readonly maxOutputLength: number }): Buffer
  readonly piecemeal: () => Transform
}

const INFLATE: Readonly<Record<Coding, Inflate>> = {
  gzip: { atOnce: gunzipAtOnce, piecemeal: () => zlib.createGunzip(PIECE) },
  deflate: { atOnce: zlib.inflateSync, piecemeal: () => zlib.createInflate(PIECE) },
  'deflate-raw': { atOnce: zlib.inflateRawSync, piecemeal: () => zlib.createInflateRaw(PIECE) },
  br: { atOnce: zlib.brotliDecompressSync, piecemeal: () => zlib.createBrotliDecompress(PIECE) },
  zstd: {
    atOnce: (bytes, limit) => zlib.zstdDecompressSync(bytes, { ...ZSTD, ...limit }),
    piecemeal: () => zlib.createZstdDecompress({ ...ZSTD, ...PIECE }),
  },
}

/** A header and a trailer, and nothing between. */
const GZIP_BYTES_MIN = 18
/** zlib takes no less. */
const CHUNK_BYTES_MIN = 64

/**
 * With as much room as the body says in its last four bytes, and one byte: a page of 14 kB comes in one piece of its size, for 21 µs instead of 25 to 33 in
 * pieces of 16 KiB. Who lies there is found out by zlib itself; of several members it is the size of the last.
 */
function gunzipAtOnce(bytes: Uint8Array, limit: { readonly maxOutputLength: number }): Buffer {
  if (bytes.length < GZIP_BYTES_MIN) return zlib.gunzipSync(bytes, limit)
  const said = new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(bytes.length - 4, true)
  const chunkSize = Math.max(CHUNK_BYTES_MIN, Math.min(said + 1, limit.maxOutputLength))
  return zlib.gunzipSync(bytes, { ...limit, chunkSize })
}

export interface Decoded {
  /** The given body itself when there was nothing to undo or nothing could be. */
  readonly body: Body
  readonly decoding: Decoding
  /** The limit was reached. */
  readonly isCut: boolean
}

/** The codings of an answer in the order they were applied, from all its Content-Encoding values. */
export function parseCodings(values: readonly string[]): readonly string[] {
  if (values.length === 0) return values
  const codings = values.join(',').toLowerCase().split(',')
  return codings.map((coding) => coding.trim()).filter((coding) => !NO_CODING.has(coding))
}

/**
 * Undoes the codings of a finished body; the body stays as it is. `isWhole` says whether its end is
 * the end the server meant: of a body that was cut an early end is no surprise.
 */
export function decodeContent(
  wire: Body,
  codings: readonly string[],
  spool: Spool,
  lengthMax: number,
  isWhole: boolean,
): Decoded | Promise<Decoded> {
  if (codings.length === 0 || wire.length === 0) return { body: wire, decoding: 'none', isCut: false }
  if (codings.length > CODINGS_MAX) return { body: wire, decoding: 'unknown', isCut: false }
  if (isWhole && codings.length === 1 && wire.length <= AT_ONCE_BYTES_MAX) {
    const coding = codingOf(codings[0] as string, wire)
    if (coding === null) return { body: wire, decoding: 'unknown', isCut: false }
    if (isForeign(coding, wire)) return { body: wire, decoding: 'broken', isCut: false }
    const outputMax = Math.max(AT_ONCE_OUTPUT_BYTES_MIN, AT_ONCE_RATIO_MAX * wire.length)
    const isLikelyBomb = coding === 'br' && wire.length < BROTLI_BOMB_BYTES
    const bytes = isLikelyBomb ? null : inflateAtOnce(coding, wire.bytes(), Math.min(lengthMax, outputMax))
    if (bytes !== null) return { body: SpooledBody.of(bytes, spool), decoding: 'decoded', isCut: false }
  }
  return decodePatiently(wire, codings, spool, lengthMax, isWhole)
}

async function decodePatiently(
  wire: Body,
  codings: readonly string[],
  spool: Spool,
  lengthMax: number,
  isWhole: boolean,
): Promise<Decoded> {
  let body: Body = wire
  let isCut = false
  let isEarlyEndExpected = !isWhole
  for (const name of codings.toReversed()) {
    const coding = codingOf(name, body)
    if (coding === null) return { body, decoding: 'unknown', isCut }
    if (isForeign(coding, body)) return { body, decoding: 'broken', isCut }
    const { output, end } = await inflatePatiently(
      INFLATE[coding].piecemeal,
      body,
      () => new SpooledBody(spool, lengthMax),
    )
    const isNothing = end === 'broken' && output.length === 0
    if (isNothing) output.release()
    else {
      if (body !== wire) body.release()
      body = output
    }
    if (end === 'cut') isCut = true
    // The inner codings of what was cut can only end early.
    if (end === 'cut') isEarlyEndExpected = true
    if (isNothing || (end === 'broken' && !isEarlyEndExpected)) return { body, decoding: 'broken', isCut }
  }
  return { body, decoding: 'decoded', isCut }
}

/** Null for a coding we do not speak. 'deflate' means zlib's format but servers send the bare one too. */
function codingOf(name: string, body: Body): Coding | null {
  switch (name) {
    case 'gzip':
    case 'x-gzip':
      return 'gzip'
    case 'br':
    case 'zstd':
      return name
    case 'deflate': {
      const [first = 0, second = 0] = body.bytes(2)
      return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0 ? 'deflate' : 'deflate-raw'
    }
    default:
      return null
  }
}

/** Plain text that says it is gzip, as servers do, is seen by its first bytes. */
function isForeign(coding: Coding, body: Body): boolean {
  if (coding !== 'gzip') return false
  const [first, second] = body.bytes(2)
  return first !== 0x1f || second !== 0x8b
}

/** All bytes, or null when anything is amiss. */
function inflateAtOnce(coding: Coding, bytes: Uint8Array, lengthMax: number): Buffer | null {
  try {
    // Zlib takes no limit of 0; one byte too much is then cut by the patient way.
    return INFLATE[coding].atOnce(bytes, { maxOutputLength: Math.max(1, lengthMax) })
  } catch {
    // Whatever it was, the patient way meets it again and judges it.
    return null
  }
}
