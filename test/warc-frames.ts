// Cuts a compressed WARC into its gzip members or zstd frames, by hand: a library would run them together.

import { crc32, inflateRawSync, zstdDecompressSync } from 'node:zlib'

/** A stretch of a file that decompresses on its own. */
export interface Frame {
  readonly offset: number
  readonly length: number
  readonly content: Buffer
}

const GZIP_HEADER_CRC = 2
const GZIP_EXTRA = 4
const GZIP_NAME = 8
const GZIP_COMMENT = 16

/** Throws on anything that is not a run of whole gzip members. */
export function gzipMembers(bytes: Buffer): Frame[] {
  const members: Frame[] = []
  for (let offset = 0; offset < bytes.length;) {
    if (bytes.readUInt16BE(offset) !== 0x1f8b) throw new Error(`no gzip member at byte ${offset}`)
    const flags = bytes[offset + 3] ?? 0
    let at = offset + 10
    if ((flags & GZIP_EXTRA) !== 0) at += 2 + bytes.readUInt16LE(at)
    if ((flags & GZIP_NAME) !== 0) at = bytes.indexOf(0, at) + 1
    if ((flags & GZIP_COMMENT) !== 0) at = bytes.indexOf(0, at) + 1
    if ((flags & GZIP_HEADER_CRC) !== 0) at += 2
    const { buffer: content, engine } = inflateRawSync(bytes.subarray(at), { info: true }) as unknown as {
      buffer: Buffer
      engine: { bytesWritten: number }
    }
    at += engine.bytesWritten
    if (bytes.readUInt32LE(at) !== crc32(content))
      throw new Error(`wrong checksum in the gzip member at byte ${offset}`)
    if (bytes.readUInt32LE(at + 4) !== content.length)
      throw new Error(`wrong length in the gzip member at byte ${offset}`)
    at += 8
    members.push({ offset, length: at - offset, content })
    offset = at
  }
  return members
}

/** Throws on anything that is not a run of zstd frames as `.warc.zst` wants them: with size and checksum. */
export function zstdFrames(bytes: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let offset = 0; offset < bytes.length;) {
    if (bytes.readUInt32LE(offset) !== 0xfd2fb528) throw new Error(`no zstd frame at byte ${offset}`)
    const descriptor = bytes[offset + 4] ?? 0
    const isSingleSegment = ((descriptor >> 5) & 1) === 1
    const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0
    const hasChecksum = ((descriptor >> 2) & 1) === 1
    if (sizeBytes === 0 || !hasChecksum)
      throw new Error(`the zstd frame at byte ${offset} lacks its size or its checksum`)
    let at = offset + 5 + (isSingleSegment ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0) + sizeBytes
    for (let isLast = false; !isLast;) {
      const header = bytes.readUIntLE(at, 3)
      isLast = (header & 1) === 1
      at += 3 + (((header >> 1) & 3) === 1 ? 1 : header >> 3)
    }
    at += 4
    frames.push({ offset, length: at - offset, content: zstdDecompressSync(bytes.subarray(offset, at)) })
    offset = at
  }
  return frames
}
