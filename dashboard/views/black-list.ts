// Domains that are not to be visited, whatever option holds them: one made for it where the crawl has one, else patterns of url.exclude
// that mean a domain and all below it, which are recognised when they are read back.

interface Setting {
  readonly name: string
  readonly section: string
  readonly key: string
  readonly value: unknown
}

/** Options made for it, by the names they may have. */
const OWN_OPTIONS = new Set(['url.block', 'url.excludeHosts', 'url.blockedDomains'])
const PATTERNS = 'url.exclude'
const BEFORE = '^[a-z]+://([^/?#]*\\.)?'
const BEHIND = '(:\\d+)?(/|$)'

export interface BlackList {
  readonly section: string
  readonly key: string
  readonly domains: readonly string[]
  /** The value of the option with these domains, and whatever else it has. */
  readonly valueWith: (domains: readonly string[]) => readonly string[]
}

export function blackListOf(settings: readonly Setting[]): BlackList | null {
  const own = settings.find(({ name }) => OWN_OPTIONS.has(name))
  if (own !== undefined) {
    return { section: own.section, key: own.key, domains: textsOf(own.value), valueWith: (domains) => domains }
  }
  const patterns = settings.find(({ name }) => name === PATTERNS)
  if (patterns === undefined) return null
  const given = textsOf(patterns.value)
  const others = given.filter((pattern) => domainOf(pattern) === null)
  return {
    section: patterns.section,
    key: patterns.key,
    domains: given.flatMap((pattern) => domainOf(pattern) ?? []),
    valueWith: (domains) => [...others, ...domains.map(patternOf)],
  }
}

export function patternOf(domain: string): string {
  return `${BEFORE}${domain.replaceAll(/[.[\]]/g, String.raw`\$&`)}${BEHIND}`
}

export function domainOf(pattern: string): string | null {
  if (!pattern.startsWith(BEFORE) || !pattern.endsWith(BEHIND)) return null
  const inside = pattern.slice(BEFORE.length, -BEHIND.length)
  const domain = inside.replaceAll(/\\([.[\]])/g, '$1')
  return patternOf(domain) === pattern ? domain : null
}

/** What was typed or pasted, as domains: of a URL its host, '*.example.org' as example.org, each once. */
export function domainsIn(text: string): string[] {
  const words = text.split(/[\s,;]+/).filter((word) => word !== '')
  const found = words.map((word) => {
    const bare = word
      .toLowerCase()
      .replace(/^\*?\./, '')
      .replace(/\.$/, '')
    const url = /^[a-z][a-z0-9+.-]*:\/\//.test(bare) ? bare : `http://${bare}`
    return URL.canParse(url) ? new URL(url).hostname : bare
  })
  return [...new Set(found)]
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
}
