// One crawl of a web from its first page to its last: less is a failure, and no figure.

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Contender } from './contender.ts'
import { type Cost, measure } from './measured-run.ts'
import { needServer } from './install.ts'
import { type Origin, startOrigin } from './origin.ts'

const LIMIT_SECONDS = 600

/** Plain pages on so many hosts, so many in all; as options have them. */
export function startPlainWeb({ hosts, pages, bytes }: Record<'hosts' | 'pages' | 'bytes', string>): Promise<Origin> {
  needServer()
  const pagesEach = Math.ceil(Number(pages) / Number(hosts))
  return startOrigin({ kind: 'plain', hosts: Number(hosts), pages: pagesEach, bytes: Number(bytes) })
}

/** `folder` holds what it writes, until it is done. `flags`: of Node.js. */
export async function crawlWhole(
  origin: Origin,
  contender: Contender,
  folder: string,
  flags: readonly string[] = [],
): Promise<Cost> {
  const dir = mkdtempSync(join(folder, 'crawl-'))
  const task = { seedFile: origin.seedFile, dir, authorityFile: null }
  const { command, args } = contender.run(task)
  const cost = await measure({ command, args: [...flags, ...args] }, LIMIT_SECONDS)
  const pages = cost.exitCode === 0 ? contender.countPages(task, cost) : 0
  if (pages !== origin.pages.size)
    throw new Error(
      `${contender.name} has ${pages} of ${origin.pages.size} pages and ended with ${cost.exitCode}: ${cost.stderr}`,
    )
  rmSync(dir, { recursive: true })
  return cost
}
