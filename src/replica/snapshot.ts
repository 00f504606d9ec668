// A consistent copy of a share's directory becomes objects of the engine, so that the log may be short.
//
//   copy ──▶ what the snapshot before has not ──▶ objects ──▶ manifest ──▶ `snapshot` in the log ──▶ trim ──▶ delete
//
// Whatever fails before the entry stands leaves the snapshot before it as it was; what was put by then is nobody's, and goes with
// the next one's deletions.
//
// Always true: the last two snapshots are whole, and the log begins no later than the earlier one ends. So an engine that loses the
// end of the log, with a snapshot in it, still has everything up to there.

import { randomBytes } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { diskFault } from '../base/index.ts'
import type { Objects } from '../engine/index.ts'
import { type CrawlIdentity, lookAtRecords } from '../ledger/index.ts'
import type { ArchiveState } from '../store/index.ts'
import type { ReplicaFile, States } from './file-tails.ts'
import type { HeldLog } from './held-log.ts'
import { archivesSince } from './left-archives.ts'
import { packRecords } from './journal-records.ts'
import type { LogState, SnapshotMark } from './log-entry.ts'
import {
  digestOfFile,
  formatsOf,
  loadManifest,
  type Manifest,
  type ManifestFile,
  objectsOf,
  type Piece,
  readRange,
  storeManifest,
  storePiece,
} from './manifest.ts'
import { logNameOf } from './share-log.ts'

/** The log since the last snapshot: what whoever takes the share over has to read. */
const LOG_BYTES = 64 * 2 ** 20
/** A last piece shorter than this is put again with what has come since. */
const PIECE_BYTES_MIN = 2 ** 20
/** A file in more pieces is put anew, as one. */
const PIECES_MAX = 1_024

/** When a snapshot is worth its cost. */
export interface SnapshotPolicy {
  readonly logBytes: number
}

export const USUAL_POLICY: SnapshotPolicy = { logBytes: LOG_BYTES }

/** Where the log stood in the moment of which the copy is. */
export interface Moment {
  readonly state: LogState & { readonly at: number }
  readonly losses: number
}

/** A copy of a share's directory, without its archive. */
export interface Picture {
  readonly dir: string
  readonly identity: CrawlIdentity
  /** What the last batch says of files and parts. */
  readonly states: States
  /** Batches up to this one are in every part of it. */
  readonly partsHold: number
}

export interface SnapshotFigures {
  readonly upTo: number
  readonly files: number
  /** Put now, unpacked; and in all. */
  readonly bytesPut: number
  readonly bytes: number
  /** Objects that were not needed any more. */
  readonly deleted: number
}

/** A snapshot that the log names. */
export interface KnownSnapshot {
  readonly mark: SnapshotMark
  readonly manifest: Manifest
}

interface KnownFile {
  readonly identity: string
  readonly entry: ManifestFile
}

export class Snapshots {
  readonly #objects: Objects
  readonly #log: HeldLog
  readonly #files: readonly ReplicaFile[]
  /** By path: files that were put or compared before and may not have changed since. */
  #known = new Map<string, KnownFile>()
  #last: KnownSnapshot | null = null
  /** It was taken here, so all batches since are of this node. */
  #isLastOwn = false
  #former: SnapshotMark | null = null
  #bytesPut = 0
  /** Of the log, when what is known here was read from it. */
  #losses = 0
  #isStopped = false

  constructor(objects: Objects, log: HeldLog, files: readonly ReplicaFile[]) {
    this.#objects = objects
    this.#log = log
    this.#files = files
  }

  /** What the log says of them; to be asked when a share is opened, and when the engine has lost entries. */
  async load(): Promise<KnownSnapshot | null> {
    this.#losses = this.#log.losses
    this.#isLastOwn = false
    const { snapshotAt } = this.#log.state
    const entry = snapshotAt === 0 ? null : await this.#log.log.entryAt(snapshotAt)
    if (entry?.head.kind !== 'snapshot') {
      this.#last = null
      this.#former = null
      return null
    }
    const { mark, former } = entry.head
    this.#former = former
    this.#last = { mark, manifest: await loadManifest(this.#objects, mark.manifest) }
    return this.#last
  }

  /** Batches from this one on are needed to tell them again, should the engine lose its end. */
  get neededFrom(): number {
    return this.#former?.upTo ?? 0
  }

