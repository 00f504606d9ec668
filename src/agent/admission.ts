// The top of the walk: a link that was found becomes a URL that waits, or is turned away.
//
//   raw link ─▶ canonical ─▶ scope ─▶ fingerprint ─▶ seen set ─▶ strategy ─▶ frontier
//                  │            │                       │
//                  └─ refused ──┴──── (counted)         └─ known: the walk ends
//
// Hot: some 35 links a page, thousands of pages a second. Fingerprints are numbers in typed arrays, an entry is born
// only for a URL that is new. A plain link is not even made a string before it is known to be new (`url`, LinkJoiner),
// provided that the scope judges by origin; any other link is, and goes through scope as such.

import { assert, type RefusalReason } from '../base/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import {
  LINK_KINDS,
  type LinkKind,
  type LinkSpans,
  MEANS_KIND,
  MEANS_NOFOLLOW,
  type ParsedPage,
  spansOfText,
} from '../parse/index.ts'
import type { Owners } from '../exchange/index.ts'
import { inDoubt } from './broken-visits.ts'
import type { LinkTargets } from '../processors/index.ts'
import type { Strategy } from '../strategy/index.ts'
import {
  BaseUrl,
  type Canonicalise,
  type CanonicalUrl,
  type Fingerprinter,
  hostKeyOf,
  JOINED,
  type KnownOrigin,
  LinkJoiner,
  LINKS_JOINED_MAX,
  schemeOf,
  type Scope,
  slotOf,
} from '../url/index.ts'
import { newBatch, type UrlSeen } from '../url-seen/index.ts'
import { RecentUrls } from './recent-urls.ts'

/** Stands for the index of a link whose URL is at hand. */
const NOT_JOINED = 0xffff_ffff
/** Links asked about in one go; a page with more is taken in pieces. */
const BATCH_LINKS = LINKS_JOINED_MAX
const LETTER_F = 102
const LETTER_H = 104

/** URLs that are remembered as held. At 19 bytes each they take 5 MB. */
const HELD_REMEMBERED = 2 ** 18
/** URLs that are remembered as sent to other agents, at the same price. Three of four links to other sites lead where others led. */
const SENT_REMEMBERED = 2 ** 18

export interface AdmissionParts {
  readonly canonicalise: Canonicalise
  readonly scope: Scope
  /** Seeds of earlier runs. */
  readonly seeds: readonly CanonicalUrl[]
  readonly fingerprinter: Fingerprinter
  readonly seen: UrlSeen
  readonly strategy: Strategy
  readonly follow: ReadonlySet<LinkKind>
  readonly redirectsMax: number
  /** Links from a seed, at most; null for no limit. */
  readonly maxDepth: number | null
  /** Which agent owns a host; null where one owns all. */
  readonly owners: Owners | null
  /** False where robots are ignored: then rel=nofollow binds us as little. */
  readonly obeysNofollow: boolean
}

/** Where the results go: new entries and refusals, in the same ledger batch as the page they came from. Whoever takes an entry files it. */
export interface AdmissionSink {
  admitted(entry: FrontierEntry): void
  refused(reason: RefusalReason): void
  /** For another agent, and not sent there lately. */
  abroad(entry: FrontierEntry): void
  /** Refused for its depth alone: kept, in case the limit is raised. Told once per URL, mostly. */
  held(entry: FrontierEntry): void
  /** The page's links that are in scope, known or new. Valid during the call. */
  linked(targets: LinkTargets): void
}

/** Where what another agent found goes. */
export interface ParcelSink {
  admitted(entry: FrontierEntry): void
  seedAbroad(entry: FrontierEntry): void
}

export interface LinkSource {
  readonly url: CanonicalUrl
  readonly depth: number
}

