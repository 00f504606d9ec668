// The course of a crawl of several machines is kept by the node that has share 0, whichever that is at the time.

import type { Clock, ClockMs } from '../base/index.ts'

export interface CourseSource {
  keepCourse(isLast: boolean): Promise<void>
  close(): Promise<void>
}

/** How often it is looked whose it is; and between two samples. */
const LOOK_MS = 1_000
const SAMPLE_MS = 5_000
/** Nobody waits longer for the end of a chart: the engine may be away. */
const END_MS = 2_000

/**
 * Begins. The source is opened when it is first needed, and most nodes never do. A chart is not worth a word: what fails is tried again.
 * The function it gives ends it, with a last sample where the share was here at last.
 */
export function keepCourse(
  clock: Clock,
  isChair: () => boolean,
  open: () => Promise<CourseSource>,
): () => Promise<void> {
  let source: CourseSource | null = null
  let sampledMs = -Infinity
  let wasChair = false
  let isOver = false
  let cancel = (): void => {}
  const sample = async (isLast: boolean): Promise<void> => {
    try {
      source ??= await open()
      await source.keepCourse(isLast)
    } catch {
      // The engine is away, or nobody answers.
    }
  }
  let sampling: Promise<void> = Promise.resolve()
  const look = async (): Promise<void> => {
    wasChair = isChair()
    if (wasChair && clock.nowMs() - sampledMs >= SAMPLE_MS) {
      sampledMs = clock.nowMs()
      await sample(false)
    }
    lookLater()
  }
  const lookLater = (): void => {
    if (isOver) return
    cancel = clock.callAt((clock.nowMs() + LOOK_MS) as ClockMs, () => {
      sampling = look()
    })
  }
  lookLater()
  return async () => {
    isOver = true
    cancel()
    const ended = (async () => {
      await sampling
      if (wasChair) await sample(true)
      await source?.close().catch(() => {})
    })()
    await new Promise<void>((resolve) => {
      const giveUp = clock.callAt((clock.nowMs() + END_MS) as ClockMs, resolve)
      void ended.finally(() => {
        giveUp()
        resolve()
      })
    })
  }
}
