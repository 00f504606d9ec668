// One agent's share made one that can go on, by what was found (crawl-inspection.ts):
//
//   1  what lies in files behind the last batch is copied aside, files begun after it are moved aside
//   2  the journal is cut back to its last good batch
//   3  damaged parts are moved aside and made anew from what the others know
//   4  a batch is committed that names the new parts
//
// Nothing is ever deleted: what is cut or replaced lies in state/damaged-<time>/. Every step can be interrupted and the
// whole done again: what was moved aside and is named by no batch yet is found missing, and made once more.
//
// Frontier and seen set are made anew together by one rule, whatever was wrong with them:
//
//   settled   URLs of pages.jsonl and failures.jsonl, as far as the last batch counts them
//   waiting   all others that the frontier's store, the journal or the cut ends of those files know
//   seen      both
//
// So no URL that anything remembers is lost, and a page whose line was cut is fetched again. A URL that nothing remembers is
// unknown, not seen: a link to it makes it new.

import { copyFile, mkdir, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, Fault, type Random } from '../base/index.ts'
import { syncDirectory } from '../disk/index.ts'
import { emptyBatch, lookAtJournal, repairJournal, SegmentedJournal } from '../ledger/index.ts'
import { strategyOf } from '../strategy/index.ts'
import { Fingerprinter } from '../url/index.ts'
import { DiskUrlSeen } from '../url-seen/index.ts'
import { keyOf } from './crawl-files.ts'
import type { RepairPlan } from './crawl-inspection.ts'
import type { CrawlTotals } from './figures.ts'
import { beginFrontier, replaceFrontier, salvageCopy } from './frontier-repair.ts'
import { planMemory } from './memory-plan.ts'
import { Rebuilding } from './rebuilding.ts'
import { endOfLines, setTailsAside } from './set-aside.ts'
import type { CrawlSettings } from './options.ts'
import type { SharePlace } from './share-place.ts'

export interface RepairParts {
  readonly place: SharePlace
  readonly settings: CrawlSettings
  readonly clock: Clock
  readonly random: Random
  /** Names the directory for what is cut or replaced. */
  readonly wallMs: number
}

export interface RepairedShare {
  /** Where everything that was cut or replaced lies now. */
  readonly movedTo: string
  /** What waits now, and how much of it was settled and will be asked for again. */
  readonly waiting: number
  readonly again: number
  /** URLs that waited and that nothing remembers: links to them make them new. */
  readonly lost: number
}

const KEPT_WHOLE = ['seeds', 'held', 'robots', 'givenUp', 'manners'] as const

export async function repairShare(parts: RepairParts, plan: RepairPlan, scratch: string): Promise<RepairedShare> {
  const { place, clock, random, wallMs } = parts
  const { dir } = place
  const aside = join(dir, `state/damaged-${new Date(wallMs).toISOString().replaceAll(':', '-')}`)
  await mkdir(aside, { recursive: true })
  await syncDirectory(join(dir, 'state'))
  const states: Record<string, unknown> = { ...plan.last.batch.files, ...plan.shortened }
  if (plan.exchange !== null) states['exchange'] = plan.exchange
  // Before they are cut: the ends of these files know URLs.
  const rebuilding = new Rebuilding(dir, plan.last.batch.files, strategyOf(parts.settings.strategy))
  if (plan.hasLostEnd || Object.keys(plan.shortened).length > 0) {
    if (plan.rebuildsFrontier) {
      for (const name of KEPT_WHOLE) {
        if (typeof states[name] === 'number' && !(name in plan.shortened)) {
          states[name] = await endOfLines(dir, name, states[name])
        }
      }
    }
    await rebuilding.rememberEnds()
    await setTailsAside(place, states, aside)
  }
  if (plan.isJournalCut) await repairJournal(join(dir, 'state/journal'), { wallMs, heldUpTo: plan.heldUpTo })
  // What looks like a batch that was being written when a process died was more than that; opening cuts it off.
  else if (plan.hasLostEnd) await copyLastSegment(join(dir, 'state/journal'), aside)

  const journal = await SegmentedJournal.open({
    directory: join(dir, 'state/journal'),
    random,
    create: () => {
      throw new Fault('LEDGER_CORRUPT', `the journal of ${dir} is gone`)
    },
  })
  try {
    const number = journal.lastNumber + 1
    const totals = plan.last.batch.totals as CrawlTotals
    const expected = totals.admitted - settledBy(totals)
    let waiting = expected
    let hosts = totals.hosts
    if (plan.rebuildsContents) {
      await moveAside(dir, 'contents', aside)
      states['contents'] = null
    }
    if (plan.rebuildsSeen) {
      await moveAside(dir, 'seen', aside)
      const memory = planMemory(parts.settings.agent.memory, place.agents)
      const seen = await DiskUrlSeen.open({
        directory: join(dir, 'state/seen'),
        memoryBytes: memory.seenBytes,
        state: null,
      })
      const frontier = plan.rebuildsFrontier
        ? await beginFrontier({ dir, settings: parts.settings, clock }, memory.frontierBytes)
        : null
      try {
        seen.mark(number)
        await rebuilding.into(new Fingerprinter(keyOf(journal.identity)), seen, frontier, number, {
          stored: async (show) => {
            if (plan.isFrontierReadable) await salvageCopy(dir, scratch, show)
          },
          told: () => lookAtJournal(join(dir, 'state/journal')),
        })
        await seen.flush()
        states['seen'] = seen.state()
        if (frontier !== null) {
          waiting = rebuilding.waiting
          hosts = frontier.figures().hosts
        }
      } finally {
        await seen.close()
        await frontier?.close()
      }
      if (frontier !== null) await replaceFrontier(dir, () => moveAside(dir, 'frontier', aside))
    }
    const admitted = settledBy(totals) + waiting
    await journal.commit({ ...emptyBatch(), files: states, totals: { ...totals, admitted, hosts } })
    return { movedTo: aside, waiting, again: rebuilding.again, lost: Math.max(0, expected - waiting) }
  } finally {
    await journal.close()
  }
}

async function copyLastSegment(journal: string, aside: string): Promise<void> {
  const name = (await readdir(journal))
    .filter((one) => one.endsWith('.log'))
    .toSorted()
    .at(-1)
  if (name !== undefined) await copyFile(join(journal, name), join(aside, name))
}

async function moveAside(dir: string, part: string, aside: string): Promise<void> {
  try {
    await rename(join(dir, 'state', part), join(aside, part))
  } catch (cause) {
    // Missing: that is why it is made anew.
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
  }
}

function settledBy({ pages, failed, skipped }: CrawlTotals): number {
  return Object.values(skipped).reduce((sum: number, count) => sum + count, pages + failed)
}
