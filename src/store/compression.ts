// Record by record: one gzip member or one zstd frame each, so that any record can be read alone.
//
// Documents up to `inPlaceBytesMax` are compressed on the agent's own thread. The thread pool looks
// kinder, but agents already fill the cores, and a hop costs more than it frees: per 19 kB page 224 µs
// of CPU in place against 496 µs through zlib.gzip, 105 against 484 for zstd (bench/store.ts). Larger
// ones are streamed through the pool, which bounds both memory and the time the agent stands still.

import { constants, createGzip, createZstdCompress, gzipSync, zstdCompressSync, type ZstdOptions } from 'node:zlib'
import type { Transform } from 'node:stream'

export interface Compression {
  /** Behind `.warc`. */
  readonly suffix: '' | '.gz' | '.zst'
  /** A whole record; the same bytes back where there is no compression. */
  compress(record: Uint8Array): Uint8Array
  /** Documents whose records take no more than this are compressed and written in one go. */
  readonly inPlaceBytesMax: number
  /** For a record of so many bytes; null where there is no compression. */
  stream(bytes: number): Transform | null
}

/** About 2 ms of gzip: the longest an agent stands still for one document. */
const COMPRESSED_BYTES_MAX = 128 * 2 ** 10
/** Copying and hashing half a mebibyte takes less than that; it must fit a buffer of the file. */
const PLAIN_BYTES_MAX = 512 * 2 ** 10

export interface CompressionLevels {
  readonly gzipLevel: number
  readonly zstdLevel: number
}

export function compressionOf(kind: 'gzip' | 'zstd' | 'none', levels: CompressionLevels): Compression {
  if (kind === 'none') {
    return { suffix: '', inPlaceBytesMax: PLAIN_BYTES_MAX, compress: (record) => record, stream: () => null }
  }
  if (kind === 'gzip') {
    const level = levels.gzipLevel
    return {
      suffix: '.gz',
      inPlaceBytesMax: COMPRESSED_BYTES_MAX,
      compress: (record) => gzipSync(record, { level, chunkSize: outputBytes(record.length) }),
      stream: () => createGzip({ level }),
    }
  }
  // The convention for .warc.zst wants the size of its content in every frame, and a checksum.
  const optionsFor = (bytes: number): ZstdOptions => ({
    params: { [constants.ZSTD_c_compressionLevel]: levels.zstdLevel, [constants.ZSTD_c_checksumFlag]: 1 },
    pledgedSrcSize: bytes,
    chunkSize: outputBytes(bytes),
  })
  return {
    suffix: '.zst',
    inPlaceBytesMax: COMPRESSED_BYTES_MAX,
    compress: (record) => zstdCompressSync(record, optionsFor(record.length)),
    stream: (bytes) => createZstdCompress(optionsFor(bytes)),
  }
}

/** The output buffer to begin with. The default of 16 KiB makes a request record of 600 bytes a third dearer. */
function outputBytes(recordBytes: number): number {
  return Math.max(1_024, Math.min(recordBytes, 16 * 2 ** 10))
}
