// Seeds on their way to the agents of a crawl that runs. All agents must hear of a seed, and each writes down for itself that it has:
// until all have, the seeds stand in state/pending-seeds.json, and a crawl that died in between takes them in when it goes on.

import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { diskFault } from '../base/index.ts'
import { writeAtomically } from '../disk/index.ts'
import { canonicalise, type CanonicalUrl } from '../url/index.ts'

function pathIn(dir: string): string {
  return join(dir, 'state/pending-seeds.json')
}

export async function keepPendingSeeds(dir: string, seeds: readonly CanonicalUrl[]): Promise<void> {
  await writeAtomically(pathIn(dir), `${JSON.stringify(seeds)}\n`)
}

export async function dropPendingSeeds(dir: string): Promise<void> {
  await rm(pathIn(dir), { force: true })
}

/** What an earlier process did not come to tell all agents. */
export async function loadPendingSeeds(dir: string): Promise<readonly CanonicalUrl[]> {
  try {
    const said: unknown = JSON.parse(await readFile(pathIn(dir), 'utf8'))
    if (!Array.isArray(said)) return []
    return said.flatMap((text) => {
      const url = typeof text === 'string' ? canonicalise(text) : null
      return typeof url === 'string' ? [url] : []
    })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    // Written atomically: one that is no JSON is not ours.
    if (code === 'ENOENT' || code === 'ENOTDIR' || cause instanceof SyntaxError) return []
    throw diskFault(`reading ${pathIn(dir)}`, cause)
  }
}
