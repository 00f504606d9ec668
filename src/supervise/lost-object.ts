// What a share has lost with a node, as an object of the engine: names of files, and a filter of captures.
//
//   length of head u32 | { safe: [file …], gone: [file …] } | bytes of the filter, zstd

import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import type { Objects } from '../engine/index.ts'

const LENGTH_BYTES = 4
const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)
/** Mostly zeros: they take next to nothing. */
const QUICK = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

export interface LostFiles {
  /** On the shelf. */
  readonly safe: readonly string[]
  /** Nowhere. */
  readonly gone: readonly string[]
}

export async function storeLost(objects: Objects, name: string, files: LostFiles, filter: Uint8Array): Promise<void> {
  const text = Buffer.from(JSON.stringify(files))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(text.length)
  await objects.put(name, Buffer.concat([length, text, await compress(filter, QUICK)]))
}

export async function loadLost(
  objects: Objects,
  name: string,
): Promise<{ readonly files: LostFiles; readonly filter: () => Promise<Uint8Array> }> {
  const bytes = Buffer.concat(await Array.fromAsync(objects.get(name)))
  const end = LENGTH_BYTES + bytes.readUInt32LE(0)
  const files = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, end)) as LostFiles
  return { files, filter: () => decompress(bytes.subarray(end)) }
}
