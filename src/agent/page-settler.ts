// From an answer to a page: look at it, keep it, and put its outcome and its links into one batch.

import { createHash, hash } from 'node:crypto'
import { Fault, type FaultPoints, isoDate, type RefusalReason } from '../base/index.ts'
import type { ContentSeen, Original } from '../content-seen/index.ts'
import { type Body, type Document, locationOf } from '../document/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import { formatSketch, sniffMediaType } from '../parse/index.ts'
import { type LinkLog, type LinkTargets, PageInHand, type ProcessorChain } from '../processors/index.ts'
import type { Archive, PageRecord, WarcLocation } from '../store/index.ts'
import type { TrapWatch } from '../traps/index.ts'
import { canonicalise, type CanonicalUrl } from '../url/index.ts'
import type { Admission, AdmissionSink } from './admission.ts'
import { type Books, type FoundLinks, NO_LINKS } from './books.ts'
import { inDoubt } from './broken-visits.ts'
import { Convoy, IN_STEP } from './convoy.ts'
import { type Asked, noteWishes, type PageWishes, skipDetail } from './page-wishes.ts'
import { type KeptNote, noteValidators, type OpenPageRecord, type Returns, unchangedRecord } from './returns.ts'

export interface PageSettlerParts {
  readonly admission: Admission
  readonly archive: Archive
  readonly books: Books
  readonly chain: ProcessorChain
  readonly contentSeen: ContentSeen
  readonly linkLog: LinkLog | null
  readonly wishes: PageWishes
  /** False where robots are ignored: then nobody's nofollow binds us either. */
  readonly obeysRobots: boolean
  readonly followsDuplicates: boolean
  /** Null where no page that waits was visited before. */
  readonly returns: Returns | null
  /** Null where traps are walked into. */
  readonly traps: TrapWatch | null
  readonly faults: FaultPoints
}

export class PageSettler {
  readonly #parts: PageSettlerParts
  readonly #convoy = new Convoy()

  constructor(parts: PageSettlerParts) {
    this.#parts = parts
  }

  /**
   * Settles an answer that is final. Says whether it became a page (a processor may drop it). Where it throws something that
   * is no Fault, and the books are whole, nothing is settled and it may be tried again.
   */
  async settle(entry: FrontierEntry, document: Document): Promise<boolean> {
    const { books, chain, contentSeen, wishes, returns } = this.#parts
    // A large one has the walk for itself: what is read of it is in memory until it is settled.
    await (document.body.length <= TOGETHER_BYTES_MAX ? this.#convoy.gather() : this.#convoy.alone())
    const page = new PageInHand(document, mediaTypeOf(document), entry.via?.endsWith('/robots.txt') === true)
    const processed = chain.run(page)
    if (processed !== undefined) await processed
    if (page.dropped !== null) {
      books.skipped(entry, page.dropped.reason, page.dropped.detail)
      return false
    }
    const asked = wishes.of(page)
    const unchanged =
      returns !== null && document.status === 304 && asked.action !== 'skip'
        ? returns.unchanged(entry.url, document)
        : null
    if (unchanged !== null) return this.#keepUnchanged(entry, document, asked, unchanged)
    await IN_STEP
    const hex = sha256(document.body)
    // Made once: two equal texts are compared letter by letter where one is compared at a glance.
    const digest = labelled(hex)
    if (asked.action === 'skip') return this.#follow(entry, page, asked, digest, digest, null, null, null)
    const takesPart = isSuccess(document) && document.truncated === null && document.body.length > 0
    if (!takesPart) return this.#keep(entry, page, asked, digest, null, null)
    const claim = Buffer.from(hex, 'hex')
    const answer = contentSeen.claim(claim)
    const original = answer instanceof Promise ? await answer : answer
    if (original !== null) return this.#keep(entry, page, asked, digest, null, original)
    try {
      return await this.#keep(entry, page, asked, digest, claim, null)
    } catch (fault) {
      // Whoever waits for the same content must not wait for a page that will never be kept.
      contentSeen.release(claim)
      throw fault
    }
  }

  /** The server says that what it gave before still holds. It leads nowhere new, and teaches nothing: what it stands for did. */
  async #keepUnchanged(entry: FrontierEntry, document: Document, asked: Asked, note: KeptNote): Promise<true> {
    const { archive, books } = this.#parts
    const { url } = entry
    const { payloadDigest, digest, fetchedAt } = note.capture
    const written =
      asked.action === 'unstored'
        ? null
        : archive.write(document, {
            payloadDigest: payloadDigest ?? digest,
            revisitOf: { url, fetchedAtMs: Date.parse(fetchedAt), payloadDigest },
            isNotModified: true,
            via: entry.via,
            depth: entry.depth,
          })
    const location = written instanceof Promise ? await written : written
    const page = unchangedRecord(entry, document, asked, note, location)
    const verdict = { url, kind: 'page', status: document.status, bytes: 0, wireBytes: 0 } as const
    books.settle({ entry, isReturn: true, verdict, page, failure: null, ...NO_LINKS })
    return true
  }

