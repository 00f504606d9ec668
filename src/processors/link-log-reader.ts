// Reads a link log from its beginning to its end, page by page, in memory bounded by the longest page.
// The format is drawn in link-log.ts.
//
// A log may be read while it is written or after a crash: an unfinished frame at its end is no damage,
// it is simply not there yet. A frame whose parts do not add up is: the reader stops and says where.

import { type FileHandle, open } from 'node:fs/promises'
import { diskFault, Fault } from '../base/index.ts'
import { type CanonicalUrl, type FingerprintKey, hostKeyOf } from '../url/index.ts'
import {
  LINK_LOG_HEAD_BYTES,
  LINK_LOG_MAGIC,
  NAMED_BY_SOURCE,
  NAMED_HERE,
  TARGET_BYTES,
  VARINT_BYTES_MAX,
} from './link-log.ts'

/** Told of every page, then of each host it links to, then of each link to that host. */
export interface LinkVisitor {
  /** `at` is where the page stands in the log, for sourceAt(). */
  page?(source: CanonicalUrl, at: number): void
  host?(host: string, isOwn: boolean, links: number): void
  link?(high: number, low: number): void
  /** Asked after every mebibyte: true ends the reading. */
  isOver?(): boolean
}

const CHUNK_BYTES = 1 << 20
/** Far above what a writer makes; a longer frame is a damaged length. */
const FRAME_BYTES_MAX = 1 << 26

export class LinkLogReader {
  /** The key of the fingerprints. */
  readonly key: FingerprintKey
  readonly #file: FileHandle
  readonly #path: string

  private constructor(file: FileHandle, path: string, key: FingerprintKey) {
    this.#file = file
    this.#path = path
    this.key = key
  }

  /** Null when there is no log, or nothing in it yet. */
  static async open(path: string): Promise<LinkLogReader | null> {
    let file: FileHandle
    try {
      file = await open(path)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw diskFault(`reading ${path}`, cause)
    }
    const head = Buffer.alloc(LINK_LOG_HEAD_BYTES)
    try {
      if ((await readAt(file, path, head, 0, 0)) === LINK_LOG_HEAD_BYTES) {
        if (head.toString('latin1', 0, LINK_LOG_MAGIC.length) !== LINK_LOG_MAGIC) {
          throw new Fault(
            'LEDGER_VERSION',
            `${path} is not a link log, or was written by another version of the format`,
          )
        }
        const key = [head.readUInt32LE(LINK_LOG_MAGIC.length), head.readUInt32LE(LINK_LOG_MAGIC.length + 4)] as const
        return new LinkLogReader(file, path, key)
      }
    } catch (fault) {
      await file.close()
      throw fault
    }
    await file.close()
    return null
  }

  /** Visits all pages in the order they were written. Where the readable part ends, and whether by damage. */
  async scan(visitor: LinkVisitor): Promise<{ end: number; isDamaged: boolean }> {
    let buffer = Buffer.alloc(CHUNK_BYTES)
    // buffer[0, filled) holds the file from `position` on.
    let filled = 0
    let position = LINK_LOG_HEAD_BYTES
    const names = new Map<number, string>()
    for (;;) {
      const bytesRead = await this.#read(buffer, filled, position + filled)
      filled += bytesRead
      let from = 0
      for (;;) {
        const frame = frameAt(buffer, from, filled)
        if (frame === 'damaged') return { end: position + from, isDamaged: true }
        if (frame === null) break
        if (!visitFrame(buffer, frame.start, frame.end, position + from, names, visitor)) {
          return { end: position + from, isDamaged: true }
        }
        from = frame.end
      }
      if (bytesRead === 0 || visitor.isOver?.() === true) return { end: position + from, isDamaged: false }
      buffer.copyWithin(0, from, filled)
      filled -= from
      position += from
      if (filled === buffer.length) buffer = Buffer.concat([buffer], 2 * buffer.length)
    }
  }

