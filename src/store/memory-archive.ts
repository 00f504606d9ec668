// The plain twins of the WARC writer: one uncompressed WARC in memory, and nothing at all.

import { assert } from '../base/index.ts'
import type { Document } from '../document/index.ts'
import type { Archive, ArchiveFacts, OnPlace } from './archive.ts'
import type { WarcLocation } from './records.ts'
import { planRecords, planWarcinfo, recordPieces, type RecordSettings } from './warc-record.ts'

/** Keeps everything in memory, for tests. `bytes()` is a whole WARC file. */
export class MemoryArchive implements Archive {
  /** The name its locations bear; there is no such file. */
  static readonly FILE = 'archive/memory.warc'
  readonly #settings: RecordSettings
  readonly #pieces: Buffer[] = []
  #length = 0
  #isClosed = false

  constructor(uuid: () => string) {
    this.#settings = { uuid, requests: true, metadata: true, blockDigest: true }
    this.#append(recordPieces(planWarcinfo({}, 'memory.warc', 0, this.#settings)))
  }

  write(document: Document, facts: ArchiveFacts, onPlace?: OnPlace): Promise<WarcLocation> {
    assert(!this.#isClosed, 'the archive was used after it was closed')
    const offset = this.#length
    const [first, ...others] = planRecords(document, facts, this.#settings)
    assert(first !== undefined, 'a document has at least one record')
    this.#append(recordPieces(first))
    const length = this.#length - offset
    for (const record of others) this.#append(recordPieces(record))
    const location = { file: MemoryArchive.FILE, offset, length }
    onPlace?.(location)
    return Promise.resolve(location)
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces)
  }

  state(): null {
    return null
  }

  sync(): Promise<void> {
    return Promise.resolve()
  }

  committed(): Promise<void> {
    return Promise.resolve()
  }

  close(): Promise<void> {
    this.#isClosed = true
    return Promise.resolve()
  }

  #append(pieces: Iterable<Uint8Array>): void {
    for (const piece of pieces) {
      this.#pieces.push(Buffer.from(piece))
      this.#length += piece.length
    }
  }
}

/** Keeps nothing: `--warc off`. */
export class NullArchive implements Archive {
  write(): Promise<null> {
    return Promise.resolve(null)
  }

  state(): null {
    return null
  }

  sync(): Promise<void> {
    return Promise.resolve()
  }

  committed(): Promise<void> {
    return Promise.resolve()
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
