export { emptyBatch, isEmpty } from './batch-codec.ts'
export { journalExists, JournalLedger, readJournal } from './journal-ledger.ts'
export type { Journal, NumberedBatch } from './journal.ts'
export type { ContentNote, CrawlIdentity, Ledger, LedgerBatch, RestNote, Verdict } from './ledger.ts'
export { journalBegun, lookAtJournal } from './look-at-journal.ts'
export { MemoryJournal } from './memory-journal.ts'
export { MemoryLedger } from './memory-ledger.ts'
export {
  inspectJournal,
  type JournalFindings,
  type JournalRepair,
  repairJournal,
  type RepairOptions,
  type SegmentFinding,
} from './repair-journal.ts'
export { SegmentedJournal, type SegmentedJournalOptions } from './segmented-journal.ts'
