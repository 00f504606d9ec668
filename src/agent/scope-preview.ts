// What another scope would do to what waits: every waiting URL is judged as it would be when its turn comes in a crawl that was
// opened with that scope (the visitor's `rescope`), beside the crawl, in short steps, and for a bounded time.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock, RefusalReason } from '../base/index.ts'
import type { DiskFrontier } from '../frontier/index.ts'
import { type CanonicalUrl, compileScope, type UrlOptions } from '../url/index.ts'

export interface ScopePreview {
  /** URLs that were looked at. */
  readonly seen: number
  /** Those that would be skipped. */
  readonly hit: number
  readonly reasons: Readonly<Partial<Record<RefusalReason, number>>>
  readonly examples: readonly string[]
  /** False: the time was up before all were looked at. */
  readonly isComplete: boolean
}

export interface PreviewParts {
  readonly clock: Clock
  readonly frontier: Pick<DiskFrontier, 'survey'>
  /** All seeds, and what they redirected to. */
  readonly seeds: Iterable<CanonicalUrl>
  /** Nobody waits for it any more, and the last batch must not. */
  readonly isStopping: () => boolean
}

/** Time of its own it may take, on the agent's thread. */
const OWN_MS_MAX = 2_000
const STEP_MS = 4
/** After a step it rests for so many times as long: a quarter of the thread at most. */
const RESTS = 3
const EXAMPLES_MAX = 20

export async function previewScope(
  options: UrlOptions,
  { clock, frontier, seeds, isStopping }: PreviewParts,
  ownMsMax = OWN_MS_MAX,
): Promise<ScopePreview> {
  const scope = compileScope(options)
  for (const seed of seeds) scope.addSeed(seed)
  const reasons: Partial<Record<RefusalReason, number>> = {}
  const examples: string[] = []
  let seen = 0
  let hit = 0
  let ownMs = 0
  let isComplete = true
  let stepMs = clock.nowMs()
  for await (const entries of frontier.survey()) {
    for (const { url, depth } of entries) {
      seen++
      const reason = scope.judge(url, depth)
      if (reason === null) continue
      hit++
      reasons[reason] = (reasons[reason] ?? 0) + 1
      if (examples.length < EXAMPLES_MAX) examples.push(url)
    }
    const tookMs = clock.nowMs() - stepMs
    if (tookMs < STEP_MS) continue
    ownMs += tookMs
    if (ownMs > ownMsMax || isStopping()) {
      isComplete = false
      break
    }
    await sleep(tookMs * RESTS)
    stepMs = clock.nowMs()
  }
  return { seen, hit, reasons, examples, isComplete }
}
