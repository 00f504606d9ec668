// The right answer: which URLs a crawl of this web must fetch, skip and give up, found by walking the
// generator instead of the network. Nothing of the crawler is used here, so the two can disagree.
//
// What a crawl may depend on beyond this (order, timing) does not change the sets, with two exceptions
// that the caller must know: under maxDepth the set is the largest one (every page has a path within
// the limit), and a crawl may find less; and a web with traps has no end unless depth or a pattern gives it one.

import { assert, type FailureCode, type SkipReason } from '../../src/base/index.ts'
import type { LinkKind } from '../../src/parse/index.ts'
import type { Answer } from '../content/answer.ts'
import type { Host } from '../content/host.ts'
import { misdeedOf } from '../content/misdeeds.ts'
import type { Web } from '../content/web.ts'

export interface TruthQuestion {
  readonly seeds: readonly string[]
  /** Default 'host', as the crawler's. */
  readonly scope?: 'host' | 'domain' | 'prefix' | 'any'
  /** For scope 'prefix': instead of the seeds' own folders. */
  readonly prefix?: string
  readonly robots?: 'obey' | 'ignore'
  /** What the crawl is for; some pages ask not to be used so. */
  readonly purpose?: 'archive' | 'search' | 'ai'
  /** The name a robots.txt knows the crawler by. */
  readonly agent?: string
  readonly maxDepth?: number
  /** Redirects followed in a row; 10 by default. */
  readonly redirectsMax?: number
  /** Kinds of links that are followed; all by default. Redirects always are. */
  readonly follows?: readonly LinkKind[]
  /** Do the Sitemap lines of robots.txt count as seeds of their hosts? */
  readonly sitemaps?: 'linked' | 'robots'
  /** Any of these must match, none of those; seeds are exempt. */
  readonly include?: readonly RegExp[]
  readonly exclude?: readonly RegExp[]
  /** A web without end is reported at this many URLs, instead of filling the memory. */
  readonly urlsMax?: number
}

export interface TruePage {
  /** Links from a seed, at least. */
  readonly depth: number
  readonly status: number
  /** How often the server asks for a pause before it answers. */
  readonly throttled: number
  /** Where it redirects to, canonical. */
  readonly location: string | null
  /** Kept, but not as the server should have sent it. */
  readonly isBad: boolean
  /** It asks that no copy be kept. */
  readonly isUnstored: boolean
}

export interface Truth {
  readonly pages: ReadonlyMap<string, TruePage>
  readonly skipped: ReadonlyMap<string, SkipReason>
  readonly failed: ReadonlyMap<string, FailureCode>
  /** Host keys that must be asked for anything but robots.txt. */
  readonly hosts: ReadonlySet<string>
  /** Seeds, and what seeds redirect to. */
  readonly seeds: ReadonlySet<string>
}

interface Met {
  readonly url: string
  readonly depth: number
  readonly hops: number
}

const URLS_MAX = 5_000_000
const REDIRECTS_MAX = 10

export function truth(web: Web, question: TruthQuestion): Truth {
  const walk = new Walk(web, question)
  walk.run()
  return walk
}

class Walk implements Truth {
  readonly pages = new Map<string, TruePage>()
  readonly skipped = new Map<string, SkipReason>()
  readonly failed = new Map<string, FailureCode>()
  readonly hosts = new Set<string>()
  readonly seeds = new Set<string>()
  readonly #web: Web
  readonly #question: TruthQuestion
  readonly #follows: ReadonlySet<string> | null
  /** Least depth and, at that depth, least hops: a shorter way found later replaces the longer. */
  readonly #met = new Map<string, Met>()
  /** Index is depth; a redirect adds to the round that is being walked. */
  readonly #rounds: Met[][] = [[]]
  readonly #scopeHosts = new Set<string>()
  readonly #scopeDomains = new Set<string>()
  readonly #scopePrefixes = new Set<string>()

  constructor(web: Web, question: TruthQuestion) {
    this.#web = web
    this.#question = question
    this.#follows = question.follows === undefined ? null : new Set(question.follows)
  }

