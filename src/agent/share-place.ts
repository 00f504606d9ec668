// Where the files of an agent are, for whoever works on them while nobody crawls.

import { join } from 'node:path'
import { loadLayout } from '../view/index.ts'

export interface SharePlace {
  /** As the layout names it; null where one agent has all of the crawl's directory. */
  readonly name: string | null
  readonly dir: string
  /** The crawl's own, which has the archive. */
  readonly crawlDir: string
  readonly agent: number
  readonly agents: number
}

export async function sharePlaces(crawlDir: string): Promise<readonly SharePlace[]> {
  const names = await loadLayout(crawlDir)
  if (names === null) return [{ name: null, dir: crawlDir, crawlDir, agent: 0, agents: 1 }]
  return names.map((name, agent) => ({ name, dir: join(crawlDir, name), crawlDir, agent, agents: names.length }))
}
