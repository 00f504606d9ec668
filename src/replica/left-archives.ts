// What nodes had committed of the archives they wrote for a share, by what the engine has: for whoever has such a file and not the share.
//
//   snapshot (archives by node, as of then) │ batch of A │ batch of A │ begin B │ batch of B …
//                                                           └ what counts of A's file: as much as A's last batch says
//
// A batch speaks of the archive of the node that wrote it. Whose it is stands in the names of its files; the entry names who told it,
// which is another where the engine had lost it.

import type { Engine } from '../engine/index.ts'
import { decodeBatch } from '../ledger/index.ts'
import { type ArchiveFile, type ArchiveState, writerOf } from '../store/index.ts'
import { readPart } from './batch-set.ts'
import type { ReadEntry } from './log-entry.ts'
import { loadManifest } from './manifest.ts'
import { isFault, ShareLog, type Standing } from './share-log.ts'

/** A snapshot may be taken, and the log trimmed, while it is read: then it is read again. */
const TRIES_MAX = 5

export interface LeftArchive {
  /** How the share stood before anything else was read: batches of a node that does not hold it any more are all there. */
  readonly standing: Standing
  /** Null where the node has committed nothing that it may not have finished. */
  readonly archive: ArchiveState | null
}

/** What of a share's archive a node had committed when it was last its owner. Takes nothing, and disturbs nobody. */
export async function leftArchive(engine: Engine, share: number, node: string): Promise<LeftArchive> {
  const log = await ShareLog.open(engine, share)
  for (let tries = 1; ; tries++) {
    try {
      const standing = await log.standing()
      const entry = standing.snapshotAt === 0 ? null : await log.entryAt(standing.snapshotAt)
      const mark = entry?.head.kind === 'snapshot' ? entry.head.mark : null
      const before = mark === null ? {} : (await loadManifest(engine.objects, mark.manifest)).archives
      const since = await archivesSince(log, mark?.from ?? (await log.log.first()) - 1)
      return { standing, archive: since.get(node) ?? before[node] ?? null }
    } catch (fault) {
      const isMoved = isFault(fault, 'LOG_TRIMMED') || isFault(fault, 'OBJECT_MISSING')
      if (!isMoved || tries >= TRIES_MAX) throw fault
    }
  }
}

/** By node: what the last of its batches behind this place says of its archive. Reads all of them: for rare cases only. */
export async function archivesSince(log: ShareLog, after: number): Promise<ReadonlyMap<string, ArchiveState>> {
  const archives = new Map<string, ArchiveState>()
  const sets = new LastSets()
  for await (const entry of log.read(after)) {
    for (const body of sets.take(entry)) {
      const archive = decodeBatch(body).files['archive'] as ArchiveState | null | undefined
      if (archive == null) continue
      const [file] = filesOf(archive)
      archives.set((file === undefined ? null : writerOf(file.file)?.node) ?? entry.head.node, archive)
    }
  }
  return archives
}

/** The files of a state that were not finished by then. */
export function filesOf({ open, full }: ArchiveState): readonly ArchiveFile[] {
  return open === null ? full : [...full, open]
}

/** Batches of sets that are whole, and of epochs that were not over when they were appended. */
class LastSets {
  #epoch = 0
  #parts = 0
  #pieces: Buffer[] = []
  #bodies: Buffer[] = []

  take({ head, payload }: ReadEntry): readonly Buffer[] {
    if (head.epoch < this.#epoch) return []
    this.#epoch = head.epoch
    if (head.kind === 'begin' || (head.kind === 'batch' && head.part === 0)) this.#clear()
    if (head.kind !== 'batch' || head.part !== this.#parts) return []
    this.#parts++
    for (const piece of readPart(payload)) {
      if (piece.kind !== 'batch') continue
      this.#pieces.push(piece.bytes)
      if (!piece.isEnd) continue
      this.#bodies.push(Buffer.concat(this.#pieces))
      this.#pieces = []
    }
    if (!head.isLast) return []
    const bodies = this.#bodies
    this.#clear()
    return bodies
  }

  #clear(): void {
    this.#parts = 0
    this.#pieces = []
    this.#bodies = []
  }
}
