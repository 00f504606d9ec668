// What a crawl remembers: journal, seen sets, frontier, rules and files, brought back to where the last
// run left them.
//
//   state/journal/   what happened, batch by batch: the commit
//   state/frontier/  what waits      ┐ each holds the batches up to one of them, and is told the rest
//   state/seen/      URLs met        ┘ by replay
//   state/contents/  digests met: told the rest from pages.jsonl, which has them all
//   state/returned/  an index of returns.jsonl, made when a run begins

import { join } from 'node:path'
import { DiskContentSeen, type ContentState } from '../content-seen/index.ts'
import { LineReader, lockDirectory, makeDirectory } from '../disk/index.ts'
import { DiskFrontier, HostRules } from '../frontier/index.ts'
import { type Journal, type LedgerBatch, SegmentedJournal } from '../ledger/index.ts'
import { RobotsCache } from '../robots/index.ts'
import { readJsonLines, ReturnedPages } from '../store/index.ts'
import { Fingerprinter } from '../url/index.ts'
import { DiskUrlSeen, type SeenState } from '../url-seen/index.ts'
import type { Closers } from './closers.ts'
import type { CommittedFile } from './books.ts'
import { type CrawlFiles, keyOf, openCrawlFiles, type Seed } from './crawl-files.ts'
import { CrawlDelays } from './crawl-delays.ts'
import type { CrawlPlan } from './crawl-plan.ts'
import { CrawlFigures, type CrawlTotals } from './figures.ts'
import { type LostCaptures, readLost } from './lost-captures.ts'
import { planMemory } from './memory-plan.ts'
import { notedOriginalsIn, originalsIn, tellContents, tellNotedContents } from './page-originals.ts'
import { refuseRemains } from './remains.ts'
import { refuseLostEnd, replay } from './replay.ts'
import { restoreRobots } from './robots-file.ts'

export interface CrawlState {
  readonly journal: Journal
  readonly fingerprinter: Fingerprinter
  readonly seen: DiskUrlSeen
  readonly contentSeen: DiskContentSeen
  readonly frontier: DiskFrontier
  readonly robots: RobotsCache
  readonly crawlDelays: CrawlDelays
  readonly figures: CrawlFigures
  readonly files: CrawlFiles
  readonly past: Past
  /** Pages that were returned to; null where none was, or nothing waits. */
  readonly returned: ReturnedPages | null
  /** Originals whose copy in the archive is lost; null where none is. */
  readonly lost: LostCaptures | null
  /** Files and parts on disk that every batch speaks of. */
  readonly committed: ReadonlyMap<string, CommittedFile>
  /** Batches up to this one are in every part on disk. */
  readonly heldElsewhere: () => number
  /** Has every part write out what it holds in memory, to be named by the batch that comes next. */
  readonly writeOut: () => Promise<void>
  /** The same in the middle of a crawl; the frontier is written with that batch. */
  readonly writeDown: () => Promise<void>
}

/** What earlier runs left that is looked at only when a run begins. */
export interface Past {
  readonly isNew: boolean
  readonly seeds: readonly Seed[]
  /** What the last batch says of files and parts, by name; of parts, what is here. */
  readonly states: Readonly<Record<string, unknown>>
  /** The last batch speaks of parts that are not here: it was written on another machine. */
  readonly isMoved: boolean
}

/** A journal longer than this is shortened: it is what the next opening reads. */
const JOURNAL_BYTES_MAX = 64 * 2 ** 20

/** Tells the pipeline that a host has become ready by itself; set once there is a pipeline. */
export interface Bell {
  ring: () => void
}

