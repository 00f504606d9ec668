// LevelDB's logs and manifests: records, cut into pieces that do not reach over blocks of 32 KiB.
//
//   checksum (4)  length (2)  kind (1)  bytes         kind: a whole record, its first piece, one in the middle, its last
//
// Read as LevelDB reads what it checks: behind a piece that is damaged the rest of its block does not count, for its length may be
// what is wrong; a piece that the file ends in was being written when the process died.

import { maskedCrc32c } from './crc32c.ts'

const BLOCK_BYTES = 32_768
const HEAD_BYTES = 7
const FULL = 1
const FIRST = 2
const MIDDLE = 3
const LAST = 4

/** Whole records; `damaged` is told what is wrong between them. */
export function* logRecords(bytes: Buffer, damaged: (what: string) => void): Generator<Buffer> {
  let pieces: Buffer[] | null = null
  for (let at = 0; at + HEAD_BYTES <= bytes.length;) {
    const blockEnd = at - (at % BLOCK_BYTES) + BLOCK_BYTES
    if (blockEnd - at < HEAD_BYTES) {
      at = blockEnd
      continue
    }
    const length = bytes.readUInt16LE(at + 4)
    const kind = bytes[at + 6] as number
    const end = at + HEAD_BYTES + length
    if (end > bytes.length && blockEnd >= bytes.length) return
    const complaint = complaintAbout(bytes, at, Math.min(blockEnd, bytes.length), pieces !== null)
    if (complaint !== null) damaged(`${complaint} at byte ${at}`)
    if (complaint === DAMAGED || kind === 0) {
      pieces = null
      at = blockEnd
      continue
    }
    const piece = bytes.subarray(at + HEAD_BYTES, end)
    at = end
    if (kind === FULL) {
      pieces = null
      yield piece
    } else if (kind === FIRST) {
      pieces = [piece]
    } else if (pieces !== null) {
      pieces.push(piece)
      if (kind === MIDDLE) continue
      yield Buffer.concat(pieces)
      pieces = null
    }
  }
}

const DAMAGED = 'a record is damaged'

function complaintAbout(bytes: Buffer, at: number, blockEnd: number, isWithin: boolean): string | null {
  const length = bytes.readUInt16LE(at + 4)
  const kind = bytes[at + 6] as number
  // What a file system may leave behind the end.
  if (kind === 0 && length === 0) return null
  const end = at + HEAD_BYTES + length
  if (end > blockEnd || kind < FULL || kind > LAST || bytes.readUInt32LE(at) !== maskedCrc32c(bytes, at + 6, end))
    return DAMAGED
  const continues = kind === MIDDLE || kind === LAST
  return continues === isWithin ? null : 'a record has lost a part'
}

/** A log of these records. */
export function logOf(records: Iterable<Buffer>): Buffer {
  const parts: Buffer[] = []
  let at = 0
  for (const record of records) {
    for (let done = 0, isFirst = true; isFirst || done < record.length; isFirst = false) {
      const left = BLOCK_BYTES - (at % BLOCK_BYTES)
      if (left < HEAD_BYTES) {
        parts.push(Buffer.alloc(left))
        at += left
      }
      const room = BLOCK_BYTES - (at % BLOCK_BYTES) - HEAD_BYTES
      const length = Math.min(room, record.length - done)
      const isLast = done + length === record.length
      const piece = Buffer.alloc(HEAD_BYTES + length)
      piece.writeUInt16LE(length, 4)
      piece[6] = isFirst ? (isLast ? FULL : FIRST) : isLast ? LAST : MIDDLE
      record.copy(piece, HEAD_BYTES, done, done + length)
      piece.writeUInt32LE(maskedCrc32c(piece, 6), 0)
      parts.push(piece)
      at += piece.length
      done += length
    }
  }
  return Buffer.concat(parts)
}
