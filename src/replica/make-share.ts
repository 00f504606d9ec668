// A share's directory, brought to where its log stands, on a node that has all of it, some of it, or nothing.
//
//   here           log                       what is done
//   …57            …57, the same             nothing
//   …41            …42 … 57                  42 to 57 are added, as if they had been committed here
//   …60            …57, the same up to 57    the engine has lost 58 to 60: the journal tells them again (catchUp)
//   …57            …57, another one          set aside, and made as on a node that has nothing
//   nothing        snapshot, 51 … 57         made beside from the snapshot, 51 to 57 added, then given its name
//
// Always true: what is under the share's name is one past, never two; files are synced before the batches that speak of them;
// killed at any moment, the next call begins from what is there.

import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { assert, diskFault, Fault, type Random } from '../base/index.ts'
import { makeDirectory, syncDirectory } from '../disk/index.ts'
import type { Objects } from '../engine/index.ts'
import {
  type CrawlIdentity,
  decodeBatch,
  journalBegun,
  lookAtRecords,
  originDigest,
  type PreparedBatch,
  SegmentedJournal,
} from '../ledger/index.ts'
import { type ArchiveState, loadShipped } from '../store/index.ts'
import type { ReplicaFile, Slice, States } from './file-tails.ts'
import type { HeldLog } from './held-log.ts'
import { unpackRecords } from './journal-records.ts'
import { loadPiece, type Manifest } from './manifest.ts'
import { loadPartsHere, savePartsHere, statesHere } from './parts-here.ts'
import { Diverged, SetReader, type WholeSet } from './set-reader.ts'
import { isFault } from './share-log.ts'
import type { KnownSnapshot } from './snapshot.ts'

/** Batches are added to the journal so many bytes at a time: what making takes of memory, about. */
const GROUP_BYTES = 4 * 2 ** 20
/** How far back the log is looked at first: whoever is only a few batches behind reads only a few. */
const FIRST_LOOK_ENTRIES = 32
/** Directories that were set aside are kept up to this many, the latest. */
const ASIDE_MAX = 2

export interface MakeSharePlan {
  readonly log: HeldLog
  readonly objects: Objects
  /** The last snapshot, as the log has it. */
  readonly snapshot: KnownSnapshot | null
  /** Of the share, and nothing else: it may be put aside as a whole. */
  readonly dir: string
  /** Where this node's archive is. */
  readonly crawlDir: string
  readonly identity: CrawlIdentity
  readonly files: readonly ReplicaFile[]
  readonly random: Random
}

export interface MadeShare {
  /** `new`: nobody has written a batch of it. */
  readonly from: 'new' | 'here' | 'log' | 'snapshot'
  /** Batches that were added from the log. */
  readonly added: number
  /** Batches that are here and the engine has lost. */
  readonly ahead: number
  /** Where a directory was put that had another past, and why. */
  readonly aside: { readonly dir: string; readonly why: string } | null
  /** Files of this node's archive that batches speak of and that are not here. */
  readonly archivesMissing: readonly string[]
}

interface Base {
  readonly journal: SegmentedJournal
  /** What is true here, of files and parts. */
  readonly states: States
}

export async function makeShare(plan: MakeSharePlan): Promise<MadeShare> {
  const { dir } = plan
  const partial = `${dir}.partial`
  try {
    await rm(partial, { recursive: true, force: true })
    let aside: MadeShare['aside'] = null
    const base = await openBase(plan).catch(async (fault: unknown) => {
      if (!isFault(fault, 'LEDGER_CORRUPT')) throw fault
      aside = await setAside(dir, (fault as Fault).message)
      return null
    })
    if (base !== null) {
      try {
        return { ...(await addTo(base, dir, plan)), aside: null }
      } catch (diverged) {
        if (!(diverged instanceof Diverged)) throw diverged
        aside = await setAside(dir, diverged.message)
      } finally {
        await base.journal.close()
      }
    }
    return { ...(await makeAnew(partial, plan)), aside }
  } catch (cause) {
    throw diskFault(`making ${dir}`, cause)
  }
}

