// The beginning of a crawl of several agents: first all journals with one key, then the layout that names them.
//
// Always true: a share that a layout names has a journal, from the first moment on. So one that has none was lost, and
// is never mistaken for one that was not begun (view/missing-shares.ts).

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault, Random } from '../base/index.ts'
import { makeDirectory } from '../disk/index.ts'
import { type CrawlIdentity, journalBegun, lookAtIdentity, lookAtLastBatch, SegmentedJournal } from '../ledger/index.ts'

const FOLDER = 'state/agents'

/** Begins the journals that are not there, with the key of those that are, and says which it is. */
export async function beginShares(
  dir: string,
  names: readonly string[],
  newIdentity: CrawlIdentity,
): Promise<CrawlIdentity> {
  const journals = names.map((name) => join(dir, name, 'state/journal'))
  const begun = await Promise.all(journals.map((journal) => journalBegun(journal)))
  const first = journals[begun.indexOf(true)]
  const identity = (first === undefined ? null : await lookAtIdentity(first)) ?? newIdentity
  for (const [agent, directory] of journals.entries()) {
    if (begun[agent] === true) continue
    await makeDirectory(directory)
    const journal = await SegmentedJournal.open({ directory, random: new Random('begin'), create: () => identity })
    await journal.close()
  }
  return identity
}

/** Removes what a beginning left that did not come to its layout. Refuses where that is more: then a layout was lost. */
export async function clearBegunShares(dir: string): Promise<void> {
  const folder = join(dir, FOLDER)
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    if ((await lookAtLastBatch(join(folder, name, 'state/journal'))) === null) continue
    throw new Fault(
      'LEDGER_CORRUPT',
      `${join(dir, 'state/layout.json')} is gone, but ${join(FOLDER, name)} is there: this is a crawl of several agents. Nothing was changed; restore the file from a checkpoint or a copy, or crawl into another directory`,
    )
  }
  await rm(folder, { recursive: true, force: true })
}
