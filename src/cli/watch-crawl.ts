// A crawl while it runs, from open to closed: progress on the terminal, its course, copies that others ask for, its archive shipped.

import { join } from 'node:path'
import { Fault, type StopReason, systemClock } from '../base/index.ts'
import { findIn, type Findings, printable, Timeline } from '../report/index.ts'
import { CheckpointDesk } from './checkpoint-requests.ts'
import type { CrawlJob } from './crawl-job.ts'
import { sampleOf, snapshotOf } from './crawl-moment.ts'
import type { Interruption } from './interruption.ts'
import { JsonProgress } from './json-progress.ts'
import { logForm } from './log-lines.ts'
import { Progress } from './progress.ts'
import { ArchiveShipment } from './ship-archive.ts'
import type { PendingChange, Steering } from './steering.ts'

export interface Stretch {
  readonly stoppedBecause: StopReason
  readonly fault: unknown
  readonly shipment: ArchiveShipment
  /** What a report says of pages and links, where that was read while the crawl was closed. */
  readonly findings: Findings | null
  /** It is not the end: the crawl is to be opened anew with this. */
  readonly change: PendingChange | null
}

/** With less, what the report needs waits until the agents' threads are gone. */
const ROOMY_BYTES = 2 ** 30

/** Runs the job to its end with progress and signals; whatever happens, everything is closed. */
export async function watchCrawl(
  job: CrawlJob,
  steering: Steering,
  interruption: Interruption,
  isOpenedAnew: boolean,
): Promise<Stretch> {
  const { dir, config, progress: mode, cluster } = steering.request
  const progress = logForm() === 'json' ? new JsonProgress() : new Progress(process.stderr, mode)
  const isShown = mode !== 'none'

  // Its course is for charts: a crawl does not end because it cannot be drawn.
  const withoutCourse = (fault: unknown): null => {
    const why = fault instanceof Error ? fault.message : String(fault)
    interruption.tell(
      `The course of the crawl is not written, and charts of it will lack: ${printable(why)}`,
      'warning',
    )
    return null
  }
  const timeline = await Timeline.open(join(dir, 'state/timeline.jsonl')).catch(withoutCourse)
  const tick = (): void => {
    if (isShown) progress.update(snapshotOf(job, steering.config))
    const sample = sampleOf(job)
    timeline?.append(sample)
    const { pages, bytes } = job.snapshot().done ?? sample
    const { cpuSeconds } = sample
    steering.note({ atMs: systemClock.nowMs(), pages, bytes, cpuMs: cpuSeconds * 1_000 })
  }
  const timer = setInterval(tick, progress.intervalMs)
  const desk = new CheckpointDesk(
    dir,
    (to) => job.checkpoint(to),
    (cause) =>
      progress.say(
        `A checkpoint could not be made: ${cause instanceof Error ? cause.message : String(cause)}`,
        'warning',
      ),
  )
  interruption.sayWith((line, kind) => progress.say(line, kind))
  const shipment = new ArchiveShipment(dir, config, cluster?.place.node ?? null, (line) => interruption.tell(line))
  // A node that leaves is not there for a next run: what it has goes first, unless it is asked twice.
  interruption.alsoStop(() => shipment.stop(), cluster === undefined ? 1 : 2)
  let stoppedBecause: StopReason
  let fault: unknown = null
  let change: PendingChange | null = null
  let findings: Findings | null = null
  // Of an archive that goes elsewhere more is known when it is there. What fails here fails where the report is written.
  const read = async (): Promise<void> => {
    findings = await findIn(dir).catch(() => null)
  }
  try {
    await desk.begin(isOpenedAnew)
    await shipment.begin(job.identity)
    stoppedBecause = await job.run()
    fault = job.fault
    change = steering.ended(stoppedBecause, fault, interruption.isWanted)
  } finally {
    clearInterval(timer)
    await desk.end()
    progress.clear()
    await timeline?.close(sampleOf(job)).catch(withoutCourse)
    // What is not shipped yet is shipped by the next that has the directory.
    const finish = change === null ? () => shipment.finish() : undefined
    const isReadNow = change === null && fault === null && config.shelf.to === '' && config.agent.memory >= ROOMY_BYTES
    await job.close(finish, isReadNow ? read : undefined).catch((closing: unknown) => {
      fault ??= closing
    })
    await shipment.stop()
    steering.closed()
  }
  if (fault !== null && change !== null) {
    change.opened.resolve()
    change = null
  }
  if (fault instanceof Fault && fault.code === 'DISK_FULL') {
    return { stoppedBecause: 'disk-full', fault, shipment, findings, change }
  }
  return { stoppedBecause: fault === null ? stoppedBecause : 'error', fault, shipment, findings, change }
}
