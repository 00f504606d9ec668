// Asking for the head of a page before the page (fetch.headFirst): what is of no wanted type or size is skipped for the
// price of a head.
//
//   take ──▶ HEAD ──▶ unwanted: skipped, no GET
//              └────▶ anything else: back to the head of its line; when the host has rested, GET
//
// Only a good answer to HEAD is believed, and only where it says no: servers that refuse HEAD, forget it or drop it are asked
// with GET all the same. That a URL was asked about is remembered here and not in the frontier: lost with the process, it
// costs one HEAD more. A memory that is full makes no HEAD at all, so nobody is asked twice in turns without end.

import { type FetchOutcome, isDoubtful, type TypeFilter } from '../fetch/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import { RETRY_TABLE } from './retry-table.ts'

/** URLs between their HEAD and their GET: one a host at most, mostly. */
const HEADED_MAX = 65_536

export class HeadFirst {
  readonly #mode: 'doubtful' | 'always'
  readonly #filter: TypeFilter
  readonly #max: number
  readonly #headed = new Set<string>()
  /** Answers to HEAD, and URLs that were not asked about because the memory was full. */
  readonly figures = { answers: 0, left: 0 }

  constructor(mode: 'doubtful' | 'always', filter: TypeFilter, max = HEADED_MAX) {
    this.#mode = mode
    this.#filter = filter
    this.#max = max
  }

  /** Whether its next request is a HEAD. Asked once before each request. */
  isDue(entry: FrontierEntry): boolean {
    // Only HTTP knows of heads.
    if (this.#headed.delete(entry.url) || entry.tries > 0 || !entry.url.startsWith('http')) return false
    if (this.#mode === 'doubtful' && !isDoubtful(entry.url, this.#filter)) return false
    if (this.#headed.size < this.#max) return true
    this.figures.left++
    return false
  }

  /** Whether GET follows upon what came of a HEAD; it is not due again then. */
  leadsOn(entry: FrontierEntry, outcome: FetchOutcome): boolean {
    if (outcome.kind === 'skipped') return false
    if (outcome.kind === 'failed' && RETRY_TABLE[outcome.code].blame === 'host') return false
    this.figures.answers++
    this.#headed.add(entry.url)
    return true
  }
}
