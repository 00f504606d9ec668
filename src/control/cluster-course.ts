// The course of a crawl of several machines, kept by the engine: whoever has share 0 adds to it, whoever looks reads it.
//
//    a sample every few seconds ──▶ Course ── now and then, packed ──▶ log `course`: | … trimmed … | all samples |
//
// An entry holds all samples, some 40 kB of 2,000, and those before it are trimmed. It is added by its place: of two who both think
// that they have the share one is refused, reads what the other wrote, and goes on from there. A chart is nobody's promise: what the
// engine does not take is tried again with the next sample, and what a node that dies had not written is missing from it.

import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Clock, Fault } from '../base/index.ts'
import type { Engine, EngineLog } from '../engine/index.ts'
import { Course, readSamples, type TimelineSample, writeSamples } from '../report/index.ts'

const LOG = 'course'
/** Between two entries. */
const WRITE_MS = 20_000
/** Entries are far apart: that one comes while the last is read happens, twice in a row hardly. */
const TRIES_MAX = 3
/** Of 2,000 samples of ten numbers each. */
const TEXT_BYTES_MAX = 2 ** 21

interface Kept {
  readonly log: EngineLog
  /** The place of the last entry. */
  readonly at: number
  readonly samples: readonly TimelineSample[]
}

async function read(engine: Engine): Promise<Kept> {
  const log = await engine.log(LOG)
  for (let tries = 1; ; tries++) {
    const at = await log.last()
    let samples: readonly TimelineSample[] = []
    try {
      if (at > 0) for await (const { bytes } of log.read(at - 1)) samples = unpack(bytes)
      return { log, at, samples }
    } catch (fault) {
      // The next entry was written between the two questions, and this one is gone.
      if ((fault as Partial<Fault>).code !== 'LOG_TRIMMED' || tries === TRIES_MAX) throw fault
    }
  }
}

/** What was kept of it; nothing where nothing was. */
export async function readCourse(engine: Engine): Promise<readonly TimelineSample[]> {
  return (await read(engine)).samples
}

export class ClusterCourse {
  readonly #engine: Engine
  readonly #clock: Clock
  #log: EngineLog | null = null
  #at = 0
  #course = new Course()
  #writtenMs = -Infinity

  constructor(engine: Engine, clock: Clock) {
    this.#engine = engine
    this.#clock = clock
  }

  /** `isLast`: the last word of whoever adds, which has no next one to make up for it. Fails where the engine does not answer. */
  async add(sample: TimelineSample, isLast = false): Promise<void> {
    for (let tries = isLast ? TRIES_MAX : 1; tries > 0 && !(await this.#tryToAdd(sample, isLast)); tries--);
  }

  /** False: somebody else has written meanwhile. */
  async #tryToAdd(sample: TimelineSample, isLast: boolean): Promise<boolean> {
    const log = this.#log ?? (await this.#begin())
    // Who has just begun to keep it has not heard from all yet, or a share is with nobody: that is no course of a crawl.
    if (!isLast && sample.pages < (this.#course.samples.at(-1)?.pages ?? 0)) return true
    const isKept = this.#course.add(sample, isLast) !== null
    const nowMs = this.#clock.nowMs()
    if (!isLast && (!isKept || nowMs - this.#writtenMs < WRITE_MS)) return true
    const appended = await log.append(pack(this.#course.samples), this.#at)
    if (appended.kind === 'refused') {
      // Somebody else goes on with it: what it wrote is what the next sample is added to.
      this.#log = null
      return false
    }
    this.#at = appended.at
    this.#writtenMs = nowMs
    await log.trim(appended.at - 1)
    return true
  }

  async #begin(): Promise<EngineLog> {
    const { log, at, samples } = await read(this.#engine)
    this.#at = at
    this.#course = new Course(samples)
    this.#log = log
    return log
  }
}

function pack(samples: readonly TimelineSample[]): Uint8Array {
  return zstdCompressSync(writeSamples(samples))
}

/** What cannot be read is no course. */
function unpack(bytes: Uint8Array): TimelineSample[] {
  try {
    return readSamples(zstdDecompressSync(bytes, { maxOutputLength: TEXT_BYTES_MAX }).toString())
  } catch {
    return []
  }
}