  /** After the engine has lost the entry of the last one. False where the snapshot itself is gone. */
  async restate(): Promise<boolean> {
    const last = this.#last
    if (last === null || last.mark.upTo <= this.#log.state.last) return false
    if (!(await this.#objects.has(last.mark.manifest))) return false
    const former = await this.#markAt(this.#log.state.snapshotAt)
    const mark = await this.#log.restateSnapshot(last.mark, last.manifest.digest, former)
    if (mark === null) return true
    this.#last = { mark, manifest: last.manifest }
    this.#former = former
    this.#losses = this.#log.losses
    return true
  }

  isDue(policy: SnapshotPolicy): boolean {
    return this.#log.state.since >= policy.logBytes
  }

  /** One that is under way comes to nothing. */
  stop(): void {
    this.#isStopped = true
  }

  /** To be asked while the directory is held for the copy. */
  moment(): Moment {
    return { state: this.#log.state, losses: this.#log.losses }
  }

  /** Null: the engine lost entries meanwhile, and the next one is taken from another moment; or it was stopped. */
  async take(picture: Picture, moment: Moment): Promise<SnapshotFigures | null> {
    const { state, losses } = moment
    if (this.#log.losses !== losses) return null
    // After a loss it may be another one than we knew.
    if (this.#losses !== losses) await this.load()
    const attempt = `${logNameOf(this.#log.share)}.e${this.#log.epoch}.${randomBytes(6).toString('hex')}`
    this.#bytesPut = 0
    const manifest = await this.#putAll(picture, state, attempt)
    if (manifest === null) return null
    const mark: SnapshotMark = { manifest: `${attempt}.manifest`, upTo: state.last, from: state.at }
    await storeManifest(this.#objects, mark.manifest, manifest)
    const former = this.#last?.mark ?? null
    if (!(await this.#log.appendSnapshot(mark, former, state.since, losses))) return null
    const before = this.#last?.manifest ?? null
    this.#last = { mark, manifest }
    this.#isLastOwn = true
    this.#former = former
    if (former !== null) await this.#log.trim(former.from)
    const deleted = await this.#deleteOthers(before)
    const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, manifest.journal.piece.bytes)
    return { upTo: mark.upTo, files: manifest.files.length, bytesPut: this.#bytesPut, bytes, deleted }
  }

  async #markAt(place: number): Promise<SnapshotMark | null> {
    const entry = place === 0 ? null : await this.#log.log.entryAt(place)
    return entry?.head.kind === 'snapshot' ? entry.head.mark : null
  }

  async #putAll(picture: Picture, state: LogState, attempt: string): Promise<Manifest | null> {
    const { dir, identity, states, partsHold } = picture
    const before = new Map(this.#last?.manifest.files.map((file) => [file.path, file]))
    const growing = new Map<string, number>()
    for (const file of this.#files) {
      const said = file.stateOf(states[file.name])
      if (said !== null) growing.set(file.pathOf(dir, said.edition), said.edition)
    }
    const known = new Map<string, KnownFile>()
    const files: ManifestFile[] = []
    let count = 0
    const nextName = (): string => `${attempt}.${count++}`
    for (const path of await pathsIn(dir)) {
      if (this.#isStopped) return null
      const edition = growing.get(path) ?? null
      const former = before.get(path)
      const entry =
        edition === null
          ? await this.#putWhole(dir, path, former, known, nextName)
          : await this.#putGrown(dir, path, edition, former, nextName)
      files.push(entry)
    }
    this.#known = known
    // The last batch is always among them: it says how long the files are.
    const after = Math.max(0, Math.min(partsHold, state.last - 1))
    const journal = await this.#putJournal(dir, after, nextName())
    const archive = states['archive'] as ArchiveState | null | undefined
    const archives = { ...(await this.#archivesBefore()), [this.#log.node]: archive ?? NO_ARCHIVE }
    const unfinished = Object.entries(archives).filter(([, one]) => one.open !== null || one.full.length > 0)
    return {
      formats: formatsOf(),
      share: this.#log.share,
      identity,
      upTo: state.last,
      digest: state.digest,
      parts: { seen: states['seen'], contents: states['contents'] },
      archives: Object.fromEntries(unfinished),
      journal,
      files,
    }
  }

  /** Of all nodes that had the share: what the snapshot before says, and batches since that were written before it came here. */
  async #archivesBefore(): Promise<Manifest['archives']> {
    const before = this.#last?.manifest.archives ?? {}
    if (this.#isLastOwn) return before
    const { log } = this.#log
    const since = await archivesSince(log, this.#last?.mark.from ?? (await log.log.first()) - 1)
    return { ...before, ...Object.fromEntries(since) }
  }

  /** A file that is what it is: put unless the snapshot before has the same. */
  async #putWhole(
    dir: string,
    path: string,
    former: ManifestFile | undefined,
    known: Map<string, KnownFile>,
    nextName: () => string,
  ): Promise<ManifestFile> {
    const full = join(dir, path)
    const { ino, size: bytes, mtimeNs } = await sizeOf(full)
    const identity = `${ino} ${bytes} ${mtimeNs}`
    const seen = this.#known.get(path)
    const isKnown = seen?.identity === identity && seen.entry.pieces[0]?.object === former?.pieces[0]?.object
    let entry = isKnown && former !== undefined ? former : null
    if (entry === null && former?.bytes === bytes && former.pieces.length === 1) {
      if ((await digestOfFile(full, bytes)) === former.pieces[0]?.sha256) entry = former
    }
    entry ??= { path, bytes, edition: null, pieces: bytes === 0 ? [] : [await this.#put(full, 0, bytes, nextName())] }
    known.set(path, { identity, entry })
    return entry
  }

  /** A file that only grows: what the snapshot before has of it stays. */
  async #putGrown(
    dir: string,
    path: string,
    edition: number,
    former: ManifestFile | undefined,
    nextName: () => string,
  ): Promise<ManifestFile> {
    const full = join(dir, path)
    const { size: bytes } = await sizeOf(full)
    const isSame = former !== undefined && former.edition === edition && former.bytes <= bytes
    const pieces = isSame && former.pieces.length < PIECES_MAX ? [...former.pieces] : []
    let from = pieces.reduce((sum, piece) => sum + piece.bytes, 0)
    const last = pieces.at(-1)
    if (from < bytes && last !== undefined && last.bytes < PIECE_BYTES_MIN) {
      pieces.pop()
      from -= last.bytes
    }
    if (from < bytes) pieces.push(await this.#put(full, from, bytes, nextName()))
    return { path, bytes, edition, pieces }
  }

  async #put(path: string, from: number, to: number, object: string): Promise<Piece> {
    this.#bytesPut += to - from
    return storePiece(this.#objects, object, readRange(path, from, to))
  }

  async #putJournal(dir: string, after: number, object: string): Promise<Manifest['journal']> {
    const directory = join(dir, 'state/journal')
    let digest: Buffer | null = null
    for await (const { follows } of lookAtRecords(directory, after)) {
      digest = Buffer.from(follows)
      break
    }
    // Batches that are behind the moment are none: the journal was copied while it was held.
    const piece = await storePiece(this.#objects, object, packRecords(lookAtRecords(directory, after), after))
    this.#bytesPut += piece.bytes
    return { after, digest: digest?.toString('hex') ?? '', piece }
  }

  /** Whatever of this share belongs to neither of the last two. What a later owner has put is not ours to judge. */
  async #deleteOthers(before: Manifest | null): Promise<number> {
    const needed = new Set<string>()
    for (const manifest of [before, this.#last?.manifest ?? null]) {
      if (manifest !== null) for (const object of objectsOf(manifest)) needed.add(object)
    }
    for (const mark of [this.#former, this.#last?.mark ?? null]) if (mark !== null) needed.add(mark.manifest)
    let deleted = 0
    for (const name of await this.#objects.list(`${logNameOf(this.#log.share)}.`)) {
      const epoch = Number(/^[^.]+\.e(\d+)\./.exec(name)?.[1] ?? Infinity)
      if (needed.has(name) || epoch > this.#log.epoch) continue
      await this.#objects.delete(name)
      deleted++
    }
    return deleted
  }
}

const NO_ARCHIVE: ArchiveState = { serial: 0, open: null, full: [] }

/** All files but those of the journal, which goes by its batches. */
async function pathsIn(dir: string): Promise<string[]> {
  try {
    const entries = await readdir(dir, { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(dir, join(entry.parentPath, entry.name)))
      .filter((path) => !path.startsWith('state/journal/'))
      .sort()
  } catch (cause) {
    throw diskFault(`reading ${dir}`, cause)
  }
}

async function sizeOf(path: string): Promise<{ ino: bigint; size: number; mtimeNs: bigint }> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true })
    return { ino, size: Number(size), mtimeNs }
  } catch (cause) {
    throw diskFault(`reading ${path}`, cause)
  }
}