export class Admission {
  readonly #parts: AdmissionParts
  /** Schemes beside http and https that links are followed to: those of the seeds. */
  readonly #schemes = new Set<string>()
  readonly #judge: (url: CanonicalUrl, depth: number) => RefusalReason | null
  /** URLs held lately, so that most are held once; held twice, one is admitted once all the same. */
  readonly #heldBefore = new RecentUrls(HELD_REMEMBERED)
  /** URLs sent to other agents lately, so that most are sent once; whoever gets one twice knows it. */
  readonly #sentBefore = new RecentUrls(SENT_REMEMBERED)
  /** Its notes: why links to an origin are refused, or null. */
  readonly #joiner: LinkJoiner<RefusalReason | null>
  /** By the number of the kind: whether such links are followed. */
  readonly #follows: readonly boolean[]
  /** Links of the piece at hand that other agents own. */
  readonly #abroad = new PendingLinks()
  /** Batches not in use: a disk-based seen set answers later, so several may be out at once. */
  readonly #spare: PendingLinks[] = []

  constructor(parts: AdmissionParts) {
    this.#parts = parts
    for (const seed of parts.seeds) this.#schemes.add(schemeOf(seed))
    const { scope, follow, fingerprinter, canonicalise } = parts
    this.#joiner = new LinkJoiner(fingerprinter.key, scope.goesByOrigin ? canonicalise.plainLengthMax : 0)
    this.#follows = LINK_KINDS.map((kind) => follow.has(kind))
    // Nearly all are of the web, and asking that costs no string.
    this.#judge = (url, depth) =>
      url.charCodeAt(0) === LETTER_H || this.#schemes.has(schemeOf(url)) ? scope.judge(url, depth) : 'scheme'
  }

  /** Seeds are in scope by definition, but not past --exclude. True when it was admitted now. */
  async admitSeed(url: CanonicalUrl, sink: AdmissionSink): Promise<boolean> {
    this.#addSeed(url)
    const refusal = this.#judge(url, 0)
    if (refusal !== null) {
      sink.refused(refusal)
      return false
    }
    // Every agent is given all seeds, and takes its own.
    return this.isAbroad(url) ? false : this.#admitOne(seedEntry(url), sink)
  }

  /**
   * What another agent found, for hosts of ours: judged there, met here. `enter` is called once, with what takes the new
   * ones into the books; in the same breath whoever calls notes that the parcel is in.
   */
  async admitParcel(
    entries: readonly FrontierEntry[],
    enter: (take: (books: ParcelSink) => void) => void,
  ): Promise<void> {
    const { fingerprinter, seen, strategy } = this.#parts
    const batch = newBatch(entries.length)
    const own: FrontierEntry[] = []
    const seeds: FrontierEntry[] = []
    for (const entry of entries) {
      if (entry.isSeed) this.#addSeed(entry.url)
      if (entry.isSeed && this.isAbroad(entry.url)) {
        seeds.push(entry)
        continue
      }
      fingerprinter.compute(entry.url)
      batch.high[own.length] = fingerprinter.high
      batch.low[own.length] = fingerprinter.low
      own.push(entry)
    }
    batch.count = own.length
    const answer = seen.meet(batch)
    if (answer !== undefined) await answer
    enter((books) => {
      for (const seed of seeds) books.seedAbroad(seed)
      for (const [i, entry] of own.entries()) {
        if (batch.isNew[i] === 1) books.admitted({ ...entry, band: strategy.bandOf(entry) })
      }
    })
  }

  /** Whether another agent owns its host. */
  isAbroad(url: CanonicalUrl): boolean {
    const { owners, fingerprinter } = this.#parts
    if (owners === null) return false
    fingerprinter.compute(url)
    return owners.ofSlot(slotOf(fingerprinter.high)) !== owners.self
  }

