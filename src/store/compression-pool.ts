// Records compressed beside each other in the threads that Node keeps for such work, while the agent goes on.
//
//    jobs  ▢ ▢ ▢ ▢ ──▶ lane │ memory for one record │ engine │ ──▶ done(member)
//                     ──▶ lane │ …
//
// A lane builds a record in memory of its own, which the engine reads from another thread, and is free again when the member is
// there. Bodies are read when a lane is free, not before: what waits costs no memory here. Jobs are begun in order and may
// be done in another.

import type { Transform } from 'node:stream'
import { assert } from '../base/index.ts'
import type { Engines } from './compression.ts'
import { buildRecord, type PlannedRecord } from './warc-record.ts'

export interface CompressionJob {
  readonly record: PlannedRecord
  /** The pieces of the member, which belong to the receiver. */
  readonly done: (member: readonly Uint8Array[]) => void
  readonly failed: (cause: unknown) => void
}

/** As many as the pool has threads. One alone made twice as many wake-ups a page; more would only keep files waiting. */
const LANES = 4
const LANE_BYTES_MIN = 32 * 2 ** 10

export class CompressionPool {
  readonly #engines: Engines
  readonly #idle: Lane[] = []
  readonly #jobs: CompressionJob[] = []
  #lanes = 0
  #isClosed = false

  constructor(engines: Engines) {
    this.#engines = engines
  }

  take(job: CompressionJob): void {
    this.#jobs.push(job)
    this.#go()
  }

  /** Lets go of the engines. What is under way is never told of. */
  close(): void {
    this.#isClosed = true
    this.#jobs.length = 0
    for (const lane of this.#idle) lane.close()
    this.#idle.length = 0
  }

  #go(): void {
    while (this.#jobs.length > 0) {
      const lane = this.#idle.pop() ?? this.#another()
      if (lane === null) return
      const job = this.#jobs.shift() as CompressionJob
      try {
        lane.begin(job.record, (cause, member) => this.#ended(lane, job, cause, member))
      } catch (cause) {
        // A body that cannot be read. The lane has not begun.
        this.#idle.push(lane)
        job.failed(cause)
      }
    }
  }

  #another(): Lane | null {
    if (this.#lanes === LANES) return null
    this.#lanes++
    return new Lane(this.#engines)
  }

  #ended(lane: Lane, job: CompressionJob, cause: Error | null, member: readonly Uint8Array[]): void {
    if (this.#isClosed) {
      lane.close()
      return
    }
    if (cause !== null) {
      job.failed(cause)
      return
    }
    this.#idle.push(lane)
    // First work for the thread, then for ourselves.
    this.#go()
    job.done(member)
  }
}

type WhenPressed = (cause: Error | null, pieces: readonly Uint8Array[]) => void

class Lane {
  readonly #press: Press
  #memory = Buffer.allocUnsafeSlow(LANE_BYTES_MIN)

  constructor(engines: Engines) {
    this.#press = new Press(engines.member(), engines.resets)
  }

  begin(record: PlannedRecord, ended: WhenPressed): void {
    if (record.bytes > this.#memory.length) {
      this.#memory = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(record.bytes)))
    }
    this.#press.press(this.#memory.subarray(0, buildRecord(record, this.#memory, 0)), ended)
  }

  close(): void {
    this.#press.close()
  }
}

/** An engine that is used again and again. One write at a time. */
class Press {
  readonly #engine: Transform & { reset?(): void }
  readonly #resets: boolean
  #pieces: Uint8Array[] = []
  #ended: WhenPressed | null = null

  constructor(engine: Transform & { reset?(): void }, resets: boolean) {
    this.#engine = engine
    this.#resets = resets
    engine.on('data', (piece: Uint8Array) => this.#pieces.push(piece))
    engine.on('error', (cause) => this.#end(cause))
  }

  press(bytes: Uint8Array, ended: WhenPressed): void {
    this.#ended = ended
    this.#engine.write(bytes, (cause) => this.#end(cause ?? null))
  }

  close(): void {
    this.#engine.destroy()
  }

  #end(cause: Error | null): void {
    // An engine that fails says so twice.
    const ended = this.#ended
    if (ended === null) return
    this.#ended = null
    const pieces = this.#pieces
    this.#pieces = []
    if (cause === null) {
      assert(pieces.length > 0, 'an engine made nothing of a record')
      if (this.#resets) this.#engine.reset?.()
    }
    ended(cause, pieces)
  }
}
