export { emptyBatch, isEmpty } from './batch-codec.ts'
export { journalExists, JournalLedger, readJournal } from './journal-ledger.ts'
export type { ContentNote, CrawlIdentity, Ledger, LedgerBatch, RestNote, Verdict } from './ledger.ts'
export { MemoryLedger } from './memory-ledger.ts'
