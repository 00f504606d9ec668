// Everything the report says about pages and failures, counted one record at a time. No I/O.

import {
  type FailureRecord,
  NAME_CHARACTERS_MAX,
  type PageRecord,
  primaryLanguage,
  softwareName,
  topLevelDomain,
} from '../store/index.ts'
import { type CanonicalUrl, hostKeyOf } from '../url/index.ts'
import { type AnswerCounts, answerClassOf, answersOf } from './answer-class.ts'
import { BrokenLinks } from './broken-links.ts'
import type { CrawlReport, LargePage, Spread } from './crawl-report.ts'
import { type HostFigures, HostTable } from './host-table.ts'
import { Largest } from './largest.ts'
import { LogHistogram } from './log-histogram.ts'
import { RedirectLoops } from './redirect-loops.ts'
import { Tally } from './tally.ts'

/** Pages this far from the seeds and beyond are counted together. */
const DEPTH_MAX = 32
/** How many are named in each list; more is in the files. */
const ROWS = 12
const HOST_ROWS = 20
const LARGEST_PAGES = 15
/** A host is called slow on this much evidence. */
const SLOW_HOST_PAGES_MIN = 3

export class PageFigures {
  readonly broken = new BrokenLinks()
  readonly redirects = new RedirectLoops()
  readonly hosts = new HostTable()
  #pages = 0
  readonly #answers: AnswerCounts = answersOf({})
  #failed = 0
  #skipped = 0
  #bytes = 0
  #wireBytes = 0
  readonly #statuses = new Tally()
  readonly #types = new Tally()
  readonly #charsets = new Tally()
  readonly #languages = new Tally()
  readonly #servers = new Tally()
  readonly #topLevelDomains = new Tally()
  readonly #failures = new Tally()
  readonly #skips = new Tally()
  readonly #truncations = new Tally()
  #undecoded = 0
  readonly #repeated = new Tally()
  readonly #sizes = new LogHistogram()
  readonly #responseTimes = new LogHistogram(2, 24)
  readonly #depths: number[] = []
  #duplicates = 0
  #duplicateBytes = 0
  #permanentRedirects = 0
  #temporaryRedirects = 0
  #noindex = 0
  readonly #optOuts = new Tally()
  #unstored = 0
  #untitled = 0
  readonly #largest = new Largest<LargePage>(LARGEST_PAGES)

  addPage(page: PageRecord): void {
    const { status, bytes } = page
    const host = hostKeyOf(page.url as CanonicalUrl)
    this.#pages++
    this.#bytes += bytes
    this.#wireBytes += page.wireBytes
    const answer = answerClassOf(status)
    this.#answers[answer] = (this.#answers[answer] ?? 0) + 1
    this.#statuses.add(String(status))
    this.hosts.addPage(host, bytes, page.firstByteMs, status >= 400)
    this.#topLevelDomains.add(topLevelDomain(host))
    this.#responseTimes.add(page.firstByteMs)
    const depth = Math.min(DEPTH_MAX, page.depth)
    while (this.#depths.length <= depth) this.#depths.push(0)
    this.#depths[depth] = (this.#depths[depth] ?? 0) + 1
    if (page.server !== undefined) this.#servers.add(softwareName(page.server))

    if (status >= 400) {
      this.broken.note({ url: page.url, status, failure: null, detail: '', via: page.via })
    } else if (status >= 300) {
      if (status === 301 || status === 308) this.#permanentRedirects++
      else if (page.location !== undefined) this.#temporaryRedirects++
      if (page.location !== undefined) this.redirects.note(page.url, status, page.location, page.via)
    } else {
      this.#addContent(page)
    }
  }

  addFailure(failure: FailureRecord): void {
    if (failure.kind === 'skipped') {
      this.#skipped++
      this.#skips.add(failure.reason)
      return
    }
    this.#failed++
    this.#failures.add(failure.reason)
    this.hosts.addFailure(hostKeyOf(failure.url as CanonicalUrl))
    const { url, reason, detail, via } = failure
    this.broken.note({ url, status: null, failure: reason, detail, via })
  }

  /** Only answers with content of their own speak of content: error pages would drown small sites. */
  #addContent(page: PageRecord): void {
    const { bytes, type } = page
    this.#sizes.add(bytes)
    this.#types.add(type === null ? 'unknown' : type.slice(0, NAME_CHARACTERS_MAX), bytes)
    if (page.charset !== undefined) this.#charsets.add(page.charset.slice(0, NAME_CHARACTERS_MAX))
    if (page.language !== undefined) this.#languages.add(primaryLanguage(page.language))
    if (page.truncated !== undefined) this.#truncations.add(page.truncated)
    if (page.decoding !== undefined) this.#undecoded++
    if (page.noindex === true) this.#noindex++
    for (const optOut of page.optOuts ?? []) this.#optOuts.add(optOut)
    if (page.unstored !== undefined) this.#unstored++
    if (type === 'text/html' && page.title === undefined) this.#untitled++
    if (page.duplicateOf !== undefined) {
      this.#duplicates++
      this.#duplicateBytes += bytes
      this.#repeated.add(page.duplicateOf, bytes)
    }
    if (this.#largest.wants(bytes)) {
      const { url, title = null, truncated = null } = page
      this.#largest.add(bytes, { url, title, type, bytes, truncated })
    }
  }