  /** `claim`: the digest that is claimed for this page, or null. */
  async #keep(
    entry: FrontierEntry,
    page: PageInHand,
    asked: Asked,
    digest: string,
    claim: Buffer | null,
    original: Original | null,
  ): Promise<boolean> {
    const { document } = page
    const payloadDigest = document.wire === document.body ? digest : labelled(sha256(document.wire))
    const written =
      asked.action === 'unstored'
        ? null
        : this.#parts.archive.write(document, {
            payloadDigest,
            revisitOf: original,
            via: entry.via,
            depth: entry.depth,
          })
    const location = written instanceof Promise ? await written : written
    return this.#follow(entry, page, asked, digest, payloadDigest, claim, original, location)
  }

  /** Where the walk goes on from here, the target of a redirect or the links; then everything is settled together. */
  async #follow(
    entry: FrontierEntry,
    page: PageInHand,
    asked: Asked,
    digest: string,
    payloadDigest: string,
    claim: Buffer | null,
    original: Original | null,
    location: WarcLocation | null,
  ): Promise<boolean> {
    const { admission, linkLog, followsDuplicates, obeysRobots, faults, returns } = this.#parts
    const { document } = page
    if (claim !== null) faults.hit('stage')
    const target = redirectTarget(document)
    const stage = new Stage(linkLog, entry)
    const record =
      asked.action === 'skip' ? null : pageRecord(entry, page, asked, digest, payloadDigest, original, location, target)
    // Asked here, once: between steps others are looked for, and each search may read the disk.
    const isReturn = record !== null && returns?.mark(record) === true
    await IN_STEP
    try {
      let later: Promise<void> | undefined
      if (target !== null) later = admission.admitRedirect(entry, target, stage)
      else if (page.parsed !== null && isSuccess(document) && (original === null || followsDuplicates)) {
        later = admission.admitLinks(entry, page.parsed, !obeysRobots || !asked.directives.nofollow, stage)
      }
      // From here to the books there is no other turn of the loop: before it no batch can say that these links are known (src/url-seen).
      await (later ?? IN_STEP)
      // One that is returned to has taught what it can.
      if (record !== null && !isReturn) this.#learn(entry, page, stage)
    } catch (cause) {
      return this.#saveLinks(stage, cause)
    }
    if (record === null) {
      // Nothing of the page is kept; what it leads to was found all the same.
      this.#parts.books.skipped(entry, 'opt-out', skipDetail(asked), stage.found())
      return false
    }
    await IN_STEP
    this.#enter(entry, page, record, isReturn, payloadDigest, claim, stage)
    return true
  }

  /** The page breaks us in the middle of its links. Those that were met before count: nobody would admit them again. */
  #saveLinks(stage: Stage, cause: unknown): never {
    const { books } = this.#parts
    // What is in doubt ends the agent, and with it what was met since the last commit.
    if (!(cause instanceof Fault)) {
      for (const entry of stage.entries) books.admitted(entry)
      for (const entry of stage.abroadEntries) books.abroad(entry)
      for (const entry of stage.heldEntries) books.held(entry)
    }
    throw cause
  }

  /** Before the books: what breaks on an odd page must not leave it half settled. */
  #learn(entry: FrontierEntry, { document, parsed, mediaType }: PageInHand, stage: Stage): void {
    this.#parts.traps?.learn({
      url: entry.url,
      host: entry.host,
      via: entry.via,
      status: document.status,
      sketch: parsed?.sketch ?? null,
      title: parsed?.title ?? null,
      charset: document.charset,
      leads: stage.entries,
      leadsAway: stage.abroadEntries.length + stage.heldEntries.length,
      spans: parsed?.spans ?? null,
      html: mediaType === 'text/html' ? document.body : null,
    })
  }

  /** Into the books, and in the same breath into the set of contents. */
  #enter(
    entry: FrontierEntry,
    { document }: PageInHand,
    page: PageRecord,
    isReturn: boolean,
    payloadDigest: string,
    claim: Buffer | null,
    stage: Stage,
  ): void {
    const { books, contentSeen } = this.#parts
    const position = books.settle({
      entry,
      isReturn,
      verdict: {
        url: entry.url,
        kind: 'page',
        status: document.status,
        bytes: document.body.length,
        wireBytes: document.wire.length,
      },
      page,
      failure: null,
      // One by one: spreading is slow (bench/settle.ts).
      admitted: stage.entries,
      abroad: stage.abroadEntries,
      held: stage.heldEntries,
      refused: stage.refusals,
    })
    if (claim === null) return
    const { fetchedAtMs } = document
    const original = { url: entry.url, fetchedAtMs, payloadDigest: page.warc === null ? null : payloadDigest }
    try {
      contentSeen.keep(claim, original, position)
    } catch (cause) {
      throw inDoubt(`${entry.url} is in the books and its content is not in the set`, cause)
    }
  }
}

