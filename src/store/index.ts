export { type Archive, type ArchiveFacts, type ArchiveFile, type ArchiveState, isKept } from './archive.ts'
export { type ArchiveStanding, archiveStanding, type FileCount, finishedFiles } from './archive-standing.ts'
export { CdxjWriter, sortCdxj } from './cdxj-writer.ts'
export { JsonLines, readJsonBlocks, readJsonLines } from './json-lines.ts'
export { type PlacedLine, readPlacedLines } from './placed-lines.ts'
export { MemoryArchive, NullArchive } from './memory-archive.ts'
export type { StoreOptions } from './options.ts'
export {
  isFailure,
  isPage,
  NAME_CHARACTERS_MAX,
  primaryLanguage,
  softwareName,
  topLevelDomain,
} from './record-facts.ts'
export type * from './records.ts'
export { ReturnedPages } from './returned-pages.ts'
export { loadLostFiles, loadShipped, SHIPPED_FILE, type ShippedFile, ShippedFiles } from './shipped-files.ts'
export { finishLeftFile, removeLeftFile, writerOf } from './warc-files.ts'
export { WarcWriter, type WarcWriterSettings } from './warc-writer.ts'