/** Null where nothing is here. */
async function openBase({ dir, identity, random }: MakeSharePlan): Promise<Base | null> {
  const directory = join(dir, 'state/journal')
  if (!(await journalBegun(directory))) {
    // Nobody knows what it is: not to be overwritten.
    if (await hasFiles(dir)) throw new Fault('LEDGER_CORRUPT', 'it has no journal')
    return null
  }
  const journal = await SegmentedJournal.open({ directory, random, create: () => identity })
  if (!isDeepStrictEqual(journal.identity, identity)) {
    await journal.close()
    throw new Fault('LEDGER_CORRUPT', `it belongs to another crawl (${journal.identity.name})`)
  }
  let said: States = {}
  for await (const { batch } of journal.history(Math.max(0, journal.lastNumber - 1))) said = batch.files
  return { journal, states: statesHere(await loadPartsHere(dir), journal.lastNumber, said) }
}

type Making = Omit<MadeShare, 'aside'>

async function addTo({ journal, states }: Base, dir: string, plan: MakeSharePlan): Promise<Making> {
  const { last, digest } = plan.log.state
  const ahead = journal.lastNumber - last
  if (ahead > 0) {
    if (!(await hadDigest(journal, dir, last, digest)))
      throw new Diverged(`batch ${last} in the log is another one here`)
    return { from: 'here', added: 0, ahead, archivesMissing: [] }
  }
  if (ahead === 0) {
    const isSame = last === 0 || journal.lastDigest.toString('hex') === digest
    if (!isSame) throw new Diverged(`batch ${last} in the log is another one than here`)
    return { from: last === 0 ? 'new' : 'here', added: 0, ahead: 0, archivesMissing: [] }
  }
  const adding = new Adding(plan, dir, journal, states)
  try {
    await adding.fromLog(await whereToRead(plan, journal.lastNumber))
    return { from: 'log', added: adding.added, ahead: 0, archivesMissing: await adding.finish() }
  } finally {
    await adding.close()
  }
}

async function makeAnew(partial: string, plan: MakeSharePlan): Promise<Making> {
  const { log, dir, identity, random, snapshot } = plan
  if (log.state.last === 0) return { from: 'new', added: 0, ahead: 0, archivesMissing: [] }
  await makeDirectory(join(partial, 'state'))
  const directory = join(partial, 'state/journal')
  const { journal, states } =
    snapshot === null
      ? { journal: await SegmentedJournal.open({ directory, random, create: () => identity }), states: {} }
      : await fromSnapshot(partial, snapshot.manifest, plan)
  let made: Making
  try {
    const adding = new Adding(plan, partial, journal, states)
    try {
      await adding.fromLog(snapshot?.mark.from ?? 0)
      const from = snapshot === null ? 'log' : 'snapshot'
      made = { from, added: adding.added, ahead: 0, archivesMissing: await adding.finish() }
    } finally {
      await adding.close()
    }
  } catch (cause) {
    if (cause instanceof Diverged) throw new Fault('LEDGER_CORRUPT', `${log.log.name}: ${cause.message}`)
    throw cause
  } finally {
    await journal.close()
  }
  await syncTree(partial)
  // Nothing is under the name any more, or empty folders.
  await rm(dir, { recursive: true, force: true })
  await rename(partial, dir)
  await syncDirectory(dirname(dir))
  return made
}

