// How many links of real pages are made canonical per second, and what do fingerprint, scope, registrable
// domain and archive key cost, each apart? And what does the way cost that makes no string (link-joiner.ts)?
//
//   node bench/url.ts
//
// Links come from Debian documentation packages (bench/corpus.ts), as if they stood on one site. Figures are CPU
// time of this process, best of seven rounds. Before anything is timed, the short way through is compared with the
// WHATWG parser on every link.

import type { CanonicalUrl } from '../src/url/index.ts'
import {
  BaseUrl,
  canonicalise,
  compileScope,
  defaultKey,
  Fingerprinter,
  hostKeyOf,
  JOINED,
  LinkJoiner,
  LINKS_JOINED_MAX,
  registrableDomain,
  surt,
} from '../src/url/index.ts'
import { parseUrl } from '../src/url/parse-url.ts'
import { corpusPages, rawLinks } from './corpus.ts'

const ROUNDS = 7
const BAR_PER_SECOND = 500_000

const pages: { base: BaseUrl; links: string[] }[] = []
let linkCount = 0
for (const page of corpusPages()) {
  const url = canonicalise(`https://docs.example.org${page.path}`)
  if (typeof url !== 'string') continue
  const links = rawLinks(page)
  linkCount += links.length
  pages.push({ base: BaseUrl.of(url), links })
}
if (linkCount === 0) {
  console.error('bench/url: no page of the corpus can be had; nothing was measured')
  process.exit(1)
}

const urls: CanonicalUrl[] = []
let differences = 0
for (const { base, links } of pages) {
  for (const link of links) {
    const short = canonicalise(link, base)
    const long = parseUrl(link, base.href)
    if (typeof short === 'string') urls.push(short)
    if (short !== long && typeof short === 'string') {
      differences++
      console.error(`differs: ${link} on ${base.href}: ${short}, not ${JSON.stringify(long)}`)
    }
  }
}

/** Whatever is computed flows in here, so that nothing is optimised away. */
let sink = 0

/** Nanoseconds of CPU per item. */
function measure(items: number, work: () => void): number {
  let best = Infinity
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, ((user + system) * 1_000) / items)
  }
  return Math.round(best)
}

/** Reads a character, so that a joined string is made flat: its users would pay for that otherwise. */
function touch(url: string): void {
  sink += url.charCodeAt(url.length - 1)
}

const parserNs = measure(linkCount, () => {
  for (const { base, links } of pages) {
    for (const link of links) {
      const url = parseUrl(link, base.href)
      if (typeof url === 'string') touch(url)
    }
  }
})
const canonicaliseNs = measure(linkCount, () => {
  for (const { base, links } of pages) {
    for (const link of links) {
      const url = canonicalise(link, base)
      if (typeof url === 'string') touch(url)
    }
  }
})
const fingerprinter = new Fingerprinter(defaultKey)
const fingerprintNs = measure(urls.length, () => {
  for (const url of urls) {
    fingerprinter.compute(url)
    sink += fingerprinter.low
  }
})
/** Links as they stand in a page: all of one page in a row, and where each begins and ends. */
const spans = pages.map(({ base, links }) => {
  const places: number[] = []
  let end = 0
  for (const link of links) places.push(end, (end += Buffer.byteLength(link)), 0)
  return { base, bytes: Buffer.from(links.join('')), places }
})
const joiner = new LinkJoiner(defaultKey, canonicalise.plainLengthMax)
let joined = 0
const joinNs = measure(linkCount, () => {
  joined = 0
  for (const page of spans) {
    joiner.begin(page.base)
    const count = page.places.length / 3
    for (let from = 0; from < count; from += LINKS_JOINED_MAX) {
      const to = Math.min(count, from + LINKS_JOINED_MAX)
      if (!joiner.joinAll(page, from, to)) continue
      for (let i = 0; i < to - from; i++) {
        if ((joiner.outcomes[i] ?? 0) < JOINED.base) continue
        joined++
        sink += joiner.lows[i] ?? 0
      }
    }
  }
})
/** Cost of judging every URL by the domain of the site, and by these patterns. */
function measureScope(exclude: RegExp[]): number {
  const scope = compileScope({ scope: 'domain', include: [], exclude, maxDepth: 10, pathDepth: null, filter: null })
  scope.addSeed('https://docs.example.org/' as CanonicalUrl)
  return measure(urls.length, () => {
    for (const url of urls) if (scope.judge(url, 1) === null) sink++
  })
}
const scopeNs = measureScope([])
const scopePatternNs = measureScope([/\.zip$/])
const hostKeyNs = measure(urls.length, () => {
  for (const url of urls) sink += hostKeyOf(url).length
})
const domainNs = measure(urls.length, () => {
  for (const url of urls) sink += registrableDomain(hostKeyOf(url)).length
})
const surtNs = measure(urls.length, () => {
  for (const url of urls) sink += surt(url).length
})

const perSecond = Math.round(1e9 / canonicaliseNs)
const result = {
  bench: 'url',
  pages: pages.length,
  links: linkCount,
  meanUrlLength: Math.round(urls.reduce((sum, url) => sum + url.length, 0) / urls.length),
  differences,
  perSecond,
  canonicaliseNs,
  parserNs,
  fingerprintNs,
  joinNs,
  joinedShare: Math.round((joined / linkCount) * 1_000) / 1_000,
  scopeNs,
  scopePatternNs,
  hostKeyNs,
  domainNs,
  surtNs,
}
console.log(
  `${perSecond} links/s made canonical (${canonicaliseNs} ns; WHATWG parser alone ${parserNs} ns; bar ${BAR_PER_SECOND}/s), ` +
    `${linkCount} links of ${pages.length} pages, ${differences} differences\n` +
    `per URL: fingerprint ${fingerprintNs} ns, scope ${scopeNs} ns (with one pattern ${scopePatternNs}), host key ${hostKeyNs} ns, domain ${domainNs} ns, SURT ${surtNs} ns\n` +
    `from the bytes of the page to the fingerprint: ${joinNs} ns, of ${Math.round((100 * joined) / linkCount)} % of the links`,
)
console.log(JSON.stringify(result))
if (differences > 0 || !Number.isFinite(sink)) process.exitCode = 1
