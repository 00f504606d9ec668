// Where bodies lie while they are needed: small ones in memory that they share, large ones in memory of their own while all of
// these together have room, the others in nameless files in one directory.
//
//     up to memoryMax               in memory, always
//     above, and all such together
//     up to sharedMax               in memory: pages of today's web are often larger than 64 KiB
//     beyond                        in a file
//
// Memory is cut from slabs, because the engine pays for every buffer of its own, when it is made and when it
// is collected (3 µs per page). A slab whose last body is released is cut anew: bodies come and go in the order they were
// fetched, so a few slabs serve a whole crawl. Left to the collector, each 64 MB of them had it walk all that lives.
// Memory of large bodies comes back as well, by its size. So nobody may look at bytes of a body that is released: they are
// another's then.
//
// A file loses its name as soon as it is open, so nothing is left behind by a crash and nothing of a
// URL ever reaches the file system. Files given back are used again, because opening one costs as much as
// writing a hundred kilobytes into it. Writing is synchronous: it lands in the page cache (~20 µs for
// 64 KiB), keeps pieces in order without a queue, and only bodies that find no room in memory pay for it; they are read back
// whenever somebody looks at them.

import { closeSync, constants, ftruncateSync, mkdirSync, openSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { assert, diskFault } from '../base/index.ts'

/** Names tried before a directory full of left-overs of our own process id counts as broken. */
const NAMES_MAX = 1_000

/** Files kept open for the next bodies; as many large ones are seldom under way at once. */
const IDLE_FILES_MAX = 32

const SLAB_BYTES = 256 * 1024
/** What is larger would leave too much of a slab unused. */
const SLAB_PIECE_BYTES_MAX = SLAB_BYTES / 8

/** Slabs kept for the next bodies. */
const IDLE_SLABS_MAX = 16

/** Memory of a large body is a power of two, from here on: what one has used fits the next. */
const OWN_BYTES_MIN = 64 * 1024
/** Larger ones are seldom, and one of them would fill what is kept, for nobody. */
const KEPT_OWN_BYTES_MAX = 2 ** 19
/** Of such memory so much is kept for the next bodies. */
const IDLE_OWN_BYTES_MAX = 8 * 2 ** 20

/** Memory that some bodies share. */
export interface Slab {
  readonly bytes: Buffer
  used: number
  /** Pieces of it that somebody has; the slab that is being cut counts as one. */
  holders: number
}

export class Spool {
  readonly #directory: string
  /** A body up to this many bytes stays in memory. */
  readonly memoryMax: number
  readonly #sharedMax: number
  /** What bodies above memoryMax take of sharedMax. */
  #shared = 0
  #fileCount = 0
  /** Files without a user, empty. */
  readonly #idle: number[] = []
  #isClosed = false
  #slab: Slab | null = null
  readonly #idleSlabs: Slab[] = []
  /** By size. */
  readonly #idleOwn = new Map<number, Buffer[]>()
  #idleOwnBytes = 0

  /** The directory is made when it is first needed; its parent must exist. */
  constructor(directory: string, memoryMax: number, sharedMax = 0) {
    assert(memoryMax >= 0, `a spool keeps ${memoryMax} bytes in memory`)
    this.#directory = directory
    this.memoryMax = memoryMax
    this.#sharedMax = sharedMax
  }

  /** Whether a body above memoryMax may have so many bytes more in memory: then they are its own until it gives them back. */
  reserve(bytes: number): boolean {
    if (this.#shared + bytes > this.#sharedMax) return false
    this.#shared += bytes
    return true
  }

  unreserve(bytes: number): void {
    this.#shared -= bytes
    assert(this.#shared >= 0, 'memory of bodies is given back twice')
  }

  /** Memory of its own for a piece that no slab takes: so many bytes or more. */
  takeOwn(bytes: number): Buffer {
    const size = Math.max(OWN_BYTES_MIN, 2 ** Math.ceil(Math.log2(bytes)))
    const idle = this.#idleOwn.get(size)?.pop()
    if (idle === undefined) return Buffer.allocUnsafeSlow(size)
    this.#idleOwnBytes -= size
    return idle
  }

  putOwnBack(memory: Buffer): void {
    const size = memory.length
    if (this.#isClosed || size > KEPT_OWN_BYTES_MAX || this.#idleOwnBytes + size > IDLE_OWN_BYTES_MAX) return
    this.#idleOwnBytes += size
    const idle = this.#idleOwn.get(size)
    if (idle === undefined) this.#idleOwn.set(size, [memory])
    else idle.push(memory)
  }

  /** A slab with room for a piece of so many bytes, to be cut at once; null for one that is better off with memory of its own. */
  slabFor(bytes: number): Slab | null {
    if (bytes > SLAB_PIECE_BYTES_MAX) return null
    let slab = this.#slab
    if (slab === null || slab.used + bytes > SLAB_BYTES) {
      if (slab !== null) this.putBack(slab)
      slab = this.#idleSlabs.pop() ?? { bytes: Buffer.allocUnsafeSlow(SLAB_BYTES), used: 0, holders: 0 }
      slab.holders = 1
      slab.used = 0
      this.#slab = slab
    }
    slab.holders++
    return slab
  }

  /** Whoever had a piece of it is done with that. */
  putBack(slab: Slab): void {
    assert(slab.holders > 0, 'a piece of memory is put back twice')
    if (--slab.holders === 0 && this.#idleSlabs.length < IDLE_SLABS_MAX && !this.#isClosed) this.#idleSlabs.push(slab)
  }

  /** A descriptor open for reading and writing, of a new file without a name. Throws a Fault when the disk refuses. */
  openFile(): number {
    const idle = this.#idle.pop()
    if (idle !== undefined) return idle
    try {
      if (this.#fileCount === 0) this.#makeDirectory()
      for (let tries = 0; ; tries++) {
        const path = join(this.#directory, `body-${process.pid}-${threadId}-${this.#fileCount++}`)
        try {
          const descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)
          unlinkSync(path)
          return descriptor
        } catch (cause) {
          // A file of this name is left from a crash between the two calls above, when we had the same process id.
          if ((cause as NodeJS.ErrnoException).code !== 'EEXIST' || tries === NAMES_MAX) throw cause
        }
      }
    } catch (cause) {
      throw diskFault(`opening a temporary file in ${this.#directory}`, cause)
    }
  }

  /** Takes a file back. Its bytes are let go of at once; the file itself is kept for the next body. */
  giveBack(descriptor: number): void {
    if (this.#idle.length >= IDLE_FILES_MAX || this.#isClosed) return closeSync(descriptor)
    try {
      ftruncateSync(descriptor)
      this.#idle.push(descriptor)
    } catch {
      // A disk that cannot even shorten a file: not worth keeping.
      closeSync(descriptor)
    }
  }

  /** Closes the files without a user; those in use are closed when they are given back. */
  close(): void {
    this.#isClosed = true
    this.#slab = null
    this.#idleSlabs.length = 0
    this.#idleOwn.clear()
    this.#idleOwnBytes = 0
    for (const descriptor of this.#idle.splice(0)) closeSync(descriptor)
  }

  /** Not recursively: Node then never returns from places like /proc, where a directory cannot be made. */
  #makeDirectory(): void {
    try {
      mkdirSync(this.#directory)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
    }
  }
}
