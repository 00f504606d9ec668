// The set of contents that outgrows memory: two generations in memory, runs of positions on disk.
//
//   keep() ─▶ | active |   | previous |   | run | run |    run    |        run          |
//              being kept    being written   newest                          oldest
//                            or a cache
//
//   claim() ─ active? ─ previous? ─▶ the original, at once
//           └ does another hold the claim? ─▶ wait
//           └ no run holds the key ─▶ null, at once unless the disk is far behind: the asker holds the claim
//           └ a run does ─▶ read the record ─▶ same digest: the original. Another: null, the asker holds the claim
//
// In memory stands all that is known of a page; on disk only the first 64 bits of its digest and the position of
// its record, in a file that is not ours: it is read back, and the whole digest compared, so that no answer is ever wrong.
// While a record is read the claim counts as held: whoever asks meanwhile waits for the same answer.
//
// When the active generation is full it becomes the previous one and is written out as a run. The previous
// one stays as a cache until the next turn-over, and what was read back is a guest in the active one: a content that
// many pages have is read once or twice a generation. Writing and merging are done in small steps by keep().
//
// Durable is what state() names, once the caller has committed it. What was kept since is for the caller to keep again.

import { assert } from '../base/index.ts'
import { Claims } from './claims.ts'
import type { ContentSeen, FoundOriginal, KnownContents, Original } from './content-seen.ts'
import { bitsAt, isEmptyDigest, textOf } from './digest.ts'
import { Generation } from './generation.ts'
import { POSITION_MAX } from './position-run.ts'
import { type ContentState, RunShelf } from './run-shelf.ts'

/** Shares of the memory: each generation, and the indices of all runs, twice and a bit while two runs become one. */
const GENERATION_SHARE = 1 / 4
const INDEX_SHARE = 3 / 16

const NO_POSITIONS: readonly number[] = []

export interface DiskContentSeenOptions {
  readonly directory: string
  /** For generations and indices together. Beside it stand a buffer of 1 KiB a run, and of 64 KiB for each part of a merge. */
  readonly memoryBytes: number
  /** The last state that was committed; null begins anew. */
  readonly state: ContentState | null
  /**
   * The original whose record stands at a position that was handed to keep(). Asked for records that may not have left
   * the memory of whoever writes them: it is for the reader to see to that.
   */
  readonly readOriginal: (position: number) => FoundOriginal | Promise<FoundOriginal>
}

export class DiskContentSeen implements ContentSeen, KnownContents {
  readonly #shelf: RunShelf
  readonly #readOriginal: DiskContentSeenOptions['readOriginal']
  readonly #claims = new Claims()
  #active: Generation
  #previous: Generation
  #mark: number

  private constructor(options: DiskContentSeenOptions, shelf: RunShelf, active: Generation, previous: Generation) {
    this.#shelf = shelf
    this.#readOriginal = options.readOriginal
    this.#active = active
    this.#previous = previous
    this.#mark = shelf.state().replayFrom
  }

  /** Goes on from a committed state. Files of runs beyond it were never promised and are removed. */
  static async open(options: DiskContentSeenOptions): Promise<DiskContentSeen> {
    const { directory, memoryBytes } = options
    const active = new Generation(memoryBytes * GENERATION_SHARE)
    const previous = new Generation(memoryBytes * GENERATION_SHARE)
    const shelf = await RunShelf.open({
      directory,
      indexBytes: memoryBytes * INDEX_SHARE,
      generationPages: active.sizeTypical,
      state: options.state ?? { runs: [], runsMade: 0, replayFrom: 0 },
    })
    return new DiskContentSeen(options, shelf, active, previous)
  }

  claim(digest: Uint8Array): Promise<Original | null> | Original | null {
    if (isEmptyDigest(digest)) return null
    this.#shelf.assertSound()
    const recent = this.#active.original(digest) ?? this.#previous.original(digest)
    if (recent !== null) return recent
    const answer = this.#claims.wait(digest)
    if (answer !== null) return answer
    const positions = this.#positionsOf(digest)
    this.#claims.hold(digest)
    if (positions.length > 0) return this.#readBack(Buffer.from(digest), positions)
    // keep() cannot wait for a disk that is behind; this is where it can be done, before there is anything to keep.
    return this.#active.isNearlyFull && !this.#shelf.isReady ? this.#waitForRoom(Buffer.from(digest)) : null
  }