/** What the links of one page came to, kept until the page itself is settled. */
class Stage implements AdmissionSink {
  readonly entries: FrontierEntry[] = []
  readonly abroadEntries: FrontierEntry[] = []
  readonly heldEntries: FrontierEntry[] = []
  readonly refusals: RefusalReason[] = []
  readonly #linkLog: LinkLog | null
  readonly #source: FrontierEntry

  constructor(linkLog: LinkLog | null, source: FrontierEntry) {
    this.#linkLog = linkLog
    this.#source = source
  }

  found(): FoundLinks {
    return { admitted: this.entries, abroad: this.abroadEntries, held: this.heldEntries, refused: this.refusals }
  }

  admitted(entry: FrontierEntry): void {
    this.entries.push(entry)
  }

  abroad(entry: FrontierEntry): void {
    this.abroadEntries.push(entry)
  }

  refused(reason: RefusalReason): void {
    this.refusals.push(reason)
  }

  held(entry: FrontierEntry): void {
    this.heldEntries.push(entry)
  }

  linked(targets: LinkTargets): void {
    this.#linkLog?.append(this.#source.url, targets)
  }
}

function isSuccess(document: Document): boolean {
  return document.status >= 200 && document.status < 300
}

/** Type as declared; sniffed only where the server said nothing or the nothing that is text/plain. */
function mediaTypeOf(document: Document): string | null {
  const declared = document.mediaType
  if (declared !== null && declared !== 'text/plain') return declared
  return sniffMediaType(document.body.bytes(1_445), declared)
}

function redirectTarget(document: Document): string | null {
  const { status } = document
  if (status !== 301 && status !== 302 && status !== 303 && status !== 307 && status !== 308) return null
  return locationOf(document)
}

/** Larger bodies are settled one after the other. */
const TOGETHER_BYTES_MAX = 2 ** 18
/** Up to here a body is hashed in one piece; it is in memory, or read into it. */
const ONE_PIECE_BYTES_MAX = 2 ** 20

/** Sixty-four hexadecimal digits. */
function sha256(body: Body): string {
  // Most bodies: one call instead of an object with a handle to collect, 9 µs instead of 12 for 14 kB. In
  // hexadecimal, because that is asked for more often than the bytes.
  if (body.length <= ONE_PIECE_BYTES_MAX) return hash('sha256', body.bytes(), 'hex')
  const digest = createHash('sha256')
  for (const chunk of body.chunks()) digest.update(chunk)
  return digest.digest('hex')
}

function labelled(digest: string): string {
  return `sha256:${digest}`
}

/** The target of a redirect as a URL of ours, or as it was written where it is none. */
function resolved(location: string, url: CanonicalUrl): string {
  const target = canonicalise(location, url)
  return typeof target === 'string' ? target : location
}

function pageRecord(
  entry: FrontierEntry,
  page: PageInHand,
  asked: Asked,
  digest: string,
  payloadDigest: string,
  original: Original | null,
  warc: WarcLocation | null,
  location: string | null,
): OpenPageRecord {
  const { document, parsed } = page
  // Assigned one by one, not spread together: this runs for every page.
  const record: OpenPageRecord = {
    url: entry.url,
    status: document.status,
    type: document.mediaType,
    bytes: document.body.length,
    wireBytes: document.wire.length,
    depth: entry.depth,
    digest,
    fetchedAt: isoDate(document.fetchedAtMs),
    via: entry.via,
    firstByteMs: Math.round(document.firstByteMs * 10) / 10,
    durationMs: Math.round(document.durationMs * 10) / 10,
    ip: document.ip,
    warc,
  }
  if (payloadDigest !== digest && warc !== null) record.payloadDigest = payloadDigest
  const server = document.header('server')
  if (location !== null) record.location = resolved(location, entry.url)
  if (document.truncated !== null) record.truncated = document.truncated
  if (document.decoding === 'broken' || document.decoding === 'unknown') record.decoding = document.decoding
  if (original !== null) {
    // Met again by itself: only a page that is returned to.
    if (original.url === entry.url) record.revisitOf = new Date(original.fetchedAtMs).toISOString()
    else record.duplicateOf = original.url
  }
  if (document.status === 200 && document.truncated === null) noteValidators(record, document)
  noteWishes(record, asked)
  if (server !== null) record.server = server
  if (parsed === null) return record
  record.charset = parsed.encoding
  if (parsed.title !== null) record.title = parsed.title
  if (parsed.canonical !== null) record.canonical = parsed.canonical
  if (parsed.language !== null) record.language = parsed.language
  if (parsed.sketch !== null) record.simhash = formatSketch(parsed.sketch)
  return record
}
