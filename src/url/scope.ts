// Which URLs belong to the crawl. A URL is admitted when all of this holds, asked in this order, cheapest first:
//
//   depth      it is at most maxDepth links away from a seed (seeds: 0)
//   scope      it is on a seed's host, in its registrable domain, under its directory; or the scope is 'any'
//   path       it lies at most pathDepth directories deep
//   block      neither its host nor a domain it lies in is blocked
//   exclude    it matches none of the exclude patterns
//   include    there are no include patterns, or it matches one
//   filter     the URL filter of the configuration says yes
//
// Seeds are in scope by definition and need not match an include pattern: a crawl of `--include /articles/`
// usually begins at a front page. Everything else binds them too.
//
// Hot: asked per link. The answer of the scope is remembered for the last origin, because links mostly stay there.

import { type BoundedPattern, boundPattern, type RefusalReason } from '../base/index.ts'
import type { CanonicalUrl, HostKey } from './canonical-url.ts'
import { registrableDomain } from './registrable-domain.ts'
import { canonicalHost, compileUrlFilter, type UrlFilter, type UrlPredicate } from './url-filter.ts'
import { directoryDepthOf, directoryOf, hostKeyOf, originOf } from './url-parts.ts'

export type ScopeKind = 'host' | 'domain' | 'prefix' | 'any'

export interface ScopeOptions {
  readonly scope: ScopeKind
  readonly include: readonly RegExp[]
  readonly exclude: readonly RegExp[]
  /** Hosts and domains; none where left out. */
  readonly block?: readonly string[]
  readonly maxDepth: number | null
  readonly pathDepth: number | null
  readonly filter: UrlFilter | null
}

export interface Scope {
  /** Widens the scope by this URL's host, domain or directory. Also for what a seed redirects to. */
  addSeed(url: CanonicalUrl): void
  /** Null if the URL is admitted, else why not. `depth` is 0 for seeds only. */
  judge(url: CanonicalUrl, depth: number): RefusalReason | null
  /** Whether all URLs of an origin get the same answer at the same depth. */
  readonly goesByOrigin: boolean
}

export function compileScope(options: ScopeOptions): Scope {
  return new CompiledScope(options)
}

const NO_PREFIXES: readonly string[] = []

function matchesAny(patterns: readonly BoundedPattern[], url: string): boolean {
  for (const pattern of patterns) if (pattern.test(url)) return true
  return false
}

class CompiledScope implements Scope {
  readonly #kind: ScopeKind
  readonly #include: readonly BoundedPattern[]
  readonly #exclude: readonly BoundedPattern[]
  readonly #blocked: ReadonlySet<string>
  /** The last origin asked about by #isBlocked, with its '/'. */
  #blockOrigin = ''
  #isBlockOrigin = false
  readonly #depthMax: number
  readonly #pathDepthMax: number
  readonly #filter: UrlPredicate | null
  readonly goesByOrigin: boolean
  /** Hosts or registrable domains of the seeds; unused by the other kinds. */
  readonly #names = new Set<string>()
  /** Directories of the seeds by host, none inside another; scope 'prefix' only. */
  readonly #prefixes = new Map<HostKey, readonly string[]>()
  /** The origin of the last URL asked about, with its '/', and what holds for all URLs there. */
  #lastOrigin = ''
  #lastIsInside = false
  #lastPrefixes = NO_PREFIXES

  constructor(options: ScopeOptions) {
    this.#kind = options.scope
    this.#include = options.include.map(boundPattern)
    this.#exclude = options.exclude.map(boundPattern)
    this.#blocked = new Set((options.block ?? []).map((name) => canonicalHost(name) ?? name))
    this.#depthMax = options.maxDepth ?? Number.MAX_SAFE_INTEGER
    this.#pathDepthMax = options.pathDepth ?? Number.MAX_SAFE_INTEGER
    this.#filter = options.filter === null ? null : compileUrlFilter(options.filter)
    this.goesByOrigin =
      options.scope !== 'prefix' &&
      options.include.length === 0 &&
      options.exclude.length === 0 &&
      options.pathDepth === null &&
      options.filter === null
  }

  addSeed(url: CanonicalUrl): void {
    const host = hostKeyOf(url)
    if (this.#kind === 'host') this.#names.add(host)
    else if (this.#kind === 'domain') this.#names.add(registrableDomain(host))
    else if (this.#kind === 'prefix') this.#addPrefix(host, directoryOf(url))
    this.#lastOrigin = ''
  }

  judge(url: CanonicalUrl, depth: number): RefusalReason | null {
    if (depth > this.#depthMax) return 'too-deep'
    if (!this.#isInside(url)) return 'out-of-scope'
    if (this.#pathDepthMax !== Number.MAX_SAFE_INTEGER && directoryDepthOf(url) > this.#pathDepthMax) {
      return 'path-too-deep'
    }
    if (this.#blocked.size > 0 && this.#isBlocked(url)) return 'blocked'
    if (matchesAny(this.#exclude, url)) return 'excluded'
    if (this.#include.length > 0 && depth > 0 && !matchesAny(this.#include, url)) return 'not-included'
    if (this.#filter !== null && !this.#filter(url)) return 'filtered'
    return null
  }

  /** A few looks into a set for every origin, however long the list. */
  #isBlocked(url: CanonicalUrl): boolean {
    if (this.#blockOrigin === '' || !url.startsWith(this.#blockOrigin)) {
      this.#blockOrigin = `${originOf(url)}/`
      let name: string = hostKeyOf(url)
      this.#isBlockOrigin = this.#blocked.has(name)
      for (let dot = name.indexOf('.'); dot !== -1 && !this.#isBlockOrigin; dot = name.indexOf('.')) {
        name = name.slice(dot + 1)
        this.#isBlockOrigin = this.#blocked.has(name)
      }
    }
    return this.#isBlockOrigin
  }

  #addPrefix(host: HostKey, directory: string): void {
    const known = this.#prefixes.get(host) ?? NO_PREFIXES
    if (known.some((prefix) => directory.startsWith(prefix))) return
    this.#prefixes.set(host, [...known.filter((prefix) => !prefix.startsWith(directory)), directory])
  }

  #isInside(url: CanonicalUrl): boolean {
    if (this.#kind === 'any') return true
    if (this.#lastOrigin === '' || !url.startsWith(this.#lastOrigin)) {
      const host = hostKeyOf(url)
      this.#lastOrigin = `${originOf(url)}/`
      if (this.#kind === 'host') this.#lastIsInside = this.#names.has(host)
      else if (this.#kind === 'domain') this.#lastIsInside = this.#names.has(registrableDomain(host))
      else this.#lastPrefixes = this.#prefixes.get(host) ?? NO_PREFIXES
    }
    if (this.#kind !== 'prefix') return this.#lastIsInside
    for (const prefix of this.#lastPrefixes) if (url.startsWith(prefix)) return true
    return false
  }
}
