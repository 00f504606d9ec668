// Finished files of a crawl's archive, put on a shelf while the crawl goes on.
//
//    archive/….warc.gz ──look──▶ line ──▶ shelf.put() ──▶ state/shipped.jsonl ──▶ (removed here, where that is wished)
//                                  ▲          │ trouble: told once, tried again, later and later
//                                  └──────────┘
//
// What is finished is seen in the directory itself: a file loses its `.open` when all of it is committed, and is never touched
// again. So nothing has to be told, and nothing is lost with a process: what is finished and not in shipped.jsonl is put.
// Always true: trouble with the shelf is never trouble of the crawl; memory is bounded by the files on their way and the line.

import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, type ClockMs, Fault, type Random } from '../base/index.ts'
import { syncDirectory } from '../disk/index.ts'
import { archiveStanding, type ArchiveStanding, finishedFiles, ShippedFiles } from '../store/index.ts'
import type { Shelf } from './shelf.ts'

export interface ShippingPlan {
  /** The crawl's; whoever ships holds it. */
  readonly dir: string
  readonly shelf: Shelf
  /** Whether files stay here too. */
  readonly keep: boolean
  readonly parallel: number
  readonly clock: Clock
  readonly random: Random
  /** What the last files are called there: nodes of a cluster must not write over each other's. As here unless given. */
  readonly lastName?: (file: string) => string
  readonly onEvent: (event: ShippingEvent) => void
}

export type ShippingEvent =
  /** Told when it begins, and when it becomes another. */
  { readonly kind: 'trouble'; readonly why: string } | { readonly kind: 'recovered'; readonly afterMs: number }

/** How it stands: files of the archive, and what is in the way. */
export interface ShippingFigures extends ArchiveStanding {
  readonly to: string
  /** Files that are put at the end (index, pages) and are not there as they are now. */
  readonly missing: readonly string[]
  readonly trouble: string | null
}

const LOOK_MS = 5_000
/** More finished files than these wait in the directory, not in memory. */
const LINE_MAX = 10_000
const PAUSE_MS_MIN = 1_000
const PAUSE_MS_MAX = 5 * 60_000

interface Trouble {
  readonly why: string
  readonly sinceMs: ClockMs
}

export class Shipping {
  readonly #plan: ShippingPlan
  readonly #shipped: ShippedFiles
  readonly #line = new Set<string>()
  readonly #underWay = new Map<string, Promise<void>>()
  /** Files that could not be read here: not tried again in this run. */
  readonly #unreadable = new Set<string>()
  /** Put at the end; they are no WARC files, and are never removed. */
  #lastFiles: readonly string[] = []
  readonly #abort = new AbortController()
  #trouble: Trouble | null = null
  #pauseMs = PAUSE_MS_MIN
  #notBeforeMs: ClockMs
  /** When the shelf took something last, or nothing was asked of it. */
  #movedMs: ClockMs
  #cancelTimer: (() => void) | null = null
  #cancelLook: (() => void) | null = null
  #isLooking: Promise<void> | null = null
  #stopped: Promise<void> | null = null
  #wake: () => void = () => {}

  private constructor(plan: ShippingPlan, shipped: ShippedFiles) {
    this.#plan = plan
    this.#shipped = shipped
    this.#notBeforeMs = plan.clock.nowMs()
    this.#movedMs = plan.clock.nowMs()
  }

  /** Begins with what is there. To be called when the crawl's files are open: one that is written again bears `.open` then. */
  static async begin(plan: ShippingPlan): Promise<Shipping> {
    const shipping = new Shipping(plan, await ShippedFiles.open(plan.dir))
    await shipping.#look()
    shipping.#lookLater()
    return shipping
  }

