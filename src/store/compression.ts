// Record by record: one gzip member or one zstd frame each, so that any record can be read alone.
//
// Where that is done, is a matter of what it costs the thread that crawls, and of what it costs at all (decision 0020):
//
//    a page of 14 kB        in the thread pool, by engines that live as long as the archive: 20 µs of our thread instead of 160
//    a request of 500 bytes in place, where there is gzip: 22 µs; in the pool 21 of ours and 55 in all
//    a body that came       in place, where there is gzip: its text is deflated, the body stored. zstd sees by itself that
//      compressed           it cannot win, and its engines cost nothing to begin anew: all goes to the pool
//    more than 512 KiB      streamed, which bounds memory
//
// `zlib.gzip`, which makes an engine for every call, takes half as much again of our thread and up to twice the CPU.

import {
  constants,
  createGzip,
  createZstdCompress,
  type Gzip,
  gzipSync,
  type ZstdCompress,
  type ZstdOptions,
} from 'node:zlib'
import type { Transform } from 'node:stream'
import { storedMember, storedPieces } from './stored-member.ts'
import { buildRecord, type PlannedRecord, recordPieces, textBytes } from './warc-record.ts'

export interface Compression {
  /** Behind `.warc`. */
  readonly suffix: '' | '.gz' | '.zst'
  /** Documents whose records take no more than this are built in one piece. */
  readonly wholeBytesMax: number
  /** For the thread pool; null where there is no compression. */
  readonly engines: Engines | null
  /** The pieces of the member at once, or null for records that go to the pool. */
  inPlace(record: PlannedRecord): readonly Uint8Array[] | null
  /** A record in pieces, and what they still have to go through, if anything. */
  stream(record: PlannedRecord): { readonly pieces: Iterable<Uint8Array>; readonly compressor: Transform | null }
}

export interface Engines {
  /** Makes a member of every write. */
  readonly member: () => Gzip | ZstdCompress
  /** zlib wants to be told that a member is over; zstd knows, and would forget its level. */
  readonly resets: boolean
}

/** It must fit a buffer of the file; copying it takes 0.1 ms. */
const WHOLE_BYTES_MAX = 512 * 2 ** 10
/** Output goes into buffers of this size, member behind member; one that does not fit crosses to the pool again. */
const OUTPUT_BYTES = 64 * 2 ** 10
/** Up to here gzip is cheaper than going to the pool, by all threads together: 23 to 40 µs against 55. */
const IN_PLACE_BYTES_MAX = 1_024

export interface CompressionLevels {
  readonly gzipLevel: number
  readonly zstdLevel: number
}

export function compressionOf(kind: 'gzip' | 'zstd' | 'none', levels: CompressionLevels): Compression {
  if (kind === 'none') return plain()
  return kind === 'gzip' ? gzip(levels.gzipLevel) : zstd(levels.zstdLevel)
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
    stream: (record) =>
      record.isPacked
        ? { pieces: storedPieces(recordPieces(record), level), compressor: null }
        : { pieces: recordPieces(record), compressor: createGzip({ level }) },
  }
}

function zstd(level: number): Compression {
  // The convention for .warc.zst wants the size of its content in every frame, and a checksum. A frame that is begun and
  // ended by one write has its size without being told.
  const params = { [constants.ZSTD_c_compressionLevel]: level, [constants.ZSTD_c_checksumFlag]: 1 }
  const whole: ZstdOptions = { params, flush: constants.ZSTD_e_end, chunkSize: OUTPUT_BYTES }
  return {
    suffix: '.zst',
    wholeBytesMax: WHOLE_BYTES_MAX,
    engines: { member: () => createZstdCompress(whole), resets: false },
    inPlace: () => null,
    stream: (record) => ({
      pieces: recordPieces(record),
      compressor: createZstdCompress({ params, pledgedSrcSize: record.bytes }),
    }),
  }
}
