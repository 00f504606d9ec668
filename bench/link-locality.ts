// How many of a page's links lead to another host? What an exchange between machines has to carry begins with that.
//
//   node bench/link-locality.ts
//
// Real pages of Debian's documentation packages, each package a site, links as the crawler finds them: canonical, once a page. Sites of
// documentation lead to others more seldom than most; the figure is a lower bound of what the web does.

import { parseOptions } from '../src/parse/options.ts'
import { scanHtml } from '../src/parse/index.ts'
import { BaseUrl, canonicalise, hostKeyOf } from '../src/url/index.ts'
import { CORPUS_PACKAGES, corpusPages } from './corpus.ts'

const options = parseOptions.parse({})
/** Of each package; the rest is more of the same. */
const PAGES_MAX = 600

interface Locality {
  readonly name: string
  readonly pages: number
  readonly linksPerPage: number
  /** Of the links of all pages, the share that leads to another host. */
  readonly foreignShare: number
  /** The same, each URL counted once in the whole site: what is left when nothing is sent twice. */
  readonly foreignOnceShare: number
}

function localityOf(name: string): Locality {
  const home = canonicalise(`http://${name.replaceAll('.', '-')}.example/`)
  if (typeof home !== 'string') throw new Error(`no host for ${name}`)
  let pages = 0
  let links = 0
  let foreign = 0
  const once = new Set<string>()
  for (const { path, bytes } of corpusPages([name])) {
    if (pages === PAGES_MAX) break
    pages++
    const at = canonicalise(encodeURI(path), home)
    if (typeof at !== 'string') continue
    const page = scanHtml(Uint8Array.from(bytes), { charset: 'utf-8' }, options)
    const base = BaseUrl.ofPage(at, page.baseHref)
    const met = new Set<string>()
    for (const { href } of page.links) {
      const url = canonicalise(href, base, page.encoding)
      if (typeof url !== 'string' || met.has(url)) continue
      met.add(url)
      links++
      if (hostKeyOf(url) === hostKeyOf(home)) continue
      foreign++
      once.add(url)
    }
  }
  return {
    name,
    pages,
    linksPerPage: links / pages,
    foreignShare: foreign / links,
    foreignOnceShare: once.size / links,
  }
}

const sites = [
  ...CORPUS_PACKAGES,
  'sqlite3-doc',
  'git-doc',
  'cppreference-doc-en-html',
  'libboost1.81-doc',
  'lilypond-doc-html',
]
const results = sites.map(localityOf)
for (const one of results) {
  const per100 = (share: number): string => `${(share * 100).toFixed(2)} %`
  console.log(
    `${one.name.padEnd(26)} ${String(one.pages).padStart(5)} pages, ${one.linksPerPage.toFixed(1).padStart(6)} links a page, ${per100(one.foreignShare)} to other hosts, ${per100(one.foreignOnceShare)} if each is counted once`,
  )
}
console.log(JSON.stringify({ bench: 'link-locality', sites: results }))
