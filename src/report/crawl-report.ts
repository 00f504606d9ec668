// What became of a crawl, as data: what summarise() finds in its files, what report.html draws, what
// `portolan report --json` prints. Everything in it is bounded, whatever the size of the crawl.

import type { Answers } from './answer-class.ts'
import type { ArchiveFigures } from './archive-figures.ts'
import type { CrawlSummary } from './crawl-summary.ts'
import type { HostFigures } from './host-table.ts'
import type { HistogramBucket } from './log-histogram.ts'
import type { TallyRows } from './tally.ts'
import type { TimelineSample } from './timeline.ts'

/** How some quantity spreads over the pages. */
export interface Spread {
  readonly mean: number
  readonly median: number
  readonly p95: number
  readonly max: number
  readonly buckets: readonly HistogramBucket[]
}

/** A URL that a reader of the crawled pages would find not working. */
export interface BrokenUrl {
  readonly url: string
  /** What the server said, a redirect when it leads into a loop; null when there was no answer. */
  readonly status: number | null
  /** The failure code; null when there was an answer. */
  readonly failure: string | null
  /** What was seen, in words; may be empty. */
  readonly detail: string
  /** How many pages link to it. */
  readonly linkedFrom: number
  /** The first few of them. */
  readonly sources: readonly string[]
}

export interface LargePage {
  readonly url: string
  readonly title: string | null
  readonly type: string | null
  readonly bytes: number
  readonly truncated: string | null
}

/** A host and how many pages of other hosts link to it. */
interface LinkedHost {
  readonly host: string
  readonly pages: number
  readonly links: number
}

export interface CrawlReport {
  /** What the crawl said when it last stopped; null when it never did. */
  readonly summary: CrawlSummary | null
  /** False when the crawl runs or was killed, be it for the first time (no summary) or after it went on (an old one). */
  readonly hasEnded: boolean
  readonly dir: string
  /** Counted from the files. */
  readonly pages: number
  readonly failed: number
  readonly skipped: number
  readonly bytes: number
  readonly wireBytes: number
  /** Pages answered with 2xx. */
  readonly ok: number
  readonly answers: Answers
  /** Lines that could not be read: torn by a crash, or damaged. */
  readonly unreadableLines: number
  /** Lines of pages that were visited again since, or wait for it: counted nowhere else. */
  readonly earlierVisits: number

  /** Where the WARC files are. */
  readonly archive: ArchiveFigures
  readonly lostArchives: {
    /** Files that pages name, and that are neither here nor shipped; and those pages. */
    readonly files: number
    readonly pages: number
    /** Pages that were put back in line because their file was lost, had again by now or not. */
    readonly again: number
  }

  readonly statuses: TallyRows
  /** Their weight is bytes. */
  readonly types: TallyRows
  readonly charsets: TallyRows
  readonly languages: TallyRows
  readonly servers: TallyRows
  readonly topLevelDomains: TallyRows
  readonly failures: TallyRows
  readonly skips: TallyRows
  readonly truncations: TallyRows
  /** Bodies that do not decode as their codings say. */
  readonly undecoded: number

  readonly sizes: Spread
  /** Milliseconds to the first byte. */
  readonly responseTimes: Spread
  /** Pages at each distance from the seeds; the last place holds all beyond. */
  readonly depths: readonly number[]

  readonly duplicates: { readonly pages: number; readonly bytes: number; readonly mostRepeated: TallyRows }
  readonly redirects: { readonly permanent: number; readonly temporary: number }
  readonly noindex: number
  /** What pages ask not to be used for; one may ask several things. */
  readonly optOuts: TallyRows
  /** Pages that were left out of the archive because they ask for it. */
  readonly unstored: number
  /** HTML pages answered with 200 that have no title. */
  readonly untitled: number
  readonly largest: readonly LargePage[]

  readonly hosts: {
    /** Hosts asked for a page, whether they answered or not. */
    readonly count: number
    /** Those of them that never answered. */
    readonly silent: number
    /** Hosts whose figures were dropped to bound memory; among the quietest. */
    readonly dropped: number
    readonly byPages: readonly HostFigures[]
    readonly byErrors: readonly HostFigures[]
    readonly slowest: readonly HostFigures[]
  }
  /** Null when the crawl kept no link log. */
  readonly links: {
    readonly pages: number
    readonly count: number
    readonly hosts: readonly LinkedHost[]
  } | null
  readonly broken: {
    readonly count: number
    /** How many of them are redirects that lead into a loop. */
    readonly loops: number
    /** Most linked first. */
    readonly listed: readonly BrokenUrl[]
  }
  readonly timeline: readonly TimelineSample[]
}
