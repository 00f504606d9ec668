// What a crawl remembers: ledger, seen sets, frontier, rules and files, brought back to where the last
// run left them.

import { join } from 'node:path'
import { MemoryContentSeen } from '../content-seen/index.ts'
import { lockDirectory, makeDirectory } from '../disk/index.ts'
import { MemoryFrontier } from '../frontier/index.ts'
import { JournalLedger } from '../ledger/index.ts'
import { RobotsCache } from '../robots/index.ts'
import { type CanonicalUrl, Fingerprinter, hostKeyOf } from '../url/index.ts'
import { MemoryUrlSeen } from '../url-seen/index.ts'
import type { Closers } from './closers.ts'
import { type CrawlFiles, keyOf, openCrawlFiles } from './crawl-files.ts'
import { CrawlDelays } from './crawl-delays.ts'
import type { CrawlPlan } from './crawl-plan.ts'
import { CrawlFigures } from './figures.ts'
import { replay, type Replayed } from './replay.ts'

export interface CrawlState {
  readonly ledger: JournalLedger
  readonly fingerprinter: Fingerprinter
  readonly seen: MemoryUrlSeen
  readonly contentSeen: MemoryContentSeen
  readonly frontier: MemoryFrontier
  readonly robots: RobotsCache
  readonly crawlDelays: CrawlDelays
  readonly figures: CrawlFigures
  readonly files: CrawlFiles
  readonly past: Replayed
}

/** The cache of robots rules gets at most this part of the memory planned with. */
const ROBOTS_MEMORY_SHARE = 1 / 16

export async function openCrawlState(plan: CrawlPlan, closers: Closers): Promise<CrawlState> {
  const { dir, settings, clock, random } = plan
  const folder = join(dir, 'state')
  await makeDirectory(folder)
  const lock = await lockDirectory(folder)
  closers.add(() => lock.release())
  const ledger = await JournalLedger.open({ path: join(folder, 'ledger.log'), random, create: plan.newIdentity })
  closers.add(() => ledger.close())

  const fingerprinter = new Fingerprinter(keyOf(ledger.identity))
  const seen = new MemoryUrlSeen()
  const contentSeen = new MemoryContentSeen()
  const figures = new CrawlFigures()
  const past = await replay(ledger, { seen, fingerprinter, contentSeen, figures })
  const files = await openCrawlFiles(plan, ledger.identity, past, closers)

  const robots = new RobotsCache(clock, {
    entriesMax: settings.robots.cacheEntries,
    bytesMax: Math.min(settings.robots.cacheBytes, settings.agent.memory * ROBOTS_MEMORY_SHARE),
  })
  robots.restore(past.robots)
  const frontier = new MemoryFrontier({
    clock,
    delayMs: settings.frontier.delay,
    ipDelayMs: settings.frontier.ipDelay,
    ipConnections: settings.frontier.ipConnections,
    urlsPerTurn: settings.frontier.urlsPerTurn,
  })
  const crawlDelays = new CrawlDelays(frontier, settings.robots.crawlDelayMax)
  restoreFrontier(frontier, crawlDelays, past, figures)
  return { ledger, fingerprinter, seen, contentSeen, frontier, robots, crawlDelays, figures, files, past }
}

/** What waited waits again; no host that was ever met is asked before a full rest has passed since this start. */
function restoreFrontier(
  frontier: MemoryFrontier,
  crawlDelays: CrawlDelays,
  past: Replayed,
  figures: CrawlFigures,
): void {
  for (const { origin, rules } of past.robots) {
    crawlDelays.learn(hostKeyOf(`${origin}/` as CanonicalUrl), origin, rules.crawlDelayMs)
  }
  for (const entry of past.waiting) frontier.offer(entry)
  for (const [host, pages] of past.pagesOfHost) frontier.restorePages(host, pages)
  for (const host of figures.hosts) frontier.rest(host, Math.max(frontier.leastRestMs(host), past.rests.get(host) ?? 0))
}