  #addSeed(url: CanonicalUrl): void {
    this.#schemes.add(schemeOf(url))
    this.#parts.scope.addSeed(url)
    // What was refused may be in scope now.
    this.#joiner.forget()
  }

  /** The target of a redirect: a new URL at the depth of its source; a seed's target is a seed. */
  async admitRedirect(source: FrontierEntry, location: string, sink: AdmissionSink): Promise<void> {
    const { canonicalise, redirectsMax } = this.#parts
    const url = canonicalise(location, BaseUrl.of(source.url))
    if (typeof url !== 'string') return sink.refused(url.refused)
    if (source.hops >= redirectsMax) return sink.refused('redirect-limit')
    if (leadsIntoFiles(source.url, url)) return sink.refused('scheme')
    if (source.isSeed) this.#addSeed(url)
    const refusal = this.#judge(url, source.depth)
    if (refusal !== null) return sink.refused(refusal)
    await this.#admitOne(
      { ...source, url, host: hostKeyOf(url), via: source.url, hops: source.hops + 1, tries: 0, pauses: 0 },
      sink,
    )
  }

  /** All links of a page; undefined when it was done at once. `mayFollow` is false where the page asks that its links be left alone. */
  admitLinks(source: LinkSource, page: ParsedPage, mayFollow: boolean, sink: AdmissionSink): Promise<void> | undefined {
    const base = BaseUrl.ofPage(source.url, page.baseHref)
    return this.#admit(source, page.spans, base, page.encoding, mayFollow, sink)
  }

  #admit(
    source: LinkSource,
    links: LinkSpans,
    base: BaseUrl,
    encoding: string,
    mayFollow: boolean,
    sink: AdmissionSink,
    first = 0,
  ): Promise<void> | undefined {
    for (let from = first; from < links.count; from += BATCH_LINKS) {
      const pending = this.#spare.pop() ?? new PendingLinks()
      this.#prepare(pending, links, from, base, encoding, source, mayFollow, sink)
      // Up to here whoever tries again finds everything as it was. From here URLs are met, and admitted or lost.
      const answer = this.#meet(pending, links, base, source, sink)
      if (answer !== undefined) {
        const next = from + BATCH_LINKS
        return answer.then(() => {
          this.#settleBatch(pending, links, base, source, sink)
          return this.#admit(source, links, base, encoding, mayFollow, sink, next)
        }, linksInDoubt)
      }
      this.#settleBatch(pending, links, base, source, sink)
    }
    return undefined
  }

  #meet(
    pending: PendingLinks,
    links: LinkSpans,
    base: BaseUrl,
    source: LinkSource,
    sink: AdmissionSink,
  ): Promise<void> | undefined {
    try {
      if (this.#abroad.batch.count > 0) this.#sendAbroad(links, base, source, sink)
      return this.#parts.seen.meet(pending.batch)
    } catch (cause) {
      return linksInDoubt(cause)
    }
  }

  #settleBatch(pending: PendingLinks, links: LinkSpans, base: BaseUrl, source: LinkSource, sink: AdmissionSink): void {
    try {
      this.#offer(pending, links, base, source, sink, (entry) => sink.admitted(entry))
    } catch (cause) {
      linksInDoubt(cause)
    }
    this.#spare.push(pending)
  }

  /** The sitemaps a robots.txt names: as near to the seeds as seeds, for they come before any page. */
  async admitSitemaps(robotsUrl: CanonicalUrl, sitemaps: readonly string[], sink: AdmissionSink): Promise<void> {
    const links = sitemaps.map((href) => ({ href, kind: 'sitemap', isNofollow: false }) as const)
    await this.#admit({ url: robotsUrl, depth: -1 }, spansOfText(links), BaseUrl.of(robotsUrl), 'utf-8', true, sink)
  }

  #prepare(
    pending: PendingLinks,
    links: LinkSpans,
    from: number,
    base: BaseUrl,
    encoding: string,
    source: LinkSource,
    mayFollow: boolean,
    sink: AdmissionSink,
  ): void {
    const { canonicalise, fingerprinter, obeysNofollow, maxDepth } = this.#parts
    const joiner = this.#joiner
    const follows = this.#follows
    const depth = source.depth + 1
    const { owners } = this.#parts
    const abroad = this.#abroad
    const { places } = links
    const end = Math.min(from + BATCH_LINKS, links.count)
    // What holds for the base holds for every link that the joiner can join.
    const mayJoin =
      mayFollow &&
      depth <= (maxDepth ?? Infinity) &&
      joiner.begin(base) &&
      this.#isAdmitted(joiner.own, depth) &&
      joiner.joinAll(links, from, end)
    const { outcomes, highs, lows } = joiner
    pending.batch.count = 0
    abroad.batch.count = 0
    for (let i = from; i < end; i++) {
      const meaning = places[3 * i + 2] as number
      if (follows[meaning & MEANS_KIND] === false) continue
      const saysNofollow = obeysNofollow && (meaning & MEANS_NOFOLLOW) !== 0
      const outcome = mayJoin && !saysNofollow ? (outcomes[i - from] as number) : JOINED.left
      if (outcome >= JOINED.base) {
        const origin = joiner.originOf(outcome) ?? joiner.own
        if (!this.#isAdmitted(origin, depth)) {
          sink.refused(origin.note as RefusalReason)
          continue
        }
        const high = highs[i - from] as number
        const isOwn = owners === null || owners.ofSlot(slotOf(high)) === owners.self
        ;(isOwn ? pending : abroad).add(high, lows[i - from] as number, i, origin.root)
        continue
      }
      const url = canonicalise(links.href(i), base, encoding)
      if (typeof url !== 'string') {
        sink.refused(url.refused)
        continue
      }
      if (outcome === JOINED.missed) joiner.learn(url)
      const refusal = leadsIntoFiles(source.url, url) ? 'scheme' : this.#judge(url, depth)
      const isNofollow = !mayFollow || saysNofollow
      if (refusal !== null) {
        sink.refused(refusal)
        if (refusal === 'too-deep' && !isNofollow) this.#hold(url, source, sink)
        continue
      }
      // After scope, so that the count says how many links we would have taken.
      if (isNofollow) {
        sink.refused('nofollow')
        continue
      }
      fingerprinter.compute(url)
      const isOwn = owners === null || owners.ofSlot(slotOf(fingerprinter.high)) === owners.self
      ;(isOwn ? pending : abroad).add(fingerprinter.high, fingerprinter.low, NOT_JOINED, url)
    }
  }

  /** Whether links to an origin are admitted at a depth that is allowed. */
  #isAdmitted(origin: KnownOrigin<RefusalReason | null>, depth: number): boolean {
    if (origin.note === undefined) origin.note = this.#judge(origin.root, depth)
    return origin.note === null
  }

  #sendAbroad(links: LinkSpans, base: BaseUrl, source: LinkSource, sink: AdmissionSink): void {
    this.#sentBefore.meet(this.#abroad.batch)
    this.#offer(this.#abroad, links, base, source, sink, (entry) => sink.abroad(entry))
  }

  /** A URL that one link more would admit. */
  #hold(url: CanonicalUrl, source: LinkSource, sink: AdmissionSink): void {
    const { maxDepth, fingerprinter, strategy } = this.#parts
    const depth = source.depth + 1
    if (depth !== (maxDepth ?? Infinity) + 1 || this.#judge(url, depth - 1) !== null) return
    if (!this.#isFirstHeld(url, fingerprinter)) return
    const link = { url, host: hostKeyOf(url), via: source.url, depth, isSeed: false }
    sink.held({ ...link, band: strategy.bandOf(link), hops: 0, tries: 0, pauses: 0 })
  }

  #isFirstHeld(url: CanonicalUrl, fingerprinter: Fingerprinter): boolean {
    const batch = newBatch(1)
    fingerprinter.compute(url)
    batch.high[0] = fingerprinter.high
    batch.low[0] = fingerprinter.low
    batch.count = 1
    this.#heldBefore.meet(batch)
    return batch.isNew[0] === 1
  }

  /** What an earlier run held back: admitted if the limit allows it now, else held on. */
  async admitHeld(entry: FrontierEntry, sink: AdmissionSink): Promise<void> {
    if (this.#judge(entry.url, entry.depth) === null) await this.#admitOne(entry, sink)
    else this.#isFirstHeld(entry.url, this.#parts.fingerprinter)
  }

  #offer(
    pending: PendingLinks,
    links: LinkSpans,
    base: BaseUrl,
    source: LinkSource,
    sink: AdmissionSink,
    take: (entry: FrontierEntry) => void,
  ): void {
    const { strategy } = this.#parts
    const { batch, urls, indexes } = pending
    for (let i = 0; i < batch.count; i++) {
      if (batch.isNew[i] === 0) continue
      const index = indexes[i] as number
      const url = index === NOT_JOINED ? (urls[i] as CanonicalUrl) : this.#joinAgain(links, index, base)
      const host = hostKeyOf(url)
      const depth = source.depth + 1
      const band = strategy.bandOf({ url, host, depth, via: source.url, isSeed: false })
      take({ url, host, via: source.url, depth, hops: 0, band, isSeed: false, tries: 0, pauses: 0 })
    }
    sink.linked({ count: batch.count, urls, high: batch.high, low: batch.low })
  }

  /** The URL of a link that was joined before. What was known of its origin then may be forgotten. */
  #joinAgain(links: LinkSpans, index: number, base: BaseUrl): CanonicalUrl {
    const joiner = this.#joiner
    const joined = joiner.begin(base) ? joiner.urlOf(links, index) : null
    if (joined !== null) return joined
    // Such a link is ASCII: the same in every encoding.
    const url = this.#parts.canonicalise(links.href(index), base)
    assert(typeof url === 'string', `a link of ${base.href} was joined once and is no URL now`)
    return url
  }

  async #admitOne(entry: FrontierEntry, sink: AdmissionSink): Promise<boolean> {
    const { strategy, seen, fingerprinter, owners } = this.#parts
    const batch = newBatch(1)
    if (this.isAbroad(entry.url)) {
      sink.abroad({ ...entry, band: strategy.bandOf(entry) })
      return false
    }
    fingerprinter.compute(entry.url)
    batch.high[0] = fingerprinter.high
    batch.low[0] = fingerprinter.low
    batch.count = 1
    const ranked = { ...entry, band: strategy.bandOf(entry) }
    try {
      const answer = seen.meet(batch)
      if (answer !== undefined) await answer
    } catch (cause) {
      linksInDoubt(cause)
    }
    if (batch.isNew[0] === 0) return false
    sink.admitted(ranked)
    // What a seed redirects to is a seed: the others must hear of it too.
    if (owners !== null && entry.isSeed && entry.via !== null) sink.abroad(ranked)
    return true
  }
}

