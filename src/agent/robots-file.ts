import { stat } from 'node:fs/promises'
import type { RobotsCache, SavedRobotsEntry } from '../robots/index.ts'
import { readPlacedLines } from '../store/index.ts'
import { type CanonicalUrl, hostKeyOf } from '../url/index.ts'
import type { CrawlDelays } from './crawl-delays.ts'

/** What lies further back is older than what fills the cache. */
const TAIL_BYTES_MAX = 64 * 2 ** 20

/** Rules that earlier runs learnt, as far as they still hold; the last word of an origin counts. */
export async function restoreRobots(path: string, cache: RobotsCache, crawlDelays: CrawlDelays): Promise<void> {
  const { size } = await stat(path)
  const from = Math.max(0, size - TAIL_BYTES_MAX)
  for await (const { record } of readPlacedLines<SavedRobotsEntry>(path, from, true)) {
    cache.restore([record])
    crawlDelays.learn(hostKeyOf(`${record.origin}/` as CanonicalUrl), record.origin, record.rules.crawlDelayMs)
  }
}
