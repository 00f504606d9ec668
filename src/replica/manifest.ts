// A snapshot as objects of the engine: what its manifest says, and bytes packed into objects and back.
//
//   share-3.e5.9f2c01d4.manifest
//     files    pages.jsonl          ▭ ▭ ▭   pieces, of which older ones are those of the snapshot before
//              state/frontier/…ldb  ▭
//     journal  batches that the parts on disk do not hold yet
//
// An object's name has the epoch and a number that nobody draws twice, so no name is ever used again: whoever deletes what he
// no longer needs, however late he is, takes nothing from anybody.

import { createHash, type Hash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import { diskFault, Fault } from '../base/index.ts'
import type { Objects } from '../engine/index.ts'
import { type CrawlIdentity, SEGMENT_FORMAT_VERSION } from '../ledger/index.ts'
import type { ArchiveState } from '../store/index.ts'
import type { States } from './file-tails.ts'

const MANIFEST_FORMAT_VERSION = 1
/** Read, packed and sent at a time: what a snapshot takes of memory, a few times over. */
const CHUNK_BYTES = 2 ** 20
const FRAME_HEAD_BYTES = 8
const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)
const QUICK = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Bytes of a file, as an object. */
export interface Piece {
  readonly object: string
  readonly bytes: number
  /** Of the bytes, unpacked. */
  readonly sha256: string
}

export interface ManifestFile {
  readonly path: string
  readonly bytes: number
  /** Of a file that only grows; null of others. */
  readonly edition: number | null
  readonly pieces: readonly Piece[]
}

export interface Manifest {
  /** Of the manifest and of the batches. */
  readonly formats: readonly [number, number]
  readonly share: number
  readonly identity: CrawlIdentity
  /** The last batch that it holds. */
  readonly upTo: number
  readonly digest: string
  /** What parts on disk it comes with, as a batch says it of them. */
  readonly parts: States
  /** By node: files of the archive that were not finished by what the last batch of that node says. */
  readonly archives: Readonly<Record<string, ArchiveState>>
  /** Batches after `after`, up to `upTo`, in the form of `packRecords`. */
  readonly journal: { readonly after: number; readonly digest: string; readonly piece: Piece }
  readonly files: readonly ManifestFile[]
}

export function formatsOf(): Manifest['formats'] {
  return [MANIFEST_FORMAT_VERSION, SEGMENT_FORMAT_VERSION]
}

/** Everything that belongs to a snapshot, the manifest aside. */
export function objectsOf({ files, journal }: Manifest): string[] {
  return [...files.flatMap(({ pieces }) => pieces.map(({ object }) => object)), journal.piece.object]
}

export async function loadManifest(objects: Objects, name: string): Promise<Manifest> {
  const chunks = await Array.fromAsync(unpacked(objects, name))
  let manifest: Manifest
  try {
    manifest = JSON.parse(Buffer.concat(chunks).toString()) as Manifest
  } catch (cause) {
    throw new Fault('LEDGER_CORRUPT', `the snapshot ${name} cannot be read`, cause)
  }
  const wanted = formatsOf().join('.')
  if (manifest.formats.join('.') !== wanted) {
    throw new Fault(
      'LEDGER_VERSION',
      `the snapshot ${name} has format ${manifest.formats.join('.')}, this version of Portolan reads ${wanted}; all nodes of a crawl must run the version that began it`,
    )
  }
  return manifest
}

export async function storeManifest(objects: Objects, name: string, manifest: Manifest): Promise<void> {
  await storePiece(objects, name, chunksOf(Buffer.from(JSON.stringify(manifest))))
}

/** Puts bytes under a name that nobody has used. */
export async function storePiece(
  objects: Objects,
  object: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Piece> {
  const hash = createHash('sha256')
  let bytes = 0
  const count = (chunk: Uint8Array): void => {
    hash.update(chunk)
    bytes += chunk.length
  }
  await objects.put(object, packed(chunks, count))
  return { object, bytes, sha256: hash.digest('hex') }
}

/** The bytes of a piece; a fault where they are not those that were put. */
export async function* loadPiece(objects: Objects, piece: Piece): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of unpacked(objects, piece.object)) {
    hash.update(chunk)
    bytes += chunk.length
    yield chunk
  }
  if (bytes === piece.bytes && hash.digest('hex') === piece.sha256) return
  throw new Fault('LEDGER_CORRUPT', `the object ${piece.object} does not hold what its snapshot says`)
}

async function* packed(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  count: (chunk: Uint8Array) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    count(chunk)
    const data = await compress(chunk, QUICK)
    const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES)
    head.writeUInt32LE(chunk.length, 0)
    head.writeUInt32LE(data.length, 4)
    yield Buffer.concat([head, data])
  }
}

/** An engine cuts objects into pieces of its own. */
async function* unpacked(objects: Objects, name: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const bytes of objects.get(name)) {
    rest = rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([rest, bytes])
    while (rest.length >= FRAME_HEAD_BYTES) {
      const end = FRAME_HEAD_BYTES + rest.readUInt32LE(4)
      if (rest.length < end) break
      yield await decompress(rest.subarray(FRAME_HEAD_BYTES, end))
      rest = rest.subarray(end)
    }
  }
  if (rest.length > 0) throw new Fault('LEDGER_CORRUPT', `the object ${name} ends too early`)
}

/** A stretch of a file. */
export async function* readRange(path: string, from: number, to: number): AsyncGenerator<Buffer> {
  try {
    const handle = await open(path, 'r')
    try {
      for (let at = from; at < to;) {
        const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, to - at))
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, at)
        if (bytesRead === 0) throw new Fault('LEDGER_CORRUPT', `${path} ends at byte ${at}, not ${to}`)
        at += bytesRead
        yield buffer.subarray(0, bytesRead)
      }
    } finally {
      await handle.close()
    }
  } catch (cause) {
    throw diskFault(`reading ${path}`, cause)
  }
}

export async function digestOfFile(path: string, bytes: number): Promise<string> {
  const hash: Hash = createHash('sha256')
  for await (const chunk of readRange(path, 0, bytes)) hash.update(chunk)
  return hash.digest('hex')
}

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES)
}