  /** The URL of the page that stands at `at`. */
  async sourceAt(at: number): Promise<CanonicalUrl> {
    let buffer = Buffer.alloc(4_096)
    for (;;) {
      const bytesRead = await this.#read(buffer, 0, at)
      const length = readVarint(buffer, skipVarint(buffer, 0))
      const start = skipVarint(buffer, skipVarint(buffer, 0))
      if (start + length <= bytesRead) return buffer.toString('latin1', start, start + length) as CanonicalUrl
      if (bytesRead < buffer.length) throw new Fault('LEDGER_CORRUPT', `${this.#path}: no page at byte ${at}`)
      buffer = Buffer.alloc(2 * buffer.length)
    }
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  #read(buffer: Buffer, offset: number, position: number): Promise<number> {
    return readAt(this.#file, this.#path, buffer, offset, position)
  }
}

/** Fills the buffer from `offset` on with what the file has from `position` on; 0 at its end. */
async function readAt(
  file: FileHandle,
  path: string,
  buffer: Buffer,
  offset: number,
  position: number,
): Promise<number> {
  try {
    return (await file.read(buffer, offset, buffer.length - offset, position)).bytesRead
  } catch (cause) {
    throw diskFault(`reading ${path}`, cause)
  }
}

/** The bounds of the frame that begins at `from`; null when it is not all there. */
function frameAt(buffer: Buffer, from: number, filled: number): { start: number; end: number } | 'damaged' | null {
  const start = skipVarint(buffer, from)
  if (Math.min(start, filled + 1) - from > VARINT_BYTES_MAX) return 'damaged'
  if (start > filled) return null
  const length = readVarint(buffer, from)
  if (length > FRAME_BYTES_MAX) return 'damaged'
  return start + length > filled ? null : { start, end: start + length }
}

/** False when the parts of the frame do not add up. `names` is the host last named for each slot. */
function visitFrame(
  buffer: Buffer,
  start: number,
  end: number,
  at: number,
  names: Map<number, string>,
  visitor: LinkVisitor,
): boolean {
  let position = skipVarint(buffer, start)
  const sourceEnd = position + readVarint(buffer, start)
  if (sourceEnd > end) return false
  const source = buffer.toString('latin1', position, sourceEnd) as CanonicalUrl
  if (!source.includes('://')) return false
  visitor.page?.(source, at)
  const ownHost: string = hostKeyOf(source)
  position = sourceEnd
  while (position < end) {
    if (position + 4 > end) return false
    const slot = buffer.readUInt16LE(position)
    const naming = readVarint(buffer, position + 2)
    const nameStart = skipVarint(buffer, position + 2)
    const nameEnd = nameStart + Math.max(0, naming - NAMED_HERE)
    const targetsStart = skipVarint(buffer, nameEnd)
    if (targetsStart > end) return false
    const links = readVarint(buffer, nameEnd)
    const targetsEnd = targetsStart + links * TARGET_BYTES
    if (targetsEnd > end) return false
    if (naming === NAMED_BY_SOURCE) names.set(slot, ownHost)
    else if (naming >= NAMED_HERE) names.set(slot, buffer.toString('latin1', nameStart, nameEnd))
    const host = names.get(slot)
    if (host === undefined) return false
    visitor.host?.(host, naming === NAMED_BY_SOURCE, links)
    if (visitor.link !== undefined) {
      for (let place = targetsStart; place < targetsEnd; place += TARGET_BYTES) {
        visitor.link(((slot << 16) | buffer.readUInt16LE(place)) >>> 0, buffer.readUInt32LE(place + 2))
      }
    }
    position = targetsEnd
  }
  return true
}

/** Where the number that begins at `at` ends. */
function skipVarint(buffer: Buffer, at: number): number {
  let end = at
  while ((buffer[end] ?? 0) >= 0x80) end++
  return end + 1
}

function readVarint(buffer: Buffer, at: number): number {
  let value = 0
  let factor = 1
  let byte = buffer[at] ?? 0
  while (byte >= 0x80) {
    value += (byte & 0x7f) * factor
    factor *= 0x80
    byte = buffer[++at] ?? 0
  }
  return value + byte * factor
}
