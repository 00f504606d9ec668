// Files of the archive that a node began for a share that is elsewhere now: its agent was killed, or lost the share, and nobody goes on
// with them. What the share's log has of them stays, whole and under their final names; the rest is cut off.
//
//   archive/…-a-3-00007.warc.gz.open ── share 3 is not here, and another's or free ── its log: 4,711 bytes of it count ──▶ cut, renamed
//                                                                                     its log: nothing of it counts   ──▶ removed
//
// Always true: no agent of this process works on a share while its files are touched; whoever had written them cannot commit any more
// (another has begun the share since, or it was released), so what the log says is the last word.

import { Fault } from '../base/index.ts'
import type { Engine } from '../engine/index.ts'
import { filesOf, leftArchive } from '../replica/index.ts'
import { finishedFiles, finishLeftFile, removeLeftFile, writerOf } from '../store/index.ts'

export interface LeftFilesParts {
  /** Of the node, with its archive. */
  readonly dir: string
  readonly node: string
  readonly engine: Engine
  /** Does the work unless an agent of the share is here, or comes or goes; none comes until it is done. */
  readonly withoutAgent: (share: number, work: () => Promise<void>) => Promise<boolean>
  /** A file is shorter than what was committed of it. */
  readonly onShort: (share: number, file: string) => void
}

export interface LeftFilesFigures {
  finished: number
  removed: number
  short: number
}

export class LeftFiles {
  readonly figures: LeftFilesFigures = { finished: 0, removed: 0, short: 0 }
  readonly #parts: LeftFilesParts
  /** Told of once; as many as there are such files. */
  readonly #short = new Set<string>()
  #looking: Promise<void> | null = null

  constructor(parts: LeftFilesParts) {
    this.#parts = parts
  }

  /** Sees to what can be seen to now; the rest another time. Costs a listing of the archive where nothing is left. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => (this.#looking = null))
    return this.#looking
  }

  async #look(): Promise<void> {
    const { withoutAgent } = this.#parts
    for (const share of (await this.#left()).keys()) {
      try {
        await withoutAgent(share, () => this.#seeTo(share))
      } catch (fault) {
        // An engine that is away, a log that cannot be read: another time. But a disk that fails is ours.
        if (!(fault instanceof Fault) || fault.code.startsWith('DISK_')) throw fault
      }
    }
  }

  /** Files that bear `.open`, by share; those of agents that are here too. */
  async #left(): Promise<ReadonlyMap<number, readonly string[]>> {
    const { dir, node } = this.#parts
    const byShare = new Map<number, string[]>()
    for (const file of (await finishedFiles(dir)).open.keys()) {
      const writer = writerOf(file)
      if (writer?.node !== node || this.#short.has(file)) continue
      byShare.set(writer.agent, [...(byShare.get(writer.agent) ?? []), file])
    }
    return byShare
  }

  async #seeTo(share: number): Promise<void> {
    const { dir, node, engine, onShort } = this.#parts
    const { standing, archive } = await leftArchive(engine, share, node)
    // Held in our own name: by an earlier life, which is waited out, or by this one, which opens it soon.
    if (standing.epoch === 0 || standing.holder?.node === node) return
    const known = new Map((archive === null ? [] : filesOf(archive)).map((one) => [one.file, one]))
    // Listed again: an agent may have been here in between.
    for (const file of (await this.#left()).get(share) ?? []) {
      const committed = known.get(file)
      if (committed === undefined) {
        await removeLeftFile(dir, file)
        this.figures.removed++
      } else if (await finishLeftFile(dir, committed)) this.figures.finished++
      else {
        this.#short.add(file)
        this.figures.short++
        onShort(share, file)
      }
    }
  }
}
