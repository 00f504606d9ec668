// Record by record: one gzip member or one zstd frame each, so that any record can be read alone.
//
// Where that is done, is a matter of what it costs the thread that crawls, and of what it costs at all (decision 0020):
//
//                           gzip, fast         gzip by level      zstd
//    a page of 14 kB        in place, kernel   pool               pool
//    a request of 500 bytes in place, kernel   in place, zlib     pool
//    a body that came       in place: its text is deflated,       pool: it sees by itself that
//      compressed           the body stored                       it cannot win
//    more than 512 KiB      streamed through zlib in the pool, which bounds memory
//
// The kernel takes 61 µs for a page where zlib takes 104 (level 1) to 135 (level 4), and some 10 more to go to the pool and back. Engines of the pool live as
// long as the archive: `zlib.gzip`, which makes one for every call, takes half as much again of our thread and up to twice the CPU.

import { constants, createGzip, type Gzip, gzipSync, type ZstdOptions, zstdCompressSync } from 'node:zlib'
import type { Transform } from 'node:stream'
import { GzipKernel } from './gzip-kernel.ts'
import type { GzipLevel } from './options.ts'
import { storedMember, storedPieces } from './stored-member.ts'
import { buildRecord, type PlannedRecord, recordPieces, textBytes } from './warc-record.ts'
import { ZstdEngine } from './zstd-engine.ts'

export interface Compression {
  /** Behind `.warc`. */
  readonly suffix: '' | '.gz' | '.zst'
  /** Documents whose records take no more than this are built in one piece. */
  readonly wholeBytesMax: number
  /** For the thread pool; null where nothing goes there. */
  readonly engines: Engines | null
  /**
   * The pieces of the member at once, valid until the next is made. Null for records that go to the pool, and where
   * there is no compression.
   */
  inPlace(record: PlannedRecord): readonly Uint8Array[] | null
  /** A record in pieces, and what they still have to go through, if anything. */
  stream(record: PlannedRecord): { readonly pieces: Iterable<Uint8Array>; readonly compressor: Transform | null }
}

export interface Engines {
  /** Makes a member of every write. */
  readonly member: () => Gzip | ZstdEngine
  /** zlib wants to be told that a member is over; zstd knows, and would forget its level. */
  readonly resets: boolean
}

/** It must fit a buffer of the file; copying it takes 0.1 ms. */
const WHOLE_BYTES_MAX = 512 * 2 ** 10
/** Output goes into buffers of this size, member behind member; one that does not fit crosses to the pool again. */
const OUTPUT_BYTES = 64 * 2 ** 10
/** Up to here gzip is cheaper than going to the pool, by all threads together: 23 to 40 µs against 55. */
const IN_PLACE_BYTES_MAX = 1_024

/** Of what is too large for the kernel: most of the gain for two thirds of what 6 costs. */
const LARGE_LEVEL = 4

export interface CompressionLevels {
  readonly gzipLevel: GzipLevel
  readonly zstdLevel: number
}

export function compressionOf(kind: 'gzip' | 'zstd' | 'none', levels: CompressionLevels): Compression {
  if (kind === 'none') return plain()
  if (kind === 'zstd') return zstd(levels.zstdLevel)
  return levels.gzipLevel === 'fast' ? fastGzip() : gzip(levels.gzipLevel)
}

function plain(): Compression {
  return {
    suffix: '',
    wholeBytesMax: WHOLE_BYTES_MAX,
    engines: null,
    inPlace: () => null,
    stream: (record) => ({ pieces: recordPieces(record), compressor: null }),
  }
}

function fastGzip(): Compression {
  const kernel = new GzipKernel()
  return {
    suffix: '.gz',
    wholeBytesMax: kernel.bytesMax,
    engines: null,
    inPlace: (record) => [kernel.memberOf(record)],
    stream: (record) =>
      record.bytes <= kernel.bytesMax
        ? { pieces: [kernel.memberOf(record)], compressor: null }
        : gzipStream(record, LARGE_LEVEL),
  }
}

function gzip(level: number): Compression {
  let scratch = Buffer.allocUnsafeSlow(OUTPUT_BYTES)
  return {
    suffix: '.gz',
    wholeBytesMax: WHOLE_BYTES_MAX,
    engines: {
      member: () => createGzip({ level, flush: constants.Z_FINISH, chunkSize: OUTPUT_BYTES }),
      resets: true,
    },
    inPlace: (record) => {
      if (!record.isPacked && record.bytes > IN_PLACE_BYTES_MAX) return null
      if (record.bytes > scratch.length) scratch = Buffer.allocUnsafeSlow(WHOLE_BYTES_MAX)
      const built = scratch.subarray(0, buildRecord(record, scratch, 0))
      return record.isPacked
        ? storedMember(built, textBytes(record), level)
        : [gzipSync(built, { level, chunkSize: IN_PLACE_BYTES_MAX })]
    },
    stream: (record) => gzipStream(record, level),
  }
}

function gzipStream(record: PlannedRecord, level: number): ReturnType<Compression['stream']> {
  return record.isPacked
    ? { pieces: storedPieces(recordPieces(record), level), compressor: null }
    : { pieces: recordPieces(record), compressor: createGzip({ level }) }
}

function zstd(level: number): Compression {
  // The convention for .warc.zst wants the size of its content in every frame, and a checksum. A frame that is begun and
  // ended by one write has its size without being told.
  const params = { [constants.ZSTD_c_compressionLevel]: level, [constants.ZSTD_c_checksumFlag]: 1 }
  const emptyFrame = zstdCompressSync(Buffer.alloc(0), { params })
  const whole: ZstdOptions = { params, flush: constants.ZSTD_e_end, chunkSize: OUTPUT_BYTES }
  return {
    suffix: '.zst',
    wholeBytesMax: WHOLE_BYTES_MAX,
    engines: { member: () => new ZstdEngine(whole, emptyFrame), resets: false },
    inPlace: () => null,
    stream: (record) => ({
      pieces: recordPieces(record),
      compressor: new ZstdEngine({ params, pledgedSrcSize: record.bytes }, emptyFrame),
    }),
  }
}
