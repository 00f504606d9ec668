// The course of a crawl as plots want it: even steps in time, rates from counts. The kept samples are far apart in a long crawl and those
// of this minute close together; read off at even steps, they give one curve instead of a smooth one with a nervous end.

import type { Sample } from '../talk/live.ts'

export interface Course {
  /** Seconds since the crawl began. */
  readonly times: number[]
  readonly pages: number[]
  readonly waiting: number[]
  readonly pagesPerSecond: number[]
  readonly bytesPerSecond: number[]
  readonly failedPerSecond: number[]
  readonly skippedPerSecond: number[]
}

const STEPS_MAX = 240

/** Kept samples, then those that came since. */
export function joinSamples(kept: readonly Sample[], live: readonly Sample[]): Sample[] {
  const end = kept.at(-1)?.t ?? -1
  return [...kept, ...live.filter(({ t }) => t > end)]
}

export function courseOf(samples: readonly Sample[], lastSeconds: number | null): Course {
  const end = samples.at(-1)?.t ?? 0
  const begin = Math.max(samples[0]?.t ?? 0, lastSeconds === null ? 0 : end - lastSeconds)
  const inside = samples.filter(({ t }) => t >= begin).length
  const steps = Math.max(1, Math.min(STEPS_MAX, inside - 1))
  const course: Course = {
    times: [],
    pages: [],
    waiting: [],
    pagesPerSecond: [],
    bytesPerSecond: [],
    failedPerSecond: [],
    skippedPerSecond: [],
  }
  if (samples.length < 2 || end <= begin) return course
  const gap = (end - begin) / steps
  let at = 0
  let before: Sample | null = null
  for (let step = 0; step <= steps; step++) {
    const t = begin + step * gap
    while (at < samples.length - 2 && (samples[at + 1]?.t ?? Infinity) < t) at++
    const now = between(samples[at], samples[at + 1], t)
    if (now === null) continue
    if (before !== null) {
      // A count that fell (shares moved, files were cut back) is no negative rate.
      const rateOf = (name: 'pages' | 'bytes' | 'failed' | 'skipped'): number =>
        Math.max(0, (now[name] - (before?.[name] ?? 0)) / gap)
      course.times.push(t)
      course.pages.push(now.pages)
      course.waiting.push(now.waiting)
      course.pagesPerSecond.push(rateOf('pages'))
      course.bytesPerSecond.push(rateOf('bytes'))
      course.failedPerSecond.push(rateOf('failed'))
      course.skippedPerSecond.push(rateOf('skipped'))
    }
    before = now
  }
  return course
}

function between(a: Sample | undefined, b: Sample | undefined, t: number): Sample | null {
  if (a === undefined || b === undefined) return null
  const part = b.t === a.t ? 1 : Math.min(1, Math.max(0, (t - a.t) / (b.t - a.t)))
  const mix = (name: keyof Sample): number => a[name] + (b[name] - a[name]) * part
  return {
    ...b,
    t,
    pages: mix('pages'),
    bytes: mix('bytes'),
    failed: mix('failed'),
    skipped: mix('skipped'),
    waiting: mix('waiting'),
  }
}
