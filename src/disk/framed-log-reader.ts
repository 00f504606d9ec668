// Reads a file in windows, for whoever wants many small pieces in order: two system calls for each
// frame of a log would cost more than all its checks.

import type { FileHandle } from 'node:fs/promises'

const READ_AHEAD_BYTES = 2 ** 20

/** A file as long as it was when it was opened. A window is never written to again once it is filled. */
export class WindowReader {
  readonly path: string
  readonly size: number
  readonly #handle: FileHandle
  #window: Buffer = Buffer.alloc(0)
  #windowAt = 0

  constructor(path: string, handle: FileHandle, size: number) {
    this.path = path
    this.size = size
    this.#handle = handle
  }

  /** Fewer bytes than asked for only at the end. What is given out stays as it is. */
  async readAt(at: number, bytes: number): Promise<Buffer> {
    const count = Math.max(0, Math.min(bytes, this.size - at))
    const from = at - this.#windowAt
    if (from < 0 || from + count > this.#window.length) {
      this.#window = await this.#read(at, Math.min(Math.max(count, READ_AHEAD_BYTES), this.size - at))
      this.#windowAt = at
      return this.#window.subarray(0, count)
    }
    return this.#window.subarray(from, from + count)
  }

  async #read(at: number, bytes: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafeSlow(Math.max(0, bytes))
    let filled = 0
    while (filled < buffer.length) {
      const { bytesRead } = await this.#handle.read(buffer, filled, buffer.length - filled, at + filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return buffer.subarray(0, filled)
  }
}