async function fromSnapshot(to: string, manifest: Manifest, plan: MakeSharePlan): Promise<Base> {
  const { objects, log, identity, random } = plan
  if (!isDeepStrictEqual(manifest.identity, identity)) {
    throw new Fault('LEDGER_CORRUPT', `the snapshot of share ${log.share} belongs to another crawl`)
  }
  for (const { path, bytes, pieces } of manifest.files) {
    const full = join(to, path)
    await mkdir(dirname(full), { recursive: true })
    const handle = await open(full, 'wx')
    try {
      let at = 0
      for (const piece of pieces) {
        for await (const chunk of loadPiece(objects, piece)) {
          await handle.writeFile(chunk)
          at += chunk.length
        }
      }
      if (at !== bytes) throw new Fault('LEDGER_CORRUPT', `${path} of share ${log.share} has ${at} bytes, not ${bytes}`)
      await handle.datasync()
    } finally {
      await handle.close()
    }
  }
  const { after, digest, piece } = manifest.journal
  const directory = join(to, 'state/journal')
  const journal = await SegmentedJournal.beginAt({ directory, random }, identity, after, Buffer.from(digest, 'hex'))
  const group = new Group(journal)
  for await (const batch of unpackRecords(loadPiece(objects, piece))) await group.add(batch)
  await group.write()
  if (journal.lastNumber !== manifest.upTo || journal.lastDigest.toString('hex') !== manifest.digest) {
    throw new Fault('LEDGER_CORRUPT', `the snapshot of share ${log.share} does not end with batch ${manifest.upTo}`)
  }
  let said: States = {}
  for await (const { batch } of journal.history(manifest.upTo - 1)) said = batch.files
  const archive = manifest.archives[log.node] ?? null
  return { journal, states: { ...said, ...manifest.parts, archive } }
}

/** From where on the log is to be read by whoever has batches up to this one. */
async function whereToRead({ log }: MakeSharePlan, have: number): Promise<number> {
  const first = (await log.log.log.first()) - 1
  const { at } = log.state
  for (let entries = FIRST_LOOK_ENTRIES; at - entries > first; entries *= 8) {
    for await (const { head } of log.log.read(at - entries)) {
      if (head.kind !== 'batch' || head.part > 0) continue
      if (head.first <= have + 1) return at - entries
      break
    }
  }
  return first
}

/** Whether the batch of this number was the one with this digest. */
async function hadDigest(journal: SegmentedJournal, dir: string, number: number, digest: string): Promise<boolean> {
  if (number === 0) return true
  if (number < journal.firstNumber - 1) return false
  for await (const { follows } of lookAtRecords(join(dir, 'state/journal'), number))
    return follows.toString('hex') === digest
  return false
}

/** Batches on their way into the journal, several with one sync. */
class Group {
  readonly #journal: SegmentedJournal
  readonly #before: (batches: readonly PreparedBatch[]) => Promise<void>
  #batches: PreparedBatch[] = []
  #bytes = 0

  constructor(
    journal: SegmentedJournal,
    before: (batches: readonly PreparedBatch[]) => Promise<void> = async () => {},
  ) {
    this.#journal = journal
    this.#before = before
  }

