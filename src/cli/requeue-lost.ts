// `portolan requeue --lost-archives`: pages whose WARC file is neither here nor where --archive-to has put it are had again.

import { join } from 'node:path'
import { collectLost, Crawl, LostCaptures } from '../agent/index.ts'
import { systemClock } from '../base/index.ts'
import { lockDirectory } from '../disk/index.ts'
import { formatNumberOf, printable } from '../report/index.ts'
import { finishedFiles, loadLostFiles, loadShipped, ShippedFiles } from '../store/index.ts'
import { bringViewUpToDate } from '../view/index.ts'
import { plansWithoutSeeds, shellWord, storedConfig } from './crawl-directory.ts'

export interface LostFound {
  /** Files that are gone, by name. */
  readonly files: readonly string[]
  /** Pages that wait again. */
  readonly pages: number
}

const NAMED_MAX = 5

/** Not while the crawl runs. Files whose loss was seen to before are not counted again. */
export async function requeueLostIn(dir: string): Promise<LostFound> {
  const settings = await storedConfig(dir)
  const lock = await lockDirectory(join(dir, 'state'))
  try {
    const gone = new Set<string>()
    const isGone = await goneFrom(dir, gone)
    const plans = await plansWithoutSeeds(dir, settings)
    const lost = new LostCaptures()
    // All agents first: what one has lost may be the original of another's page.
    for (const plan of plans) await collectLost(join(plan.dir, 'pages.jsonl'), isGone, lost)
    if (gone.size === 0) return { files: [], pages: 0 }
    let pages = 0
    for (const [agent, plan] of plans.entries()) {
      const job = await Crawl.open({ ...plan, notesLost: true })
      try {
        pages += await job.requeueLost(isGone, lost)
        // Once all of it waits, and before the index is made anew.
        if (agent === plans.length - 1) await giveUp(dir, gone)
      } finally {
        await job.close()
      }
    }
    await bringViewUpToDate(dir)
    return { files: [...gone].sort(), pages }
  } finally {
    await lock.release()
  }
}

async function goneFrom(dir: string, gone: Set<string>): Promise<(file: string) => boolean> {
  const { finished, open } = await finishedFiles(dir)
  const [shipped, seenTo] = [await loadShipped(dir), await loadLostFiles(dir)]
  return (file) => {
    if (finished.has(file) || open.has(file) || shipped.has(file) || seenTo.has(file)) return false
    gone.add(file)
    return true
  }
}

async function giveUp(dir: string, files: ReadonlySet<string>): Promise<void> {
  const shipped = await ShippedFiles.open(dir)
  try {
    const at = new Date(systemClock.wallMs()).toISOString()
    for (const file of files) await shipped.giveUp(file, at)
  } finally {
    await shipped.close()
  }
}

export function describeLost(dir: string, { files, pages }: LostFound): string {
  if (files.length === 0) return `No WARC file of ${printable(dir)} is lost: each is here, or was shipped.\n`
  const named = files.slice(0, NAMED_MAX).map((file) => `  ${printable(file)}\n`)
  const more = files.length > NAMED_MAX ? `  and ${files.length - NAMED_MAX} more\n` : ''
  return (
    `${formatNumberOf(files.length, 'WARC file is', 'WARC files are')} lost:\n${named.join('')}${more}` +
    `${formatNumberOf(pages, 'page waits', 'pages wait')} again in ${printable(dir)}.\n` +
    `\`portolan crawl --dir ${shellWord(dir)}\` fetches them anew.\n`
  )
}
