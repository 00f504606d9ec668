// A file of lines that somebody else appends to, read up to what is committed of it: in long stretches, never line by line.

import { type FileHandle, open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { diskFault, Fault } from '../base/index.ts'
import type { MergedFile } from './merged-file.ts'

export interface LineSource {
  /** By which the cursor remembers it: the same wherever the crawl is moved to. */
  readonly name: string
  readonly path: string
  /** Where an edition lies until it is given the file's own name; for files of which new editions are written. */
  readonly editionPath?: (edition: number) => string
}

/** What is committed of a source. Its lines never change within an edition; 0 is the first. */
export interface Committed {
  readonly length: number
  readonly edition: number
}

const TAIL_BYTES = 1024
const NEWLINE = 0x0a

export class SourceReader {
  readonly edition: number
  readonly #source: LineSource
  readonly #handle: FileHandle

  private constructor(source: LineSource, edition: number, handle: FileHandle) {
    this.#source = source
    this.edition = edition
    this.#handle = handle
  }

  /** Null where there is no such file. */
  static async open(source: LineSource, edition: number): Promise<SourceReader | null> {
    // In this order: an edition that is not under its first name has been given the other.
    for (const path of [source.editionPath?.(edition), source.path]) {
      if (path === undefined) continue
      try {
        return new SourceReader(source, edition, await open(path, 'r'))
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw diskFault(`opening ${path}`, cause)
      }
    }
    return null
  }

  /** A checksum of the bytes before `length`; null when the file is shorter. */
  async tailBefore(length: number): Promise<number | null> {
    const bytes = Math.min(length, TAIL_BYTES)
    const buffer = Buffer.allocUnsafe(bytes)
    for (let filled = 0; filled < bytes;) {
      const read = await this.#read(buffer, filled, bytes - filled, length - bytes + filled)
      if (read === 0) return null
      filled += read
    }
    return crc32(buffer)
  }

  /** Appends what stands between two ends of lines; returns the checksum before the second. A fault where that is none. */
  async copy(from: number, to: number, into: MergedFile, buffer: Buffer): Promise<number> {
    let read = 0
    for (let at = from; at < to; at += read) {
      read = await this.#read(buffer, 0, Math.min(buffer.length, to - at), at)
      if (read === 0) throw this.#misfit(`it ends at byte ${at}, but ${to} were committed`)
      await into.append(buffer.subarray(0, read))
    }
    if (buffer[read - 1] !== NEWLINE) throw this.#misfit(`no line ends at byte ${to}, up to which it was committed`)
    const tail = read < TAIL_BYTES ? await this.tailBefore(to) : crc32(buffer.subarray(read - TAIL_BYTES, read))
    if (tail === null) throw this.#misfit(`it was cut while it was read`)
    return tail
  }

  close(): Promise<void> {
    return this.#handle.close()
  }

  async #read(buffer: Buffer, offset: number, bytes: number, position: number): Promise<number> {
    try {
      return (await this.#handle.read(buffer, offset, bytes, position)).bytesRead
    } catch (cause) {
      throw diskFault(`reading ${this.#source.path}`, cause)
    }
  }

  #misfit(what: string): Fault {
    return misfit(this.#source, what)
  }
}

/** A source that is not as it was said to be. */
export function misfit(source: LineSource, what: string): Fault {
  return new Fault(
    'LEDGER_CORRUPT',
    `${source.path} is not as it was written: ${what}; it was changed from outside. Restore it from a copy, or see what \`portolan repair\` can save`,
  )
}