  keep(digest: Uint8Array, original: Original, position: number): void {
    if (isEmptyDigest(digest)) return
    const isPosition = Number.isInteger(position) && position >= 0 && position <= POSITION_MAX
    if (!isPosition) assert(false, `no position of a record: ${position}`)
    if (!this.#isKept(digest, position)) this.#insert(digest, original, position)
    this.#claims.settle(digest, original)
  }

  release(digest: Uint8Array): void {
    if (!isEmptyDigest(digest)) this.#claims.release(digest)
  }

  get size(): number {
    return this.#shelf.pages + this.#active.size + (this.#shelf.isWriting ? this.#previous.size : 0)
  }

  /** Reads all runs: 14 bytes a page. */
  eachKey(see: (high: number, low: number) => void): void {
    this.#shelf.eachKey(see)
    for (const generation of [this.#previous, this.#active]) {
      const showing = generation.ascending(see)
      while (showing.next().done !== true);
    }
  }

  get memoryBytes(): number {
    return this.#shelf.memoryBytes + this.#active.memoryBytes + this.#previous.memoryBytes
  }

  /** Bytes of the runs on disk, without those that wait for committed(). */
  get diskBytes(): number {
    return this.#shelf.diskBytes
  }

  /** The caller's position, such as the number of a batch, up to which all was kept. It comes back as `replayFrom`. */
  mark(position: number): void {
    this.#mark = position
  }

  /** What is durable now. It counts once the caller has committed it, and said so. */
  state(): ContentState {
    return this.#shelf.state()
  }

  /** The state is committed: files that it does without are unlinked. */
  committed(state: ContentState): void {
    this.#shelf.committed(state)
  }

  /** Writes out all that was kept: nothing is left to keep again once the state is committed. */
  async flush(): Promise<void> {
    await this.#shelf.ready()
    if (this.#active.size === 0) return
    this.#turnOver()
    while (this.#shelf.isWriting) await this.#shelf.ready()
  }

  /** Makes one run of all. */
  async compact(): Promise<void> {
    await this.flush()
    await this.#shelf.compact()
  }

  /** Ends without writing: what is not in the last committed state is for the caller to keep again. */
  close(): Promise<void> {
    return this.#shelf.close()
  }

  /** Whether there is nothing to be taken up. A claim is held only on what neither a generation nor a run holds. */
  #isKept(digest: Uint8Array, position: number): boolean {
    this.#shelf.assertSound()
    if (this.#claims.isHeld(digest)) return false
    if (this.#active.holds(digest) || this.#previous.holds(digest)) return true
    return this.#positionsOf(digest).includes(position)
  }

  #positionsOf(digest: Uint8Array): readonly number[] {
    return this.#shelf.isEmpty ? NO_POSITIONS : this.#shelf.find(bitsAt(digest, 0), bitsAt(digest, 4))
  }

  #insert(digest: Uint8Array, original: Original, position: number): void {
    if (!this.#active.add(digest, original, position)) {
      this.#makeRoom()
      assert(this.#active.add(digest, original, position), 'an empty generation takes any page')
    }
    this.#shelf.work(1)
  }

  #makeRoom(): void {
    if (this.#active.size === 0) {
      // Guests only: nothing to be written.
      this.#active.clear()
      return
    }
    this.#shelf.readyNow()
    this.#turnOver()
  }

  /** The active generation becomes the previous one, which must have been written. */
  #turnOver(): void {
    const empty = this.#previous
    empty.clear()
    this.#previous = this.#active
    this.#active = empty
    this.#shelf.write(this.#previous, this.#mark)
  }

  /** The claim is given when the active generation can be written; meanwhile it counts as held. */
  async #waitForRoom(digest: Buffer): Promise<null> {
    try {
      await this.#shelf.ready()
    } catch (cause) {
      this.#claims.fail(digest, cause)
      throw cause
    }
    return null
  }

  /** Looks at the records a digest may belong to, the first one first, while its claim is held. */
  async #readBack(digest: Buffer, positions: readonly number[]): Promise<Original | null> {
    const text = textOf(digest)
    try {
      for (const position of positions) {
        const found = await this.#readOriginal(position)
        if (found.digest !== text) continue
        this.#claims.settle(digest, found.original)
        if (!this.#active.holds(digest)) this.#active.addGuest(digest, found.original)
        return found.original
      }
    } catch (cause) {
      this.#claims.fail(digest, cause)
      throw cause
    }
    return null
  }
}
