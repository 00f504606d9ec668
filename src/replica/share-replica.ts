// A share as its owner works with it: taken up where its log stands, told to the log batch by batch, kept short by snapshots, given up.
//
//   ShareReplica.open ──▶ Crawl.open({ …, keeper }) ──▶ … snapshot(crawl) … ──▶ settle ──▶ crawl.close ──▶ release

import { rm } from 'node:fs/promises'
import { type Clock, diskFault, type Random } from '../base/index.ts'
import type { Engine } from '../engine/index.ts'
import { type CrawlIdentity, type Journal, SegmentedJournal, type SegmentedJournalOptions } from '../ledger/index.ts'
import type { ReplicaFile, States } from './file-tails.ts'
import { HeldLog } from './held-log.ts'
import { type MadeShare, makeShare } from './make-share.ts'
import { loadPartsHere, type PartsHere, statesHere } from './parts-here.ts'
import { ReplicatedJournal, type ReplicationFigures } from './replicated-journal.ts'
import type { HeldShare } from './share-log.ts'
import { statesInLog } from './states-in-log.ts'
import {
  type Moment,
  type Picture,
  type SnapshotFigures,
  type SnapshotPolicy,
  Snapshots,
  USUAL_POLICY,
} from './snapshot.ts'

export interface ReplicaPlan {
  readonly engine: Engine
  readonly held: HeldShare
  /** Of the share, on this node. */
  readonly dir: string
  /** Where this node's archive is. */
  readonly crawlDir: string
  readonly identity: CrawlIdentity
  readonly files: readonly ReplicaFile[]
  readonly clock: Clock
  readonly random: Random
  /** Whether this node may not act any more. */
  readonly isFenced: () => boolean
  readonly policy?: SnapshotPolicy
}

/** Whoever can copy the share's directory as it is after one batch, without the archive. */
export interface PictureSource {
  copyState(to: string, onHeld: () => void): Promise<Omit<Picture, 'dir'>>
}

export class ShareReplica {
  /** How the directory was made. */
  readonly made: MadeShare
  readonly #plan: ReplicaPlan
  readonly #log: HeldLog
  readonly #snapshots: Snapshots
  readonly #parts: PartsHere | null
  #journal: ReplicatedJournal | null = null
  #taking: Promise<unknown> | null = null
  #isSettled = false

  private constructor(plan: ReplicaPlan, log: HeldLog, snapshots: Snapshots, made: MadeShare, parts: PartsHere | null) {
    this.#plan = plan
    this.#log = log
    this.#snapshots = snapshots
    this.made = made
    this.#parts = parts
  }

  /** Makes the directory one that can be opened. Nobody else works in it. */
  static async open(plan: ReplicaPlan): Promise<ShareReplica> {
    const { engine, held, dir, crawlDir, identity, files, random } = plan
    const log = await HeldLog.resume(engine, held)
    try {
      const snapshots = new Snapshots(engine.objects, log, files)
      const snapshot = await snapshots.load()
      const made = await makeShare({ log, objects: engine.objects, snapshot, dir, crawlDir, identity, files, random })
      return new ShareReplica(plan, log, snapshots, made, await loadPartsHere(dir))
    } catch (fault) {
      log.close()
      throw fault
    }
  }

  async openJournal(options: SegmentedJournalOptions): Promise<Journal> {
    const { dir, files, clock, isFenced } = this.#plan
    const local = await SegmentedJournal.open(options)
    try {
      let states: States = {}
      for await (const { batch } of local.history(Math.max(0, local.lastNumber - 1))) states = batch.files
      const { directory } = options
      const log = this.#log
      const neededFrom = (): number => this.#snapshots.neededFrom
      const inLog = (number: number): Promise<States | null> => statesInLog(log.log, this.#plan.engine.objects, number)
      const restateSnapshot = (): Promise<boolean> => this.#snapshots.restate()
      const journal = new ReplicatedJournal({
        local,
        directory,
        log,
        dir,
        files,
        states,
        clock,
        isFenced,
        neededFrom,
        restateSnapshot,
        statesInLog: inLog,
      })
      await journal.catchUp()
      this.#journal = journal
      return journal
    } catch (fault) {
      await local.close()
      throw fault
    }
  }

  statesHere(number: number, said: States): States {
    return statesHere(this.#parts, number, said)
  }

  get figures(): ReplicationFigures & { readonly logBytes: number; readonly losses: number } {
    const { batches = 0, unanswered = 0, toldAgain = 0 } = this.#journal?.figures ?? {}
    return { batches, unanswered, toldAgain, logBytes: this.#log.state.since, losses: this.#log.losses }
  }

  /** Whether the log has become so long that a snapshot is worth its cost. */
  get wantsSnapshot(): boolean {
    return this.#taking === null && !this.#isSettled && this.#snapshots.isDue(this.#plan.policy ?? USUAL_POLICY)
  }

  /** Null where it came to nothing: the engine lost entries meanwhile, or the share is to be closed. Another time. */
  async snapshot(source: PictureSource): Promise<SnapshotFigures | null> {
    if (this.#taking !== null || this.#isSettled) return null
    const taking = this.#take(source)
    this.#taking = taking.catch(() => {})
    try {
      return await taking
    } finally {
      this.#taking = null
    }
  }

  /** No snapshot is begun from here on, and one that is under way comes to nothing: before the crawl is closed. */
  async settle(): Promise<void> {
    this.#isSettled = true
    this.#snapshots.stop()
    await this.#taking
  }

  /** Gives up the share; the crawl is closed. */
  async release(): Promise<void> {
    await this.#log.release()
    this.close()
  }

  /** Lets go without a word. */
  close(): void {
    this.#log.close()
  }

  async #take(source: PictureSource): Promise<SnapshotFigures | null> {
    const dir = `${this.#plan.dir}.snapshot`
    try {
      await rm(dir, { recursive: true, force: true })
      const moments: Moment[] = []
      const copied = await source.copyState(dir, () => void moments.push(this.#snapshots.moment()))
      const [moment] = moments
      return moment === undefined ? null : await this.#snapshots.take({ ...copied, dir }, moment)
    } catch (cause) {
      throw diskFault(`taking a snapshot of share ${this.#plan.held.share}`, cause)
    } finally {
      await rm(dir, { recursive: true, force: true }).catch(() => {})
    }
  }
}