  async add(batch: PreparedBatch): Promise<void> {
    this.#batches.push(batch)
    this.#bytes += batch.body.length
    if (this.#bytes >= GROUP_BYTES) await this.write()
  }

  async write(): Promise<void> {
    if (this.#batches.length === 0) return
    const batches = this.#batches
    this.#batches = []
    this.#bytes = 0
    await this.#before(batches)
    await this.#journal.commitPrepared(batches)
  }
}

/** Adds what the log has and the directory has not. */
class Adding {
  readonly #plan: MakeSharePlan
  readonly #dir: string
  readonly #states: States
  readonly #reader: SetReader
  readonly #group: Group
  readonly #handles = new Map<string, FileHandle>()
  /** Of this node, as far as it is known. */
  #archive: unknown
  #ownBody: Buffer | null = null
  added = 0

  constructor(plan: MakeSharePlan, dir: string, journal: SegmentedJournal, states: States) {
    this.#plan = plan
    this.#dir = dir
    this.#states = states
    this.#archive = states['archive'] ?? null
    const digest = journal.lastNumber === 0 ? originDigest(plan.identity) : journal.lastDigest
    this.#reader = new SetReader(journal.lastNumber, digest, (slice, bytes) => this.#write(slice, bytes))
    this.#group = new Group(journal, () => this.#beforeBatches())
  }

  async fromLog(after: number): Promise<void> {
    const { log } = this.#plan
    for await (const entry of log.log.read(after)) {
      const set = await this.#reader.take(entry)
      if (set !== null) await this.#keep(set)
    }
    const { last, digest } = log.state
    if (this.#reader.last !== last || this.#reader.digest.toString('hex') !== digest) {
      throw new Diverged(`the log says that batch ${last} is the last one, but ${this.#reader.last} is`)
    }
  }

  /** Files of this node's archive that are not here. */
  async finish(): Promise<string[]> {
    await this.#group.write()
    const { archive, missing } = await archiveHere(this.#archive as ArchiveState | null, this.#plan.crawlDir)
    this.#archive = archive
    await this.#saveParts()
    return missing
  }

  async close(): Promise<void> {
    for (const handle of this.#handles.values()) await handle.close()
  }

  async #keep({ batches, node }: WholeSet): Promise<void> {
    if (node === this.#plan.log.node) this.#ownBody = batches.at(-1)?.body ?? null
    this.added += batches.length
    for (const batch of batches) await this.#group.add(batch)
  }

  async #beforeBatches(): Promise<void> {
    for (const handle of this.#handles.values()) await handle.datasync()
    // What was written here by an earlier life of this node counts as far as the log has it.
    if (this.#ownBody !== null) this.#archive = decodeBatch(this.#ownBody).files['archive'] ?? null
    this.#ownBody = null
    await this.#saveParts()
  }

  #saveParts(): Promise<void> {
    const { seen, contents } = this.#states
    return savePartsHere(this.#dir, {
      upTo: this.#plan.log.state.last,
      states: { seen, contents, archive: this.#archive },
    })
  }

  async #write({ name, edition, at }: Slice, bytes: Buffer): Promise<void> {
    const file = this.#plan.files.find((one) => one.name === name)
    if (file === undefined)
      throw new Fault('LEDGER_VERSION', `the log speaks of a file ${name}, which is not known here`)
    const here = file.stateOf(this.#states[name])?.edition ?? 0
    const path = join(this.#dir, edition === here ? file.pathOf(this.#dir, edition) : file.newPathOf(edition))
    let handle = this.#handles.get(path)
    if (handle === undefined) {
      await mkdir(dirname(path), { recursive: true })
      handle = await openOrCreate(path)
      this.#handles.set(path, handle)
    }
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at + done)
      assert(bytesWritten > 0, `${path}: the disk took no bytes`)
      done += bytesWritten
    }
  }
}

/** What of an archive's state can be gone on with: files may have been lost, or taken elsewhere when they were finished. */
async function archiveHere(
  state: ArchiveState | null,
  crawlDir: string,
): Promise<{ archive: ArchiveState | null; missing: string[] }> {
  if (state === null) return { archive: null, missing: [] }
  const missing: string[] = []
  const isHere = async ({ file, length }: ArchiveState['full'][number]): Promise<boolean> => {
    const found =
      (await stat(join(crawlDir, `${file}.open`)).catch(() => null)) ??
      (await stat(join(crawlDir, file)).catch(() => null))
    if (found !== null && found.size >= length) return true
    if ((await loadShipped(crawlDir)).get(file)?.bytes === length) return true
    missing.push(file)
    return false
  }
  const full: ArchiveState['full'][number][] = []
  for (const one of state.full) if (await isHere(one)) full.push(one)
  const isOpenHere = state.open !== null && (await isHere(state.open))
  return { archive: { ...state, full, open: isOpenHere ? state.open : null }, missing }
}

async function setAside(dir: string, why: string): Promise<{ dir: string; why: string }> {
  const prefix = `${dir}.aside-`
  const parent = dirname(dir)
  const numbers = (await readdir(parent))
    .map((name) => join(parent, name))
    .filter((path) => path.startsWith(prefix))
    .map((path) => Number(path.slice(prefix.length)))
    .filter((number) => Number.isInteger(number))
    .sort((a, b) => b - a)
  for (const number of numbers.slice(ASIDE_MAX - 1)) await rm(`${prefix}${number}`, { recursive: true, force: true })
  const to = `${prefix}${(numbers[0] ?? 0) + 1}`
  await rename(dir, to)
  await syncDirectory(parent)
  return { dir: to, why }
}

async function hasFiles(dir: string): Promise<boolean> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw cause
  })
  return entries.some((entry) => entry.isFile())
}

async function openOrCreate(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
    return await open(path, 'wx+')
  }
}

/** Directories last: a name counts once its directory is synced. */
async function syncTree(root: string): Promise<void> {
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) await syncDirectory(join(entry.parentPath, entry.name))
  }
  await syncDirectory(root)
}
