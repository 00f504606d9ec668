// The lines of a share's pages.jsonl that count: of a page that was visited several times the last one, of one that waits
// again none. What was taken back stands in returns.jsonl; its index is made in a temporary folder, for the crawl's own is
// its agent's, and is gone when the lines are read.

import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PageRecord, readJsonBlocks, ReturnedPages } from '../store/index.ts'

/** Tells of every line, and whether it counts. A crawl that was stopped early may lack the file. */
export async function visitPages(share: string, visit: (page: PageRecord, counts: boolean) => void): Promise<void> {
  const path = join(share, 'pages.jsonl')
  const notes = join(share, 'state/returns.jsonl')
  if ((await sizeOf(path)) === 0) return
  if ((await sizeOf(notes)) === 0) {
    for await (const pages of readJsonBlocks<PageRecord>(path)) for (const page of pages) visit(page, true)
    return
  }
  const folder = await mkdtemp(join(tmpdir(), 'portolan-report-'))
  try {
    const returned = await ReturnedPages.open(notes, folder)
    try {
      for await (const pages of readJsonBlocks<PageRecord>(path)) {
        for (const page of pages) {
          // Disks are disks: a line may be anything, and is judged by whoever counts it.
          const isKnown = typeof page?.url === 'string'
          visit(page, !isKnown || returned?.isTakenBack(page) !== true)
        }
      }
    } finally {
      returned?.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0
}