export async function openCrawlState(plan: CrawlPlan, closers: Closers, bell: Bell): Promise<CrawlState> {
  const { dir, settings, clock, random } = plan
  const folder = join(dir, 'state')
  await makeDirectory(folder)
  if (!plan.isLocked) {
    const lock = await lockDirectory(folder)
    closers.add(() => lock.release())
  }
  await refuseRemains(dir)
  const journalOptions = { directory: join(folder, 'journal'), random, create: plan.newIdentity }
  const journal: Journal =
    plan.keeper === undefined
      ? await SegmentedJournal.open(journalOptions)
      : await plan.keeper.openJournal(journalOptions)
  closers.add(() => journal.close())
  const last = await lastBatch(journal)
  const said = last?.files ?? {}
  const states = plan.keeper?.statesHere(journal.lastNumber, said) ?? said
  const memory = planMemory(settings.agent.memory, plan.share?.here ?? 1)
  const rules = HostRules.of(settings.frontier.rules)
  const frontier = await DiskFrontier.open({
    directory: join(folder, 'frontier'),
    memoryBytes: memory.frontierBytes,
    clock,
    delayMs: settings.frontier.delay,
    ipDelayMs: settings.frontier.ipDelay,
    ipConnections: settings.frontier.ipConnections,
    domainDelayMs: settings.frontier.domainDelay,
    rules,
    urlsPerTurn: settings.frontier.urlsPerTurn,
    onReady: () => bell.ring(),
    ...(plan.share === null ? {} : { ipGate: plan.share.ipGate, domainGate: plan.share.domainGate }),
  })
  closers.add(() => frontier.close())
  const seenState = (states['seen'] as SeenState | undefined) ?? null
  // Before any file is cut back to what the journal says: one that has lost its end says too little.
  await refuseLostEnd(journal, Math.max(frontier.replayFrom, seenState?.replayFrom ?? 0))
  const files = await openCrawlFiles(plan, journal.identity, states, closers)
  const seeds: Seed[] = []
  for await (const seed of readJsonLines<Seed>(files.seeds.path)) seeds.push(seed)

  const fingerprinter = new Fingerprinter(keyOf(journal.identity))
  const seen = await DiskUrlSeen.open({
    directory: join(folder, 'seen'),
    memoryBytes: memory.seenBytes,
    state: seenState,
  })
  closers.add(() => seen.close())
  const originalLines = await LineReader.open((files.originals ?? files.pages).path)
  closers.add(() => originalLines.close())
  const lost = files.lost === null || files.lost.length === 0 ? null : await readLost(files.lost.path)
  const contentState = (states['contents'] as ContentState | undefined) ?? null
  const contentSeen = await DiskContentSeen.open({
    directory: join(folder, 'contents'),
    memoryBytes: memory.contentsBytes,
    state: contentState,
    readOriginal: files.originals === null ? originalsIn(originalLines, lost) : notedOriginalsIn(originalLines, lost),
  })
  closers.add(() => contentSeen.close())
  const robots = new RobotsCache(clock, {
    entriesMax: settings.robots.cacheEntries,
    bytesMax: Math.min(settings.robots.cacheBytes, memory.robotsBytes),
  })
  const crawlDelays = new CrawlDelays(frontier, settings.robots.crawlDelayMax, rules)
  await restoreRobots(files.robots.path, robots, crawlDelays)
  await replay(journal, { seen, seenHolds: seenState?.replayFrom ?? 0, fingerprinter, frontier })
  const returned =
    frontier.figures().waiting === 0 ? null : await ReturnedPages.open(files.returns.path, join(folder, 'returned'))
  if (returned !== null) closers.add(async () => returned.close())
  const contentsHold = contentState?.replayFrom ?? 0
  if (files.originals === null) await tellContents(contentSeen, files.pages.path, contentsHold, lost)
  else await tellNotedContents(contentSeen, files.originals.path, contentsHold, lost)

  let seenHolds = seenState?.replayFrom ?? 0
  const committed = new Map<string, CommittedFile>(files.committed)
  committed.set('seen', {
    state: (number) => {
      seen.mark(number)
      return seen.state()
    },
    committed: async (state) => {
      seen.committed(state as SeenState)
      seenHolds = (state as SeenState).replayFrom
    },
  })
  committed.set('contents', {
    state: () => {
      contentSeen.mark((files.originals ?? files.pages).length)
      return contentSeen.state()
    },
    committed: async (state) => contentSeen.committed(state as ContentState),
  })
  let isEnding = false
  let isBroken = false
  let isSealWanted = false
  let isSeenBehind = false
  committed.set('frontier', {
    state: (number) => {
      const isLong = journal.bytesAfter(frontier.replayFrom) > JOURNAL_BYTES_MAX
      const isWanted = isEnding || isSealWanted || isLong || frontier.wantsSeal()
      if (!isBroken && frontier.canSeal && isWanted) {
        isSealWanted = false
        frontier.seal(number)
      }
      return undefined
    },
    committed: async (_, number) => {
      frontier.committed(number)
      if (isEnding) await frontier.written()
      else if (!isSeenBehind && journal.bytesAfter(seenHolds) > 2 * JOURNAL_BYTES_MAX) {
        isSeenBehind = true
        // Beside the crawl. A fault of the set is thrown by its next answer.
        void seen
          .flush()
          .catch(() => {})
          .finally(() => (isSeenBehind = false))
      }
    },
  })
  return {
    journal,
    fingerprinter,
    seen,
    contentSeen,
    frontier,
    robots,
    crawlDelays,
    figures: CrawlFigures.from((last?.totals as CrawlTotals | undefined) ?? null),
    files,
    past: { isNew: last === null, seeds, states, isMoved: states !== said },
    returned,
    lost,
    committed,
    heldElsewhere: () => Math.min(seenHolds, frontier.replayFrom),
    writeOut: async () => {
      try {
        await frontier.written()
        await seen.flush()
        await contentSeen.flush()
        isEnding = true
      } catch (fault) {
        isBroken = true
        throw fault
      }
    },
    writeDown: async () => {
      await frontier.written()
      await seen.flush()
      await contentSeen.flush()
      isSealWanted = true
    },
  }
}

/** The last thing that happened; null in a crawl that begins. */
async function lastBatch(journal: Journal): Promise<LedgerBatch | null> {
  if (journal.lastNumber === 0) return null
  for await (const { batch } of journal.history(journal.lastNumber - 1)) return batch
  return null
}
