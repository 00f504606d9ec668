// Where bodies too large for memory lie while they are needed: nameless files in one directory.
//
// A file loses its name as soon as it is open, so nothing is left behind by a crash and nothing of a
// URL ever reaches the file system. Writing is synchronous: it lands in the page cache (~20 µs for
// 64 KiB), keeps pieces in order without a queue, and only bodies above `memoryMax` pay for it.

import { constants, mkdirSync, openSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { assert, diskFault } from '../base/index.ts'

/** Names tried before a directory full of left-overs of our own process id counts as broken. */
const NAMES_MAX = 1_000

export class Spool {
  readonly #directory: string
  /** A body up to this many bytes stays in memory. */
  readonly memoryMax: number
  #fileCount = 0

  /** The directory is made when it is first needed; its parent must exist. */
  constructor(directory: string, memoryMax: number) {
    assert(memoryMax >= 0, `a spool keeps ${memoryMax} bytes in memory`)
    this.#directory = directory
    this.memoryMax = memoryMax
  }

  /** A descriptor open for reading and writing, of a new file without a name. Throws a Fault when the disk refuses. */
  openFile(): number {
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

  /** Not recursively: Node then never returns from places like /proc, where a directory cannot be made. */
  #makeDirectory(): void {
    try {
      mkdirSync(this.#directory)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
    }
  }
}
