// Record by record: one gzip member or one zstd frame each, so that any record can be read alone.
//
// Documents up to `wholeBytesMax` are compressed whole, in the thread pool, by engines that live as long as the archive:
// a crossing takes 11 to 25 µs of the agent's own thread, where compressing there took 26 for a request of 500 bytes and 170 to 260
// for a page of 14 kB, so there is no record too small for it (decision 0020). `zlib.gzip`, which makes an engine for every
// call, takes twice as much of the thread. Larger documents are streamed, which bounds memory.

import {
  constants,
  createGzip,
  createZstdCompress,
  type DeflateRaw,
  type Gzip,
  type ZstdCompress,
  type ZstdOptions,
} from 'node:zlib'
import type { Transform } from 'node:stream'
import { storedPieces, textDeflater } from './stored-member.ts'
import { type PlannedRecord, recordPieces } from './warc-record.ts'

export interface Compression {
  /** Behind `.warc`. */
  readonly suffix: '' | '.gz' | '.zst'
  /** Documents whose records take no more than this are built in one piece. */
  readonly wholeBytesMax: number
  /** What compresses whole records; null where there is no compression. */
  readonly engines: Engines | null
  /** A record in pieces, and what they still have to go through, if anything. */
  stream(record: PlannedRecord): { readonly pieces: Iterable<Uint8Array>; readonly compressor: Transform | null }
}

export interface Engines {
  /** Makes a member of every write. */
  readonly member: () => Gzip | ZstdCompress
  /** Deflates the text before a body that is compressed already; null where the format itself sees that it is. */
  readonly text: (() => DeflateRaw) | null
  /** zlib wants to be told that a member is over; zstd knows, and would forget its level. */
  readonly resets: boolean
}

/** It must fit a buffer of the file; copying it takes 0.1 ms. */
const WHOLE_BYTES_MAX = 512 * 2 ** 10
/** Output goes into buffers of this size, member behind member; one that does not fit crosses to the pool again. */
const OUTPUT_BYTES = 64 * 2 ** 10

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
    stream: (record) => ({ pieces: recordPieces(record), compressor: null }),
  }
}

function gzip(level: number): Compression {
  return {
    suffix: '.gz',
    wholeBytesMax: WHOLE_BYTES_MAX,
    engines: {
      member: () => createGzip({ level, flush: constants.Z_FINISH, chunkSize: OUTPUT_BYTES }),
      text: () => textDeflater(level),
      resets: true,
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
    engines: { member: () => createZstdCompress(whole), text: null, resets: false },
    stream: (record) => ({
      pieces: recordPieces(record),
      compressor: createZstdCompress({ params, pledgedSrcSize: record.bytes }),
    }),
  }
}