  /** All figures that come from pages and failures alone. */
  figures(): Omit<
    CrawlReport,
    | 'summary'
    | 'hasEnded'
    | 'dir'
    | 'unreadableLines'
    | 'earlierVisits'
    | 'archive'
    | 'lostArchives'
    | 'links'
    | 'broken'
    | 'timeline'
  > {
    return {
      pages: this.#pages,
      failed: this.#failed,
      skipped: this.#skipped,
      bytes: this.#bytes,
      wireBytes: this.#wireBytes,
      ok: this.#answers['2xx'],
      answers: this.#answers,
      statuses: this.#statuses.largest(3 * ROWS),
      types: this.#types.largest(ROWS),
      charsets: this.#charsets.largest(ROWS),
      languages: this.#languages.largest(ROWS),
      servers: this.#servers.largest(ROWS),
      topLevelDomains: this.#topLevelDomains.largest(ROWS),
      failures: this.#failures.largest(3 * ROWS),
      skips: this.#skips.largest(3 * ROWS),
      truncations: this.#truncations.largest(ROWS),
      undecoded: this.#undecoded,
      sizes: spreadOf(this.#sizes),
      responseTimes: spreadOf(this.#responseTimes),
      depths: this.#depths,
      duplicates: {
        pages: this.#duplicates,
        bytes: this.#duplicateBytes,
        mostRepeated: this.#repeated.largest(ROWS),
      },
      redirects: { permanent: this.#permanentRedirects, temporary: this.#temporaryRedirects },
      noindex: this.#noindex,
      optOuts: this.#optOuts.largest(ROWS),
      unstored: this.#unstored,
      untitled: this.#untitled,
      largest: this.#largest.items(),
      hosts: {
        count: this.hosts.size,
        silent: this.hosts.silent,
        dropped: this.hosts.dropped,
        byPages: this.hosts.largest(HOST_ROWS, (host) => host.pages),
        byErrors: this.hosts.largest(HOST_ROWS, (host) => host.errors),
        slowest: this.#slowest(),
      },
    }
  }

  #slowest(): HostFigures[] {
    const proven = this.hosts.largest(HOST_ROWS, (host) => (host.pages >= SLOW_HOST_PAGES_MIN ? host.meanMs : 0))
    return proven.length > 0 ? proven : this.hosts.largest(HOST_ROWS, (host) => host.meanMs)
  }
}

function spreadOf(histogram: LogHistogram): Spread {
  return {
    mean: histogram.mean,
    median: histogram.quantile(0.5),
    p95: histogram.quantile(0.95),
    max: histogram.max,
    buckets: histogram.buckets(),
  }
}
