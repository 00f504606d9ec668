// What a crawl has done, in numbers: the same names in progress, summary, report and API.

import type { RefusalReason, SkipReason } from '../base/index.ts'
import type { LedgerBatch, Verdict } from '../ledger/index.ts'

export class CrawlFigures {
  pages = 0
  failed = 0
  /** Decoded and received bytes of pages. */
  bytes = 0
  wireBytes = 0
  readonly skipped: Partial<Record<SkipReason, number>> = {}
  readonly refused: Partial<Record<RefusalReason, number>> = {}
  /** Milliseconds of crawling and CPU in earlier runs of this crawl. */
  earlierMs = 0
  earlierCpuMs = 0

  count(verdict: Verdict): void {
    switch (verdict.kind) {
      case 'page':
        this.pages++
        this.bytes += verdict.bytes
        this.wireBytes += verdict.wireBytes
        return
      case 'failed':
        this.failed++
        return
      case 'skipped':
        this.skipped[verdict.reason] = (this.skipped[verdict.reason] ?? 0) + 1
    }
  }

  refuse(reason: RefusalReason, count = 1): void {
    this.refused[reason] = (this.refused[reason] ?? 0) + count
  }

  /** Counts a batch of an earlier run. */
  replay(batch: LedgerBatch): void {
    for (const verdict of batch.verdicts) this.count(verdict)
    for (const [reason, count] of Object.entries(batch.refused)) this.refuse(reason as RefusalReason, count)
  }

  /** URLs that are done with, one way or another. */
  get settled(): number {
    let skipped = 0
    for (const count of Object.values(this.skipped)) skipped += count
    return this.pages + this.failed + skipped
  }
}