/** Nobody out there has a say in what is read of this machine: only files lead to files. */
function leadsIntoFiles(source: CanonicalUrl, url: CanonicalUrl): boolean {
  return url.charCodeAt(0) === LETTER_F && url.startsWith('file:') && !source.startsWith('file:')
}

/** A seed as it waits. */
export function seedEntry(url: CanonicalUrl): FrontierEntry {
  return { url, host: hostKeyOf(url), via: null, depth: 0, hops: 0, band: 0, isSeed: true, tries: 0, pauses: 0 }
}

/** Ends the agent, for the links would be lost: they are known, and do not wait. */
function linksInDoubt(cause: unknown): never {
  throw inDoubt('links were met and may not have been filed', cause)
}

/** Links on their way through the seen set, side by side with their URLs. */
class PendingLinks {
  readonly batch = newBatch(BATCH_LINKS)
  /** Of a link that was joined the root of its origin; then its index on the page says where to find it. */
  readonly urls: CanonicalUrl[] = Array.from({ length: BATCH_LINKS }, () => '' as CanonicalUrl)
  readonly indexes = new Uint32Array(BATCH_LINKS)

  add(high: number, low: number, index: number, url: CanonicalUrl): void {
    const { batch } = this
    const place = batch.count++
    batch.high[place] = high
    batch.low[place] = low
    this.indexes[place] = index
    this.urls[place] = url
  }
}
