// A shelf that is a directory: on another disk, or shared by many machines.
//
//    copy ─▶ .name.part ─ sync ─ read back, digest compared ─▶ rename ─▶ name ─ sync of the folder
//
// The directory itself is never made: where a disk is not mounted, its mount point would be filled in its stead.

import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { diskFault, Fault } from '../base/index.ts'
import { moveDurably, syncDirectory } from '../disk/index.ts'
import { digestFile } from './file-digest.ts'
import type { Putting, Shelf } from './shelf.ts'

const COPY_BYTES = 2 ** 20

export class DirectoryShelf implements Shelf {
  readonly #root: string
  readonly #folder: string
  readonly where: string

  /** `folder` is made inside of `root`, which must be there. */
  constructor(root: string, folder: string) {
    this.#root = root
    this.#folder = folder
    this.where = `${pathToFileURL(join(root, folder)).href.replace(/\/$/, '')}/`
  }

  async put(name: string, path: string, putting: Putting): Promise<{ bytes: number; sha256: string }> {
    await this.#assertThere()
    const target = join(this.#root, this.#folder, name)
    const temporary = join(dirname(target), `.${basename(target)}.part`)
    const same = await this.#sameThere(path, target, putting)
    if (same !== null) return same
    try {
      await this.#makeFolders(dirname(name))
      const copied = await copy(path, temporary, putting)
      const there = await digestFile(temporary, (bytes) => bytes, putting.signal)
      if (there.sha256 !== copied.sha256 || there.bytes !== copied.bytes) {
        throw new Fault('SHELF_DIFFERS', `${temporary} does not hold what was written to it; the disk there may be bad`)
      }
      await moveDurably(temporary, target)
      return copied
    } catch (cause) {
      await rm(temporary, { force: true }).catch(() => {})
      putting.signal.throwIfAborted()
      throw diskFault(`copying to ${target}`, cause)
    }
  }

  async has(name: string): Promise<boolean> {
    await this.#assertThere()
    const target = join(this.#root, this.#folder, name)
    try {
      return (await stat(target)).isFile()
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return false
      throw diskFault(`looking for ${target}`, cause)
    }
  }

  close(): void {}

  async #assertThere(): Promise<void> {
    try {
      if ((await stat(this.#root)).isDirectory()) return
    } catch (cause) {
      throw new Fault('SHELF_UNREACHABLE', `${this.#root} is not there; is it mounted? Make it if it is new`, cause)
    }
    throw new Fault('SHELF_REFUSED', `${this.#root} is not a directory`)
  }

  /** What an earlier run had copied and not noted. */
  async #sameThere(
    path: string,
    target: string,
    { signal }: Putting,
  ): Promise<{ bytes: number; sha256: string } | null> {
    const there = await stat(target).catch(() => null)
    if (there === null) return null
    const here = await stat(path).catch((cause: unknown) => {
      throw diskFault(`reading ${path}`, cause)
    })
    if (here.size !== there.size) return null
    const [own, other] = [
      await digestFile(path, (bytes) => bytes, signal),
      await digestFile(target, (bytes) => bytes, signal),
    ]
    return own.sha256 === other.sha256 ? { bytes: own.bytes, sha256: own.sha256 } : null
  }

  /** Durably: each new folder by the one above it. */
  async #makeFolders(below: string): Promise<void> {
    let folder = this.#root
    for (const part of [...this.#folder.split('/'), ...below.split('/')]) {
      if (part === '' || part === '.') continue
      const above = folder
      folder = join(folder, part)
      if ((await stat(folder).catch(() => null)) !== null) continue
      await mkdir(folder, { recursive: true })
      await syncDirectory(above)
    }
  }
}

/** Synced when it resolves. */
async function copy(
  from: string,
  to: string,
  { signal, onBytes }: Putting,
): Promise<{ bytes: number; sha256: string }> {
  let source: FileHandle | null = null
  const target = await open(to, 'w')
  try {
    source = await open(from, 'r')
    const digest = createHash('sha256')
    const buffer = Buffer.allocUnsafe(COPY_BYTES)
    let at = 0
    for (;;) {
      signal.throwIfAborted()
      const { bytesRead } = await source.read(buffer, 0, buffer.length, at)
      if (bytesRead === 0) break
      const piece = buffer.subarray(0, bytesRead)
      digest.update(piece)
      // Goes on where a disk takes less than it is given.
      await target.writeFile(piece)
      at += bytesRead
      onBytes(bytesRead)
    }
    await target.sync()
    return { bytes: at, sha256: digest.digest('hex') }
  } finally {
    await source?.close()
    await target.close()
  }
}
