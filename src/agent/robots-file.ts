import { stat } from 'node:fs/promises'
import type { RobotsCache, SavedRobotsEntry } from '../robots/index.ts'
import { type JsonLines, readPlacedLines } from '../store/index.ts'
import { type CanonicalUrl, hostKeyOf, originOf } from '../url/index.ts'
import type { CrawlDelays } from './crawl-delays.ts'

/** What lies further back is older than what fills the cache. */
const TAIL_BYTES_MAX = 64 * 2 ** 20

/** Rules that earlier runs learnt, as far as they still hold; the last word of an origin counts. */
export async function restoreRobots(path: string, cache: RobotsCache, crawlDelays: CrawlDelays): Promise<void> {
  const { size } = await stat(path)
  const from = Math.max(0, size - TAIL_BYTES_MAX)
  for await (const { record } of readPlacedLines<SavedRobotsEntry>(path, from, true)) {
    cache.delete(record.origin)
    cache.restore([record])
    crawlDelays.learn(hostKeyOf(`${record.origin}/` as CanonicalUrl), record.origin, record.rules.crawlDelayMs)
  }
}

/** Whoever asks for a URL again asks for its robots.txt again, if that could not be had. Whether there was something to forget. */
export function forgetUnreachable(
  url: CanonicalUrl,
  cache: RobotsCache,
  file: Pick<JsonLines<SavedRobotsEntry>, 'append'>,
): boolean {
  const origin = originOf(url)
  const rules = cache.getStale(origin)?.rules.save()
  if (rules?.answer !== 'disallow-all') return false
  cache.delete(origin)
  file.append({ origin, fetchedWallMs: 0, lifeMs: 0, rules, sitemaps: [] })
  return true
}
