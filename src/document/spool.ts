// Where bodies too large for memory lie while they are needed: nameless files in one directory.
//
// A file loses its name as soon as it is open, so nothing is left behind by a crash and nothing of a
// URL ever reaches the file system. Files given back are used again, because opening one costs as much as
// writing a hundred kilobytes into it. Writing is synchronous: it lands in the page cache (~20 µs for
// 64 KiB), keeps pieces in order without a queue, and only bodies above `memoryMax` pay for it.

import { closeSync, constants, ftruncateSync, mkdirSync, openSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { assert, diskFault } from '../base/index.ts'

/** Names tried before a directory full of left-overs of our own process id counts as broken. */
const NAMES_MAX = 1_000

/** Files kept open for the next bodies; as many large ones are seldom under way at once. */
const IDLE_FILES_MAX = 32

export class Spool {
  readonly #directory: string
  /** A body up to this many bytes stays in memory. */
  readonly memoryMax: number
  #fileCount = 0
  /** Files without a user, empty. */
  readonly #idle: number[] = []
  #isClosed = false

  /** The directory is made when it is first needed; its parent must exist. */
  constructor(directory: string, memoryMax: number) {
    assert(memoryMax >= 0, `a spool keeps ${memoryMax} bytes in memory`)
    this.#directory = directory
    this.memoryMax = memoryMax
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
