// What a batch says of files, by what the engine has: for whoever has the batches after it, and not the batch itself.

import type { Objects } from '../engine/index.ts'
import { decodeBatch } from '../ledger/index.ts'
import { readPart } from './batch-set.ts'
import type { States } from './file-tails.ts'
import { unpackRecords } from './journal-records.ts'
import { loadManifest, loadPiece } from './manifest.ts'
import type { ShareLog } from './share-log.ts'

/** Null where the engine has it no more. Reads the log from its beginning: for rare cases only. */
export async function statesInLog(log: ShareLog, objects: Objects, number: number): Promise<States | null> {
  let pieces: Buffer[] = []
  let found: Buffer | null = null
  const manifests = new Set<string>()
  for await (const { head, payload } of log.read((await log.log.first()) - 1)) {
    if (head.kind === 'snapshot') {
      for (const mark of [head.mark, head.former]) if (mark?.upTo === number) manifests.add(mark.manifest)
    }
    if (head.kind !== 'batch') continue
    if (head.part === 0) pieces = []
    for (const piece of readPart(payload)) {
      if (piece.kind !== 'batch' || piece.number !== number) continue
      pieces.push(piece.bytes)
      if (piece.isEnd) found = Buffer.concat(pieces)
    }
  }
  // The last one that was written under this number is the one that counts.
  if (found !== null) return decodeBatch(found).files
  for (const name of manifests) {
    const { journal } = await loadManifest(objects, name)
    for await (const batch of unpackRecords(loadPiece(objects, journal.piece))) {
      if (batch.number === number) return decodeBatch(batch.body).files
    }
  }
  return null
}
