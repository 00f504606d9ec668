// pages.jsonl and failures.jsonl of a crawl of several agents, as one agent would have written them. The agents write those
// of their shares; whoever watches over them says what they have committed.

import { join } from 'node:path'
import { assert } from '../base/index.ts'
import { lookAtLastBatch } from '../ledger/index.ts'
import { loadLayout } from './layout.ts'
import type { Committed } from './line-source.ts'
import { MergedLines } from './merged-lines.ts'

/** What the last batch of an agent says of the files that are merged. */
export interface ShareCommit {
  readonly pages: number
  readonly failures: Committed
}

export class CrawlView {
  readonly #pages: MergedLines
  readonly #failures: MergedLines

  private constructor(pages: MergedLines, failures: MergedLines) {
    this.#pages = pages
    this.#failures = failures
  }

  /** Of a crawl that has a layout: where one agent writes all of DIR there is nothing to merge. */
  static async open(dir: string): Promise<CrawlView> {
    const shares = await sharesBelow(dir)
    const pages = await MergedLines.open({
      path: join(dir, 'pages.jsonl'),
      cursorPath: join(dir, 'state/pages.cursor'),
      sources: shares.map((name) => ({ name, path: join(dir, name, 'pages.jsonl') })),
    })
    try {
      const failures = await MergedLines.open({
        path: join(dir, 'failures.jsonl'),
        cursorPath: join(dir, 'state/failures.cursor'),
        sources: shares.map((name) => ({
          name,
          path: join(dir, name, 'failures.jsonl'),
          editionPath: (edition) => join(dir, name, `state/failures-${edition}.jsonl`),
        })),
      })
      return new CrawlView(pages, failures)
    } catch (fault) {
      await pages.close()
      throw fault
    }
  }

  /** Brings both files to these commits, by the names of the shares. As MergedLines.advance(): every share, any time. */
  async advance(commits: Readonly<Record<string, ShareCommit>>): Promise<void> {
    const entries = Object.entries(commits)
    // Both, whatever becomes of the first: the fault of one is no reason to leave the other behind.
    const done = await Promise.allSettled([
      this.#pages.advance(Object.fromEntries(entries.map(([name, { pages }]) => [name, pages]))),
      this.#failures.advance(Object.fromEntries(entries.map(([name, { failures }]) => [name, failures]))),
    ])
    for (const one of done) if (one.status === 'rejected') throw one.reason
  }

  async close(): Promise<void> {
    const done = await Promise.allSettled([this.#pages.close(), this.#failures.close()])
    for (const one of done) if (one.status === 'rejected') throw one.reason
  }
}

/** For a crawl that nobody runs; nothing to do where one agent writes all of it. */
export async function bringViewUpToDate(dir: string): Promise<void> {
  if ((await loadLayout(dir)) === null) return
  const view = await CrawlView.open(dir)
  try {
    await view.advance(await lookAtCommits(dir))
  } finally {
    await view.close()
  }
}

/** What is committed in every share, by its name, from the journals; nothing where an agent has not begun. */
export async function lookAtCommits(dir: string): Promise<Record<string, ShareCommit>> {
  const commits: Record<string, ShareCommit> = {}
  for (const name of await sharesBelow(dir)) {
    const last = await lookAtLastBatch(join(dir, name, 'state/journal'))
    // The names are the agent's.
    const { pages, failures } = (last?.batch.files ?? {}) as Partial<ShareCommit>
    commits[name] = { pages: pages ?? 0, failures: failures ?? { length: 0, edition: 0 } }
  }
  return commits
}

async function sharesBelow(dir: string): Promise<readonly string[]> {
  const shares = await loadLayout(dir)
  assert(shares !== null, `${dir} has no layout: one agent writes all of it`)
  return shares
}
