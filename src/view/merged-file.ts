// The merged file, open at its end. Unlike an AppendFile it holds no bytes back: what is copied goes from one file to the
// other through one buffer, which halves what a line costs.

import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { diskFault } from '../base/index.ts'
import { syncDirectory } from '../disk/index.ts'

export class MergedFile {
  readonly #path: string
  readonly #handle: FileHandle
  #length: number

  private constructor(path: string, handle: FileHandle, length: number) {
    this.#path = path
    this.#handle = handle
    this.#length = length
  }

  /** Begins an empty one. */
  static create(path: string): Promise<MergedFile> {
    return MergedFile.#open(path, 'w', 0)
  }

  /** Goes on at this length; the file is there and at least as long. */
  static openAt(path: string, length: number): Promise<MergedFile> {
    return MergedFile.#open(path, 'r+', length)
  }

  static async #open(path: string, flags: 'w' | 'r+', length: number): Promise<MergedFile> {
    try {
      const handle = await open(path, flags)
      try {
        if ((await handle.stat()).size > length) {
          await handle.truncate(length)
          await handle.datasync()
        }
        await syncDirectory(dirname(path))
        return new MergedFile(path, handle, length)
      } catch (cause) {
        await handle.close()
        throw cause
      }
    } catch (cause) {
      throw diskFault(`opening ${path}`, cause)
    }
  }

  get length(): number {
    return this.#length
  }

  /** Not while another append is on its way. */
  async append(bytes: Uint8Array): Promise<void> {
    try {
      for (let at = 0; at < bytes.length;) {
        const { bytesWritten } = await this.#handle.write(bytes, at, bytes.length - at, this.#length)
        if (bytesWritten === 0) throw new Error('the disk took no bytes')
        at += bytesWritten
        this.#length += bytesWritten
      }
    } catch (cause) {
      throw diskFault(`writing ${this.#path}`, cause)
    }
  }

  /** After a fault here the file must be closed: the system may have dropped what it could not write. */
  async sync(): Promise<void> {
    try {
      await this.#handle.datasync()
    } catch (cause) {
      throw diskFault(`writing ${this.#path}`, cause)
    }
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}
