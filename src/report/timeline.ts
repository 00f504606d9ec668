// The course of a crawl: one line of cumulative figures per sample, in state/timeline.jsonl, bounded
// however long the crawl lasts.
//
// Samples are kept no closer than a gap, a quarter of a second at first. When there are more than
// SAMPLES_MAX, every second one goes and the gap doubles: ten minutes are known by the second, a month
// by the half hour, in the same 2,000 lines (about 250 kB). The file is appended to between such moments
// and written anew at each; a line torn by a crash is dropped when it is read.
//
// One writer. A crawl that goes on later continues the same file, since time counts from its start.

import { appendFile, readFile, rename, writeFile } from 'node:fs/promises'
import { diskFault, type Fault } from '../base/index.ts'

/** Cumulative since the crawl began, but `waiting`, `hosts`, `active` and `rssBytes`, which are of the moment. */
export interface TimelineSample {
  /** Seconds since the crawl began, time between runs left out. */
  readonly t: number
  readonly pages: number
  readonly bytes: number
  readonly failed: number
  readonly skipped: number
  readonly waiting: number
  readonly hosts: number
  /** Requests under way. */
  readonly active: number
  readonly rssBytes: number
  readonly cpuSeconds: number
}

/** Enough for any screen; what halves when it is reached. */
const SAMPLES_MAX = 2_000
/** A crawl of seconds has a course too. */
const GAP_SECONDS_MIN = 0.25

const FIELDS = [
  't',
  'pages',
  'bytes',
  'failed',
  'skipped',
  'waiting',
  'hosts',
  'active',
  'rssBytes',
  'cpuSeconds',
] as const

/** Samples in order of time, bounded. */
export class Course {
  readonly #samplesMax: number
  #samples: TimelineSample[]
  #gapSeconds: number

  constructor(samples: readonly TimelineSample[] = [], samplesMax: number = SAMPLES_MAX) {
    this.#samplesMax = samplesMax
    this.#samples = [...samples]
    this.#gapSeconds = gapOf(samples)
  }

  get samples(): readonly TimelineSample[] {
    return this.#samples
  }

  /** Seconds between samples that are kept now; asking for more is free and pointless. */
  get gapSeconds(): number {
    return this.#gapSeconds
  }

  /** Keeps the sample if the gap since the last one has passed; the last word, whatever the gap. 'thinned': others went for it. */
  add(sample: TimelineSample, isLast = false): 'kept' | 'thinned' | null {
    const lastT = this.#samples.at(-1)?.t ?? -Infinity
    // Some grace: timers are late by moments, and a sample a second must not become one in two.
    if (isLast ? sample.t <= lastT : sample.t < lastT + this.#gapSeconds * 0.95) return null
    this.#samples.push(sample)
    if (this.#samples.length <= this.#samplesMax) return 'kept'
    // The newest stays: an odd number of samples leaves every second one from the end.
    const odd = (this.#samples.length - 1) % 2
    this.#samples = this.#samples.filter((_, index) => index % 2 === odd)
    // Samples may have come further apart than asked for; the gap must grow beyond what they are now.
    this.#gapSeconds = Math.max(2 * this.#gapSeconds, gapOf(this.#samples))
    return 'thinned'
  }
}

export class Timeline {
  readonly #path: string
  readonly #course: Course
  /** Writes in the order they were asked for; never rejects. */
  #writes: Promise<void> = Promise.resolve()
  /** Why nothing more is written. */
  #fault: Fault | null = null

  private constructor(path: string, course: Course) {
    this.#path = path
    this.#course = course
  }

  /** Goes on in the file when there is one. */
  static async open(path: string, samplesMax: number = SAMPLES_MAX): Promise<Timeline> {
    const timeline = new Timeline(path, new Course(await loadTimeline(path), samplesMax))
    // A torn last line must not be glued to the next one.
    timeline.#rewrite()
    await timeline.#writes
    if (timeline.#fault !== null) throw timeline.#fault
    return timeline
  }

  /** Seconds between samples that are kept now; asking for more is free and pointless. */
  get gapSeconds(): number {
    return this.#course.gapSeconds
  }

  get samples(): readonly TimelineSample[] {
    return this.#course.samples
  }

  /**
   * Keeps the sample if the gap since the last one has passed. Written in the background; a disk that
   * fails is told by close(), since a crawl does not depend on its chart.
   */
  append(sample: TimelineSample): void {
    this.#add(sample, false)
  }

  /** Keeps the last word whatever the gap, and waits for all writes. */
  async close(last?: TimelineSample): Promise<void> {
    if (last !== undefined) this.#add(last, true)
    await this.#writes
    if (this.#fault !== null) throw this.#fault
  }

  #add(sample: TimelineSample, isLast: boolean): void {
    const how = this.#course.add(sample, isLast)
    if (how === 'kept') this.#write(() => appendFile(this.#path, toLine(sample)))
    else if (how === 'thinned') this.#rewrite()
  }

  #rewrite(): void {
    const text = writeSamples(this.#course.samples)
    this.#write(async () => {
      await writeFile(`${this.#path}.new`, text)
      await rename(`${this.#path}.new`, this.#path)
    })
  }

  #write(work: () => Promise<void>): void {
    this.#writes = this.#writes.then(async () => {
      if (this.#fault !== null) return
      await work().catch((cause: unknown) => {
        this.#fault = diskFault(`writing ${this.#path}`, cause)
      })
    })
  }
}

/** The samples of a file, in order of time; an absent file has none. */
export async function loadTimeline(path: string): Promise<TimelineSample[]> {
  try {
    return readSamples(await readFile(path, 'utf8'))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw diskFault(`reading ${path}`, cause)
  }
}

/** One a line, in order of time. Lines that are none are left out. */
export function readSamples(text: string): TimelineSample[] {
  const samples: TimelineSample[] = []
  for (const line of text.split('\n')) {
    const sample = fromLine(line)
    if (sample !== null && sample.t > (samples.at(-1)?.t ?? -1)) samples.push(sample)
  }
  return samples
}

function toLine(sample: TimelineSample): string {
  return `${JSON.stringify(sample)}\n`
}

export function writeSamples(samples: readonly TimelineSample[]): string {
  return samples.map(toLine).join('')
}

function fromLine(line: string): TimelineSample | null {
  try {
    const value = JSON.parse(line) as Partial<TimelineSample> | null
    return FIELDS.every((name) => Number.isFinite(value?.[name])) ? (value as TimelineSample) : null
  } catch {
    return null
  }
}

/** The gap a file was written with: the power of two nearest to its usual distance. */
function gapOf(samples: readonly TimelineSample[]): number {
  const distances = samples.slice(1).map((sample, i) => sample.t - (samples[i]?.t ?? 0))
  const usual = distances.sort((a, b) => a - b)[Math.floor(distances.length / 2)] ?? GAP_SECONDS_MIN
  return Math.max(GAP_SECONDS_MIN, 2 ** Math.round(Math.log2(usual)))
}
