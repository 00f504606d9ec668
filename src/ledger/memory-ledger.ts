import type { CrawlIdentity, Ledger, LedgerBatch } from './ledger.ts'

/** The plain twin: remembers batches as they are, for tests. */
export class MemoryLedger implements Ledger {
  readonly identity: CrawlIdentity
  readonly batches: LedgerBatch[] = []

  constructor(identity: CrawlIdentity) {
    this.identity = identity
  }

  async *history(): AsyncGenerator<LedgerBatch> {
    yield* this.batches
  }

  async commit(batch: LedgerBatch): Promise<void> {
    this.batches.push(structuredClone(batch))
  }

  async close(): Promise<void> {}
}