  run(): void {
    for (const seed of this.#question.seeds) this.#addSeed(new URL(seed).href.split('#', 1)[0] ?? seed)
    if (this.#question.sitemaps === 'robots') this.#addSitemaps()
    for (const url of this.seeds) this.#meet(url, 0, 0)
    for (let depth = 0; depth < this.#rounds.length; depth++) {
      const round = this.#rounds[depth] ?? []
      // The round grows while it is walked: redirects join it.
      for (const met of round) if (this.#met.get(met.url) === met) this.#visit(met)
    }
  }

  /** A seed's redirect target is a seed too, and widens the scope, so the seeds come before everything. */
  #addSeed(seed: string): void {
    let url: string | null = seed
    while (url !== null && !this.seeds.has(url)) {
      this.seeds.add(url)
      const { host, answer } = this.#ask(url)
      this.#scopeHosts.add(new URL(url).hostname)
      this.#scopeDomains.add(host?.domain ?? new URL(url).hostname)
      this.#scopePrefixes.add(this.#question.prefix ?? url.slice(0, url.lastIndexOf('/') + 1))
      url = this.#refusal(url) === null ? (answer?.moved?.url ?? null) : null
    }
  }

  #addSitemaps(): void {
    for (const name of this.#scopeHosts) {
      const host = this.#web.hosts.find(name)
      const url = host?.robots.access === 'rules' ? /^Sitemap: (.*)$/m.exec(host.robots.text)?.[1] : undefined
      if (url !== undefined) this.seeds.add(url)
    }
  }

  #meet(url: string, depth: number, hops: number): void {
    const before = this.#met.get(url)
    if (before !== undefined && (before.depth < depth || (before.depth === depth && before.hops <= hops))) return
    const met = { url, depth, hops }
    this.#met.set(url, met)
    assert(
      this.#met.size <= (this.#question.urlsMax ?? URLS_MAX),
      `truth: more than ${this.#met.size - 1} URLs; a trap?`,
    )
    const round = (this.#rounds[depth] ??= [])
    round.push(met)
  }

  #visit({ url, depth, hops }: Met): void {
    const refusal = this.#refusal(url)
    if (refusal !== null) {
      this.skipped.set(url, refusal)
      return
    }
    const { host, answer } = this.#ask(url)
    if (host === null || answer === null) {
      this.failed.set(url, 'DNS_NO_NAME')
      return
    }
    this.hosts.add(host.name)
    if (answer.delivery.breakage === 'lost') {
      this.failed.set(url, 'FETCH_CONNECTION_LOST')
      return
    }
    const { misdeed } = answer.delivery
    if (misdeed !== null) {
      const { comesTo } = misdeedOf(misdeed)
      if ('failed' in comesTo) this.failed.set(url, comesTo.failed)
      else
        this.pages.set(url, {
          depth,
          status: comesTo.status,
          throttled: 0,
          location: null,
          isBad: true,
          isUnstored: false,
        })
      return
    }
    const location = answer.moved?.url ?? null
    const isUnstored = this.#obeys() && answer.optOut === 'noarchive'
    if (this.#optsOut(answer)) this.skipped.set(url, 'opt-out')
    else {
      const throttled = answer.delivery.throttle?.times ?? 0
      this.pages.set(url, { depth, status: answer.status, throttled, location, isBad: false, isUnstored })
    }
    if (location !== null) {
      if (hops >= (this.#question.redirectsMax ?? REDIRECTS_MAX)) return
      if (this.seeds.has(location) || this.#isWanted(location)) this.#meet(location, depth, hops + 1)
    } else this.#followLinks(answer, depth + 1)
  }

  #followLinks(answer: Answer, depth: number): void {
    if (depth > (this.#question.maxDepth ?? Number.POSITIVE_INFINITY)) return
    const obeys = this.#obeys()
    if (obeys && answer.isNofollow) return
    for (const { url, kind, isNofollow } of answer.links) {
      if (url === null || (obeys && isNofollow)) continue
      if (this.#follows !== null && !this.#follows.has(kind)) continue
      if (this.#isWanted(url)) this.#meet(url, depth, 0)
    }
  }

  /** Its links are followed all the same. */
  #optsOut({ optOut, isNoindex }: Answer): boolean {
    if (!this.#obeys()) return false
    if (this.#question.purpose === 'search') return isNoindex
    return this.#question.purpose === 'ai' && (optOut === 'noai' || optOut === 'tdm')
  }

  #ask(url: string): { host: Host | null; answer: Answer | null } {
    const host = this.#web.hosts.find(new URL(url).hostname)
    return { host, answer: host === null ? null : this.#web.answerUrl(url) }
  }

  #obeys(): boolean {
    return (this.#question.robots ?? 'obey') === 'obey'
  }

  #refusal(url: string): SkipReason | null {
    if (!this.#obeys()) return null
    const { hostname, pathname, search } = new URL(url)
    const plan = this.#web.hosts.find(hostname)?.robots
    if (plan === undefined || plan.access === 'all') return null
    if (plan.access === 'unavailable') return 'robots-unavailable'
    return plan.allows(pathname + search, this.#question.agent ?? 'portolan') ? null : 'robots'
  }

  #isWanted(url: string): boolean {
    if (!this.#isInScope(url)) return false
    const { include = [], exclude = [] } = this.#question
    if (include.length > 0 && !include.some((pattern) => pattern.test(url))) return false
    return !exclude.some((pattern) => pattern.test(url))
  }

  #isInScope(url: string): boolean {
    switch (this.#question.scope ?? 'host') {
      case 'any':
        return true
      case 'host':
        return this.#scopeHosts.has(new URL(url).hostname)
      case 'domain': {
        const { hostname } = new URL(url)
        return this.#scopeDomains.has(this.#web.hosts.find(hostname)?.domain ?? hostname)
      }
      default:
        for (const prefix of this.#scopePrefixes) if (url.startsWith(prefix)) return true
        return false
    }
  }
}
