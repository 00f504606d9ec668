// The store of the waiting URLs in the hands of a repair: found, read from a copy, replaced.
//
//   state/frontier.rebuilding   is being filled; worth nothing
//   state/frontier.rebuilt      filled and written: stands for state/frontier wherever that is missing
//   state/frontier              moved aside, then the one above takes its name
//
// Always true: between any two of these steps one of the last two names has a store that is complete, or as damaged as it
// was found.

import { copyFile, link, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, diskFault, Fault } from '../base/index.ts'
import { moveDurably } from '../disk/index.ts'
import { DiskFrontier, type FrontierEntry, salvageFrontier, type SalvagedFrontier } from '../frontier/index.ts'
import type { CrawlSettings } from './options.ts'

const PLACE = 'state/frontier'
const REBUILT = 'state/frontier.rebuilt'
const REBUILDING = 'state/frontier.rebuilding'

/** Shows what waits by the frontier's store, read from a copy of it, for opening writes. Null when there is none. */
export async function salvageCopy(
  dir: string,
  scratch: string,
  show: (entry: FrontierEntry) => void | Promise<void>,
): Promise<SalvagedFrontier | null> {
  const found = (await filesOf(join(dir, PLACE))) ?? (await filesOf(join(dir, REBUILT)))
  if (found === null) return null
  const { directory: from, names } = found
  const to = join(scratch, 'frontier')
  try {
    await rm(to, { recursive: true, force: true })
    await mkdir(to, { recursive: true })
    for (const name of names) {
      if (name === 'LOCK') continue
      // LevelDB never writes to a table again, so a link will do for these, which are most of it.
      const isLinked = /\.(?:ldb|sst)$/.test(name) && (await tryLink(join(from, name), join(to, name)))
      if (!isLinked) await copyFile(join(from, name), join(to, name))
    }
  } catch (cause) {
    throw diskFault(`copying ${from} to look at it`, cause)
  }
  // Whoever reads what is wrong looks for it in the crawl, not in a copy that is gone by then.
  const inPlace = (text: string): string => text.replaceAll(to, from)
  try {
    const salvaged = await salvageFrontier(to, show)
    return { ...salvaged, damage: salvaged.damage.map(inPlace) }
  } catch (fault) {
    throw fault instanceof Fault ? new Fault(fault.code, inPlace(fault.message), fault) : fault
  }
}

/** What a repair that was interrupted between moving the old store aside and naming the new one has left to do. */
export async function finishReplacement(dir: string): Promise<void> {
  if ((await filesOf(join(dir, PLACE))) !== null || (await filesOf(join(dir, REBUILT))) === null) return
  await moveDurably(join(dir, REBUILT), join(dir, PLACE))
}

export async function beginFrontier(
  { dir, settings, clock }: { readonly dir: string; readonly settings: CrawlSettings; readonly clock: Clock },
  memoryBytes: number,
): Promise<DiskFrontier> {
  const directory = join(dir, REBUILDING)
  // One that was finished is needed no more either: the store it was made from is still in its place.
  for (const left of [directory, join(dir, REBUILT)]) await rm(left, { recursive: true, force: true })
  return await DiskFrontier.open({
    directory,
    memoryBytes,
    clock,
    delayMs: settings.frontier.delay,
    ipDelayMs: settings.frontier.ipDelay,
    ipConnections: settings.frontier.ipConnections,
    urlsPerTurn: settings.frontier.urlsPerTurn,
  })
}

/** Puts the new store, which is written and closed, in the place of the old one. */
export async function replaceFrontier(dir: string, moveAside: () => Promise<void>): Promise<void> {
  await moveDurably(join(dir, REBUILDING), join(dir, REBUILT))
  await moveAside()
  await finishReplacement(dir)
}

async function filesOf(directory: string): Promise<{ directory: string; names: string[] } | null> {
  try {
    return { directory, names: await readdir(directory) }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw diskFault(`reading ${directory}`, cause)
  }
}

async function tryLink(from: string, to: string): Promise<boolean> {
  return await link(from, to).then(
    () => true,
    () => false,
  )
}
