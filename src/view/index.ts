export { CrawlView, lookAtCommits, type ShareCommit } from './crawl-view.ts'
export { crawlBegun, loadLayout, sharesOf, writeLayout } from './layout.ts'
export { type CommittedLengths, MergedLines, type MergedLinesOptions } from './merged-lines.ts'
export type { Committed, LineSource } from './line-source.ts'
