export { decodeBatch, emptyBatch, packEntries, unpackEntries } from './batch-codec.ts'
export type { Journal, NumberedBatch } from './journal.ts'
export type { CrawlIdentity, LedgerBatch, OriginalNote, RestNote } from './ledger.ts'
export {
  type JournalPlace,
  journalStart,
  type BatchRecord,
  journalBegun,
  lookAtIdentity,
  lookAtJournal,
  lookAtLastBatch,
  lookAtRecords,
} from './look-at-journal.ts'
export { MemoryJournal } from './memory-journal.ts'
export {
  inspectJournal,
  type JournalFindings,
  type JournalRepair,
  repairJournal,
  type RepairOptions,
  type SegmentFinding,
} from './repair-journal.ts'
export { chainDigest, originDigest, SEGMENT_FORMAT_VERSION } from './segment-record.ts'
export { type PreparedBatch, SegmentedJournal, type SegmentedJournalOptions } from './segmented-journal.ts'
