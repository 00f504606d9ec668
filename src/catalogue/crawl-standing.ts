// What of a crawl's files counts at this moment: what is committed, and of which crawl.
//
//   one agent     the last batch of its journal says how long pages.jsonl and failures.jsonl are
//   several       the cursors of the merged files do, which hold nothing that was not committed
//   no journal    outputs that were copied without their state: whole lines count

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  decodeBatch,
  journalBegun,
  type JournalPlace,
  journalStart,
  lookAtIdentity,
  lookAtRecords,
} from '../ledger/index.ts'
import { loadCursor, loadLayout } from '../view/index.ts'

export interface Standing {
  /** Of the crawl, with what takes lines back: its shares, the edition of its failures, its notes of pages that were returned to. Where this
   * is another, lines that were read may not count any more. */
  readonly of: string
  readonly pages: number
  readonly failures: number
  /** Files of notes, each with its length: the shares' state/returns.jsonl. */
  readonly returns: readonly { readonly path: string; readonly length: number }[]
}

interface BatchFiles {
  readonly pages?: number
  readonly failures?: { readonly length: number; readonly edition: number }
}

export class StandingWatch {
  readonly #dir: string
  #key: string | null = null
  #batch = 0
  readonly #place: JournalPlace = journalStart()
  #files: BatchFiles = {}
  /** Lengths when the journal was last read: it is read again when they have changed. */
  #sizes = ''

  constructor(dir: string) {
    this.#dir = dir
  }

  async look(): Promise<Standing> {
    const layout = await loadLayout(this.#dir)
    const shares = layout === null ? [this.#dir] : layout.map((share) => join(this.#dir, share))
    this.#key ??= (await lookAtIdentity(join(shares[0] ?? '', 'state/journal')))?.key ?? null
    const returns: { path: string; length: number }[] = []
    for (const share of shares) {
      const path = join(share, 'state/returns.jsonl')
      returns.push({ path, length: await sizeOf(path) })
    }
    const of = { key: this.#key, layout, returns: returns.map(({ length }) => length) }
    if (layout !== null) {
      const pages = await loadCursor(join(this.#dir, 'state/pages.cursor'))
      const failures = await loadCursor(join(this.#dir, 'state/failures.cursor'))
      const editions = Object.values(failures?.sources ?? {}).map(({ edition }) => edition)
      return {
        of: JSON.stringify({ ...of, editions: editions.every((one) => one === 0) ? [] : editions }),
        pages: pages?.length ?? 0,
        failures: failures?.length ?? 0,
        returns,
      }
    }
    const [pagesSize, failuresSize] = [await this.#size('pages.jsonl'), await this.#size('failures.jsonl')]
    if (this.#key === null && !(await journalBegun(join(this.#dir, 'state/journal')))) {
      return { of: JSON.stringify(of), pages: pagesSize, failures: failuresSize, returns }
    }
    await this.#readJournal(`${pagesSize} ${failuresSize}`)
    const { pages = 0, failures = { length: 0, edition: 0 } } = this.#files
    return {
      of: JSON.stringify({ ...of, editions: failures.edition === 0 ? [] : [failures.edition] }),
      pages,
      // An edition is given its name after it is committed: until then the old one stands there.
      failures: Math.min(failures.length, failuresSize),
      returns,
    }
  }

  /** Only when something was written since, and only that. */
  async #readJournal(sizes: string): Promise<void> {
    if (sizes === this.#sizes) return
    let last: { number: number; body: Buffer } | null = null
    for await (const record of lookAtRecords(join(this.#dir, 'state/journal'), this.#batch, this.#place)) last = record
    if (last !== null) {
      this.#batch = last.number
      this.#files = decodeBatch(last.body).files
    }
    // Committed after they were written: what is not committed yet is looked for again.
    const { pages = 0, failures } = this.#files
    this.#sizes = `${pages} ${failures?.length ?? 0}` === sizes ? sizes : ''
  }

  #size(name: string): Promise<number> {
    return sizeOf(join(this.#dir, name))
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.size ?? 0
}