  async figures(): Promise<ShippingFigures> {
    const standing = await archiveStanding(this.#plan.dir)
    const missing: string[] = []
    for (const file of this.#lastFiles) if (await this.#isDue(file)) missing.push(file)
    return { ...standing, to: this.#plan.shelf.where, missing, trouble: this.#trouble?.why ?? null }
  }

  /**
   * All agents have closed their files: puts what is left, and `lastFiles`, as long as the shelf takes something within
   * `patienceMs`. What it then has not taken is here, and the next run puts it.
   */
  async finish(lastFiles: readonly string[], patienceMs: number): Promise<ShippingFigures> {
    const { clock } = this.#plan
    this.#cancelLook?.()
    await this.#isLooking
    for (const file of lastFiles) {
      // Whatever it was before, it may have changed since: it is put as it is now.
      if ((await sizeIfThere(join(this.#plan.dir, file))) !== null) this.#lastFiles = [...this.#lastFiles, file]
    }
    this.#movedMs = clock.nowMs()
    this.#notBeforeMs = clock.nowMs()
    await this.#look()
    const isOver = (): boolean => this.#trouble !== null && clock.nowMs() - this.#movedMs >= patienceMs
    while (this.#line.size + this.#underWay.size > 0 && !isOver() && !this.#abort.signal.aborted) {
      const cancel = clock.callAt(Math.max(this.#movedMs + patienceMs, clock.nowMs() + 50) as ClockMs, () =>
        this.#wake(),
      )
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        this.#pump()
      })
      cancel()
      if (this.#line.size === 0 && this.#underWay.size === 0) await this.#look()
    }
    await this.stop()
    return this.figures()
  }

  /** Cuts off what is under way: it is gone on with by the next run. Harmless twice. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    this.#abort.abort(new Error('stopped'))
    this.#cancelLook?.()
    this.#cancelTimer?.()
    await this.#isLooking
    await Promise.all(this.#underWay.values())
    this.#wake()
    await this.#shipped.close()
    this.#plan.shelf.close()
  }

  #lookLater(): void {
    const { clock } = this.#plan
    this.#cancelLook = clock.callAt((clock.nowMs() + LOOK_MS) as ClockMs, () => {
      this.#isLooking = this.#look()
        .catch((fault: unknown) => this.#note(fault))
        .then(() => {
          if (!this.#abort.signal.aborted) this.#lookLater()
        })
    })
  }

  /** Finds what is finished and not shipped as it is. */
  async #look(): Promise<void> {
    const { dir, clock } = this.#plan
    const { finished, open } = await finishedFiles(dir)
    for (const file of open.keys()) {
      if (!finished.has(file)) await this.#shipped.takeBack(file, new Date(clock.wallMs()).toISOString())
    }
    for (const [file, bytes] of finished) {
      if (this.#line.size >= LINE_MAX) break
      const isThere = this.#shipped.files.get(file)?.bytes === bytes
      if (isThere) await this.#removeHere(file)
      else if (!this.#underWay.has(file) && !this.#unreadable.has(file)) this.#line.add(file)
    }
    if (finished.size === 0 || this.#line.size < LINE_MAX) {
      for (const file of this.#lastFiles) {
        if (!this.#underWay.has(file) && !this.#unreadable.has(file) && (await this.#isDue(file))) this.#line.add(file)
      }
    }
    this.#pump()
  }

  /** One of the last files, which have the same name in every run: whether it is there with this length was said in this run. */
  readonly #putNow = new Map<string, number>()
  async #isDue(file: string): Promise<boolean> {
    const size = await sizeIfThere(join(this.#plan.dir, file))
    return size !== null && this.#putNow.get(file) !== size
  }

  #pump(): void {
    const { clock, parallel } = this.#plan
    if (this.#abort.signal.aborted) return
    const nowMs = clock.nowMs()
    if (nowMs < this.#notBeforeMs) {
      this.#cancelTimer?.()
      this.#cancelTimer = clock.callAt(this.#notBeforeMs, () => this.#pump())
      return
    }
    // While there is trouble one file tries for all.
    const atOnce = this.#trouble === null ? parallel : 1
    for (const file of this.#line) {
      if (this.#underWay.size >= atOnce) break
      this.#line.delete(file)
      if (this.#underWay.size === 0 && this.#trouble === null) this.#movedMs = nowMs
      this.#underWay.set(file, this.#ship(file))
    }
    if (this.#line.size + this.#underWay.size === 0) this.#wake()
  }

  /** Never fails. */
  async #ship(file: string): Promise<void> {
    const { dir, shelf, clock, lastName } = this.#plan
    const isLast = this.#lastFiles.includes(file)
    try {
      const name = isLast ? (lastName?.(file) ?? file) : file
      const { bytes, sha256 } = await shelf.put(name, join(dir, file), {
        signal: this.#abort.signal,
        onBytes: () => (this.#movedMs = clock.nowMs()),
      })
      await this.#shipped.add({ file, bytes, sha256, to: shelf.where, at: new Date(clock.wallMs()).toISOString() })
      if (isLast) this.#putNow.set(file, bytes)
      else await this.#removeHere(file)
      this.#recovered()
    } catch (fault) {
      if (!this.#abort.signal.aborted) await this.#failed(file, fault)
    } finally {
      this.#underWay.delete(file)
      this.#pump()
      if (this.#trouble !== null) this.#wake()
    }
  }

  async #failed(file: string, fault: unknown): Promise<void> {
    const { dir, clock, random } = this.#plan
    this.#note(fault)
    const isHere = (await sizeIfThere(join(dir, file)).catch(() => null)) !== null
    if (!isHere) {
      // Gone meanwhile, or not to be read: nothing that the shelf could cure.
      this.#unreadable.add(file)
      return
    }
    this.#line.add(file)
    this.#notBeforeMs = (clock.nowMs() + this.#pauseMs * (0.5 + random.fraction() / 2)) as ClockMs
    this.#pauseMs = Math.min(PAUSE_MS_MAX, this.#pauseMs * 2)
  }

  #note(fault: unknown): void {
    const why = fault instanceof Error ? fault.message : String(fault)
    const isNew = this.#trouble === null || kindOf(this.#trouble.why) !== kindOf(why)
    this.#trouble = { why, sinceMs: this.#trouble?.sinceMs ?? this.#plan.clock.nowMs() }
    if (isNew) this.#plan.onEvent({ kind: 'trouble', why })
  }

  #recovered(): void {
    const { clock, onEvent } = this.#plan
    this.#movedMs = clock.nowMs()
    this.#pauseMs = PAUSE_MS_MIN
    if (this.#trouble === null) return
    onEvent({ kind: 'recovered', afterMs: clock.nowMs() - this.#trouble.sinceMs })
    this.#trouble = null
  }

  /** Only what is noted as shipped, in the length that is noted. */
  async #removeHere(file: string): Promise<void> {
    if (this.#plan.keep || this.#abort.signal.aborted) return
    const path = join(this.#plan.dir, file)
    if ((await sizeIfThere(path)) !== this.#shipped.files.get(file)?.bytes) return
    await rm(path, { force: true })
    await syncDirectory(join(this.#plan.dir, 'archive'))
  }
}

/** Names and numbers aside: the same trouble with another file is told once. */
function kindOf(why: string): string {
  return why.replaceAll(/\S*\/\S*|\d+/g, '')
}

async function sizeIfThere(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new Fault('DISK_FAILED', `reading ${path}: ${String(cause)}`, cause)
  }
}
