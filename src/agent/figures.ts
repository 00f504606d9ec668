// What a crawl has done, in numbers: the same names in progress, summary, report and API.

import type { FailureCode, RefusalReason, SkipReason } from '../base/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import type { Verdict } from '../ledger/index.ts'
import type { HostKey } from '../url/index.ts'

export type AnswerClass = '2xx' | '3xx' | '4xx' | '5xx' | 'other'

function answerClassOf(status: number): AnswerClass {
  const hundreds = Math.floor(status / 100)
  return hundreds >= 2 && hundreds <= 5 ? (`${hundreds}xx` as AnswerClass) : 'other'
}

export class CrawlFigures {
  /** URLs admitted: those that are settled and those that wait. */
  admitted = 0
  pages = 0
  failed = 0
  readonly failures: Partial<Record<FailureCode, number>> = {}
  /** Pages by class of status. */
  readonly answers: Record<AnswerClass, number> = { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, other: 0 }
  /** Decoded and received bytes of pages. */
  bytes = 0
  wireBytes = 0
  readonly skipped: Partial<Record<SkipReason, number>> = {}
  readonly refused: Partial<Record<RefusalReason, number>> = {}
  /** Hosts a URL was admitted of. */
  readonly hosts = new Set<HostKey>()
  /** Milliseconds of crawling and CPU in earlier runs of this crawl, and the most memory one of them took. */
  earlierMs = 0
  earlierCpuMs = 0
  earlierPeakRssBytes = 0

  admit(entry: Pick<FrontierEntry, 'host'>): void {
    this.admitted++
    this.hosts.add(entry.host)
  }

  count(verdict: Verdict): void {
    this.#add(verdict, 1)
  }

  /** Takes back what count() counted. */
  uncount(verdict: Verdict): void {
    this.#add(verdict, -1)
  }

  #add(verdict: Verdict, sign: 1 | -1): void {
    switch (verdict.kind) {
      case 'page':
        this.pages += sign
        this.bytes += sign * verdict.bytes
        this.wireBytes += sign * verdict.wireBytes
        this.answers[answerClassOf(verdict.status)] += sign
        return
      case 'failed':
        this.failed += sign
        this.failures[verdict.code] = (this.failures[verdict.code] ?? 0) + sign
        if (this.failures[verdict.code] === 0) delete this.failures[verdict.code]
        return
      case 'skipped':
        this.skipped[verdict.reason] = (this.skipped[verdict.reason] ?? 0) + sign
        if (this.skipped[verdict.reason] === 0) delete this.skipped[verdict.reason]
    }
  }

  refuse(reason: RefusalReason, count = 1): void {
    this.refused[reason] = (this.refused[reason] ?? 0) + count
  }

  /** URLs that are done with, one way or another. */
  get settled(): number {
    let skipped = 0
    for (const count of Object.values(this.skipped)) skipped += count
    return this.pages + this.failed + skipped
  }

  /** URLs that were met and have no verdict. */
  get waiting(): number {
    return this.admitted - this.settled
  }
}
