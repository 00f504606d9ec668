// A consistent copy of a crawl, taken while it goes on.
//
//   what never changes again   finished WARC files, runs and tables that the last batch counts on: hard links where the file
//                              system allows it, so they cost nothing
//   what grows                 pages.jsonl, the open WARC, the journal …: copied as far as the last batch counts them
//
// Of several agents all are held at once, each copies its share and its own files of the archive, and the merged files are made
// from what was copied: copySharedCrawl().
//
// Commits are held while links are made and the other files are opened, so that all of it is the state after one batch; the
// copying itself goes on beside the crawl. The copy bears its name only when it is whole and synced.
//
// Always true: what is linked is not being written. Runs are those the last batch names, tables those the manifest names (a
// half-written one is named by neither), WARC files those that bear their final name and have the length that counts. And
// what is named is there: runs are unlinked by commits, tables after an edit of the manifest, which is looked at before and after.

import { link, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { diskFault, Fault } from '../base/index.ts'
import { makeDirectory, syncDirectory } from '../disk/index.ts'
import { inspectJournal, lookAtLastBatch } from '../ledger/index.ts'
import { bringViewUpToDate, loadLayout, refuseMissingShares } from '../view/index.ts'
import { isArchiveOf } from './archive-owner.ts'
import { type ArchivePlaces, CrawlCopy, type CopyFigures, syncTree } from './crawl-copy.ts'
import { lockUnlessReadOnly } from './read-only-lock.ts'

export interface CheckpointFigures extends CopyFigures {
  readonly to: string
  /** How long commits were held. */
  readonly heldMs: number
}

export interface CopyPlan {
  readonly dir: string
  /** Must not exist. */
  readonly to: string
  /** Keeps the directory still (no commit, no store of the frontier being written) and gives it free again. */
  readonly hold: () => Promise<() => void>
  /** What the last batch says of files and parts, by name; asked while the directory is held. */
  readonly states: () => Readonly<Record<string, unknown>>
  readonly nowMs: () => number
  /** Where several agents write one archive. */
  readonly archive?: ArchivePlaces
  /** As the system does it; tests play another file system. */
  readonly link?: (from: string, to: string) => Promise<void>
}

export async function copyCrawl(plan: CopyPlan): Promise<CheckpointFigures> {
  const { dir, to, hold, nowMs } = plan
  let copy: CrawlCopy | null = null
  try {
    return await underItsName(dir, to, async (partial) => {
      copy = new CrawlCopy(dir, partial, plan.archive, plan.link ?? link)
      const release = await hold()
      const heldFromMs = nowMs()
      let heldMs: number
      try {
        await copy.take(plan.states())
      } finally {
        heldMs = nowMs() - heldFromMs
        release()
      }
      await copy.finish()
      return { to, ...copy.figures, heldMs }
    })
  } finally {
    await (copy as CrawlCopy | null)?.close()
  }
}

/** Several agents of a crawl, each with its share and its part of the archive. */
export interface SharesCopyPlan {
  readonly dir: string
  /** Must not exist. */
  readonly to: string
  /** Copies every share to its place below `to`, and the archive beside: all as of one moment. */
  readonly copyShares: (to: string) => Promise<readonly CheckpointFigures[]>
}

/** What belongs to no agent is added, and the merged files are made from the shares as they were copied. */
export async function copySharedCrawl({ dir, to, copyShares }: SharesCopyPlan): Promise<CheckpointFigures> {
  let copy: CrawlCopy | null = null
  try {
    return await underItsName(dir, to, async (partial) => {
      await makeDirectory(join(partial, 'state'))
      const figures = [...(await copyShares(partial))]
      copy = new CrawlCopy(dir, partial, undefined, link)
      await copy.takeCommon()
      await copy.finish()
      figures.push({ to, ...copy.figures, heldMs: 0 })
      await bringViewUpToDate(partial)
      await syncTree(partial)
      const sum = (of: (one: CheckpointFigures) => number): number => figures.reduce((all, one) => all + of(one), 0)
      return {
        to,
        linkedFiles: sum(({ linkedFiles }) => linkedFiles),
        copiedFiles: sum(({ copiedFiles }) => copiedFiles),
        copiedBytes: sum(({ copiedBytes }) => copiedBytes),
        heldMs: Math.max(...figures.map(({ heldMs }) => heldMs)),
      }
    })
  } finally {
    await (copy as CrawlCopy | null)?.close()
  }
}

/** Has something written to a directory beside, which is given its name when it is whole. */
async function underItsName<T>(dir: string, to: string, write: (partial: string) => Promise<T>): Promise<T> {
  if ((await stat(to).catch(() => null)) !== null) {
    throw new Fault('CONFIG_INVALID', `${to} exists already; a checkpoint is written to a new directory`)
  }
  const partial = `${to}.partial`
  try {
    await rm(partial, { recursive: true, force: true })
    await makeDirectory(partial)
    const result = await write(partial)
    await rename(partial, to)
    await syncDirectory(dirname(to))
    return result
  } catch (cause) {
    await rm(partial, { recursive: true, force: true }).catch(() => {})
    throw diskFault(`copying ${dir} to ${to}`, cause)
  }
}

/** The same for a crawl that nobody runs: it is locked meanwhile. */
export async function copyStoppedCrawl(
  dir: string,
  to: string,
  parts: Pick<CopyPlan, 'nowMs' | 'link'>,
): Promise<CheckpointFigures> {
  const lock = await lockUnlessReadOnly(join(dir, 'state'))
  try {
    const names = await loadLayout(dir)
    if (names === null) return await copyStopped(dir, dir, { ...parts, to })
    await refuseMissingShares(dir, names)
    return await copySharedCrawl({
      dir,
      to,
      copyShares: async (partial) => {
        const figures: CheckpointFigures[] = []
        for (const [agent, name] of names.entries()) {
          const archive = archivePlaces(dir, partial, agent, names.length)
          figures.push(await copyStopped(dir, join(dir, name), { ...parts, to: join(partial, name), archive }))
        }
        return figures
      },
    })
  } finally {
    await lock?.release()
  }
}

export function archivePlaces(from: string, to: string, agent: number, agents: number): ArchivePlaces {
  return { from, to, isOurs: (name) => isArchiveOf(name, agent, agents) }
}

async function copyStopped(
  crawlDir: string,
  dir: string,
  plan: Pick<CopyPlan, 'nowMs' | 'link' | 'to' | 'archive'>,
): Promise<CheckpointFigures> {
  const journal = join(dir, 'state/journal')
  const { isSound } = await inspectJournal(journal)
  if (!isSound) {
    const what = `the journal of ${dir} is damaged, and a copy of it would be too`
    throw new Fault('LEDGER_CORRUPT', `${what}; \`portolan repair ${crawlDir}\` says what can be saved`)
  }
  const states = (await lookAtLastBatch(journal))?.batch.files ?? {}
  return await copyCrawl({ ...plan, dir, hold: async () => () => {}, states: () => states })
}
