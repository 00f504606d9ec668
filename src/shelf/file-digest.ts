// SHA-256 of a file, whole and part by part, in one pass and in bounded memory.

import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { diskFault } from '../base/index.ts'

/** Read at once: a millisecond of hashing, so that whoever shares the thread is not kept waiting. */
const READ_BYTES = 2 ** 20

export interface FileDigest {
  readonly bytes: number
  /** 64 hexadecimal digits. */
  readonly sha256: string
  /** Of each part; one where the file is not longer than a part. */
  readonly parts: readonly Buffer[]
}

/** `partBytesOf` says how long parts are in a file of this length. */
export async function digestFile(
  path: string,
  partBytesOf: (bytes: number) => number,
  signal: AbortSignal,
): Promise<FileDigest> {
  try {
    const handle = await open(path, 'r')
    try {
      const { size } = await handle.stat()
      const partBytes = partBytesOf(size)
      const isOnePart = size <= partBytes
      const whole = createHash('sha256')
      const parts: Buffer[] = []
      const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, Math.max(1, size)))
      let part = createHash('sha256')
      let inPart = 0
      let at = 0
      while (at < size) {
        signal.throwIfAborted()
        const wanted = Math.min(buffer.length, size - at, partBytes - inPart)
        const { bytesRead } = await handle.read(buffer, 0, wanted, at)
        if (bytesRead === 0) throw new Error(`it ends at byte ${at} of ${size}`)
        const piece = buffer.subarray(0, bytesRead)
        whole.update(piece)
        if (!isOnePart) part.update(piece)
        at += bytesRead
        inPart += bytesRead
        if (!isOnePart && (inPart === partBytes || at === size)) {
          parts.push(part.digest())
          part = createHash('sha256')
          inPart = 0
        }
      }
      const digest = whole.digest()
      return { bytes: size, sha256: digest.toString('hex'), parts: isOnePart ? [digest] : parts }
    } finally {
      await handle.close()
    }
  } catch (cause) {
    signal.throwIfAborted()
    throw diskFault(`reading ${path}`, cause)
  }
}
