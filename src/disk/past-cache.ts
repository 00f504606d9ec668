// Files written, and read, past the system's page cache: for bytes that this process will not read again, and that are many.
//
//      position   0        4096      8192      12288      16384
//    a write         |#####|#########|#########|##########|###      |
//                     lead  ──── whole blocks: past it ──── tail
//                     └───────── through the cache ─────────┘
//
// A write through the cache copies every byte into memory that was just given out for it, and soon takes that memory from what is
// read (docs/decisions/0054-archives-past-the-cache.md). Past it the disk takes the bytes from where they stand, in whole blocks, if
// those stand at whole blocks in memory too; WebAssembly's memory is the only one of which Node promises that.
//
// Always true: what is not a whole block, is too little to be worth it, stands in other memory, or is refused by the file system goes
// through the cache, to the same file: the kernel keeps the two in step, and one sync serves both.

import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { assert, newAlignedMemory } from '../base/index.ts'
import type { AppendHandle } from './append-handle.ts'

/** What disks and file systems of today ask for at most. A power of two. */
export const BLOCK_BYTES = 4_096
/** Less is not worth a call of its own, which waits for the disk. A guess: only writes of 1 MiB were measured. */
const WORTH_IT_BYTES = 2 ** 16

/** What file systems say that cannot write so. */
const REFUSALS: ReadonlySet<string> = new Set(['EINVAL', 'EOPNOTSUPP', 'ENOTSUP'])

/** Buffers that may be written past the cache. There are no more than so many; who gets none takes other memory. */
export class BlockBuffers {
  /** Of each, besides a block: whatever place in a block it is filled from, so many fit. */
  readonly bytes: number
  readonly #memory: ArrayBuffer
  readonly #free: Buffer[] = []

  constructor(count: number, bytes: number) {
    this.bytes = bytes
    const each = Math.ceil(bytes / BLOCK_BYTES + 1) * BLOCK_BYTES
    this.#memory = newAlignedMemory(count * each)
    for (let i = count - 1; i >= 0; i--) this.#free.push(Buffer.from(this.#memory, i * each, each))
  }

  take(): Buffer | null {
    return this.#free.pop() ?? null
  }

  /** Nobody writes from it or to it any more. Says whether it was one of these. */
  giveBack(buffer: Buffer): boolean {
    if (!this.holds(buffer)) return false
    assert(!this.#free.includes(buffer), 'a buffer was given back twice')
    this.#free.push(buffer)
    return true
  }

  holds(buffer: Uint8Array): boolean {
    return buffer.buffer === this.#memory
  }
}

/** What of a handle past the cache is used. */
type DirectHandle = Pick<FileHandle, 'write' | 'close'>
/** Null where the file system cannot. */
export type OpenDirect = (path: string) => Promise<DirectHandle | null>

/** The file behind a handle that goes through the cache, opened a second time. Where that is refused, the handle as it was. */
export async function pastCache(
  path: string,
  handle: AppendHandle,
  buffers: BlockBuffers,
  openDirect: OpenDirect = openPastCache,
): Promise<AppendHandle> {
  const direct = await openDirect(path)
  return direct === null ? handle : new PastCache(handle, direct, buffers)
}

async function openPastCache(path: string): Promise<DirectHandle | null> {
  const { O_DIRECT, O_WRONLY } = constants
  // Only Linux has it.
  if (O_DIRECT === undefined) return null
  try {
    return await open(path, O_WRONLY | O_DIRECT)
  } catch {
    // The file is open already, so what is refused is the way.
    return null
  }
}

/**
 * Reads a file from its beginning into one of these buffers, past the cache: how many bytes it has. Null where that cannot be done: it has
 * more than fit, or the file system does not read so; then it is to be read in another way.
 */
export async function readPastCache(path: string, buffer: Buffer): Promise<number | null> {
  const { O_DIRECT, O_RDONLY } = constants
  if (O_DIRECT === undefined) return null
  let handle: FileHandle | null = null
  try {
    handle = await open(path, O_RDONLY | O_DIRECT)
    const room = buffer.length & -BLOCK_BYTES
    let length = 0
    while (length < room) {
      const { bytesRead } = await handle.read(buffer, length, room - length, length)
      length += bytesRead
      // What ends within a block ends the file.
      if (bytesRead === 0 || length % BLOCK_BYTES !== 0) return length
    }
    return null
  } catch (cause) {
    if (REFUSALS.has((cause as NodeJS.ErrnoException).code ?? '')) return null
    throw cause
  } finally {
    await handle?.close()
  }
}

class PastCache implements AppendHandle {
  readonly #cached: AppendHandle
  /** Null once the file system has refused to write so. */
  #direct: DirectHandle | null
  readonly #buffers: BlockBuffers
  readonly write: AppendHandle['write']

  constructor(cached: AppendHandle, direct: DirectHandle, buffers: BlockBuffers) {
    this.#cached = cached
    this.#direct = direct
    this.#buffers = buffers
    // Of the forms that the platform's has, the one that is used.
    this.write = this.#write.bind(this) as unknown as AppendHandle['write']
  }

  /** One write of as many of the bytes as go the same way: like the system's, it may take fewer than are given. */
  async #write(buffer: Buffer, offset: number, length: number, position: number): Promise<{ bytesWritten: number }> {
    const lead = -position & (BLOCK_BYTES - 1)
    const whole = length > lead ? (length - lead) & -BLOCK_BYTES : 0
    const isInStep = ((offset + lead) & (BLOCK_BYTES - 1)) === 0 && this.#buffers.holds(buffer)
    if (this.#direct === null || whole < WORTH_IT_BYTES || !isInStep) {
      return await this.#cached.write(buffer, offset, length, position)
    }
    if (lead > 0) return await this.#cached.write(buffer, offset, lead, position)
    try {
      return await this.#direct.write(buffer, offset, whole, position)
    } catch (cause) {
      if (!REFUSALS.has((cause as NodeJS.ErrnoException).code ?? '')) throw cause
      // It was opened so and cannot be written so: some file systems say it only now.
      const refused = this.#direct
      this.#direct = null
      await refused.close().catch(() => undefined)
      return await this.#cached.write(buffer, offset, length, position)
    }
  }

  datasync(): Promise<void> {
    return this.#cached.datasync()
  }

  truncate(length?: number): Promise<void> {
    return this.#cached.truncate(length)
  }

  get stat(): AppendHandle['stat'] {
    return this.#cached.stat.bind(this.#cached)
  }

  async close(): Promise<void> {
    try {
      await this.#direct?.close()
    } finally {
      await this.#cached.close()
    }
  }
}
