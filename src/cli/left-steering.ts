// How a crawl goes on that was steered before its process ended (src/control/kept-steering.ts): as it was left, where its guard starts it
// again after a crash; else as the command says that somebody typed, who wants it to go on.

import { mergeSaid } from '../config/index.ts'
import { type KeptSteering, loadOptionChanges, loadSteering, SPEED_OPTIONS } from '../control/index.ts'
import type { CrawlRequest } from './crawl-job.ts'
import { guardOf } from './guard.ts'

export interface LeftRun {
  /** With what was changed before the crash. */
  readonly request: CrawlRequest
  readonly kept: KeptSteering
  /** What stands on the disk about it. */
  readonly found: KeptSteering
  /** For people, where they might wonder. */
  readonly words: string | null
}

export async function asItWasLeft(request: CrawlRequest): Promise<LeftRun> {
  const found = await loadSteering(request.dir)
  const guard = guardOf()
  const speeds = speedsBeside(found.speeds, request)
  if (guard === null || found.guard !== guard) {
    const kept = { guard, isPaused: false, limits: {}, changed: {}, speeds }
    return { request, kept, found, words: found.isPaused ? 'It was paused when it ended, and goes on now.' : null }
  }
  const words = found.isPaused ? 'It was paused, and stays so until somebody resumes it.' : null
  if (Object.keys(found.changed).length === 0) return { request, kept: found, found, words }
  // The arguments are those of the beginning: what was changed since holds against them.
  const { checkChange } = await loadOptionChanges()
  const { said, config } = checkChange(mergeSaid(request.stored, request.said), found.changed)
  return { request: { ...request, said: {}, stored: said, config }, kept: found, found, words }
}

/** Another speed for all, said by the command, holds for each. */
function speedsBeside(speeds: KeptSteering['speeds'], { said: now, stored }: CrawlRequest): KeptSteering['speeds'] {
  const isSaid = (key: string): boolean => now['agent']?.[key] !== stored['agent']?.[key]
  const said = new Set<string>(Object.entries(SPEED_OPTIONS).flatMap(([key, name]) => (isSaid(key) ? [name] : [])))
  const left = Object.entries(speeds).map(
    ([number, speed]) =>
      [number, Object.fromEntries(Object.entries(speed).filter(([name]) => !said.has(name)))] as const,
  )
  return Object.fromEntries(left.filter(([, speed]) => Object.keys(speed).length > 0))
}
