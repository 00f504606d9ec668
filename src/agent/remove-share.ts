// A share that others have taken over is removed. What a repair had put aside in it stays: it goes to the crawl's own state/.

import { readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { diskFault } from '../base/index.ts'
import { syncDirectory } from '../disk/index.ts'
import { FILES, TRAPS_FILE } from './crawl-files.ts'

const PARTS = [
  'journal',
  'frontier',
  'frontier.rebuilding',
  'frontier.rebuilt',
  'seen',
  'contents',
  'returned',
  'spool',
  basename(TRAPS_FILE),
]
const EDITION_NAME = /^failures-\d+\.jsonl$/
const ASIDE_NAME = /^damaged-/

/** Removes what one agent that had all of the crawl kept in state/; pages.jsonl and its like stay. Harmless twice. */
export async function removeOnlyShare(crawlDir: string): Promise<void> {
  const folder = join(crawlDir, 'state')
  try {
    const editions = (await namesIn(folder)).filter((name) => EDITION_NAME.test(name))
    const files = Object.values(FILES).filter((path) => path.startsWith('state/'))
    for (const path of [...files, ...[...PARTS, ...editions].map((name) => `state/${name}`)]) {
      await rm(join(crawlDir, path), { recursive: true, force: true })
    }
    await syncDirectory(folder)
  } catch (cause) {
    throw diskFault(`removing the former share of ${crawlDir}`, cause)
  }
}

/** Removes the share of that name inside the crawl's directory. Harmless twice. */
export async function removeShare(crawlDir: string, name: string): Promise<void> {
  const share = join(crawlDir, name)
  const folder = join(crawlDir, 'state')
  try {
    for (const aside of (await namesIn(join(share, 'state'))).filter((one) => ASIDE_NAME.test(one))) {
      await rename(join(share, 'state', aside), join(folder, `${aside}-of-${basename(name)}`))
    }
    await syncDirectory(folder)
    await rm(share, { recursive: true, force: true })
  } catch (cause) {
    throw diskFault(`removing ${share}`, cause)
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw cause
  }
}
