// Places without end or without worth, linked from every root of a web with traps. Each leads on for ever; only
// depth, budgets, patterns or a crawler that notices ends it.
//
//   /calendar/2026/1      the month before and the month after, each with a text of its own
//   /deeper/a/            a/ and b/ below it, all with the same text
//   /session?sid=0        the same page under the next id
//   /lost/0               "Page not found" with status 200, and two more such links
//   /catalogue/0          the same text but for a number
//   /facets?              four parameters of five values that come and go, 1,296 pages, and three items on each
//   s0.many3.test         the same page on every subdomain of host 3, each naming two more

import type { Answer } from './answer.ts'
import { type Host, type HostTable, subdomainOf } from './host.ts'
import type { Link } from './link.ts'
import { mix, mixText } from './mix.ts'
import { link, smallPage } from './small-page.ts'

const FACETS = ['brand', 'colour', 'size', 'sort'] as const
const FACET_VALUES = 5
const FACET_ITEMS = 12
const ITEMS_PER_PAGE = 3

/** Where the traps of a host begin. */
export const TRAP_ENTRANCES = [
  '/calendar/2026/1',
  '/deeper/a/',
  '/session?sid=0',
  '/lost/0',
  '/catalogue/0',
  '/facets?brand=0',
] as const

/** What a crawl may leave out of a web with traps; the items behind the facets are worth it. */
export const TRAP_PATHS = [
  /\/calendar\/\d/,
  /\/deeper\/[ab]/,
  /\/session\?/,
  /\/lost\/[0-9a-z]/,
  /\/catalogue\/\d/,
  /\/facets\?/,
  /\/\/s[0-9a-z]+\.many/,
] as const

export function trapAnswer(host: Host, path: string, seed: string): Answer | null {
  const [first] = path.slice(1).split(/[/?]/, 1)
  switch (first) {
    case 'calendar':
      return month(host, path)
    case 'deeper':
      return deeper(host, path)
    case 'session':
      return session(host, path)
    case 'lost':
      return lost(host, path)
    case 'catalogue':
      return catalogue(host, path)
    case 'facets':
      return facets(host, path)
    case '':
      return host.subdomainOf === null ? null : subdomain(host, seed)
    default:
      return null
  }
}

function month(host: Host, path: string): Answer | null {
  const found = /^\/calendar\/(\d{4})\/(\d{1,2})$/.exec(path)
  const at = Number(found?.[1]) * 12 + Number(found?.[2]) - 1
  if (found === null || monthPath(at) !== path) return null
  return smallPage(
    [link(host, monthPath(at - 1)), link(host, monthPath(at + 1))],
    `Month ${path}`,
    mixText(host.hash, path),
  )
}

function monthPath(at: number): string {
  return `/calendar/${Math.floor(at / 12)}/${(at % 12) + 1}`
}

function deeper(host: Host, path: string): Answer | null {
  if (!/^\/deeper\/(?:[ab]\/){1,200}$/.test(path)) return null
  const links = ['a/', 'b/'].map((name) => ({ ...link(host, path + name), href: name }))
  return smallPage(links, 'Deeper', mixText(host.hash, 'deeper'))
}

function session(host: Host, path: string): Answer | null {
  const id = /^\/session\?sid=([0-9a-z]{1,7})$/.exec(path)?.[1]
  if (id === undefined) return null
  const next = mixText(host.hash, id).toString(36)
  return smallPage([link(host, `/session?sid=${next}`)], 'Welcome back', mixText(host.hash, 'session'))
}

function lost(host: Host, path: string): Answer | null {
  const name = /^\/lost\/([0-9a-z]{1,7})$/.exec(path)?.[1]
  if (name === undefined) return null
  const links = [1, 2].map((way) => link(host, `/lost/${mix(mixText(host.hash, name), way).toString(36)}`))
  return smallPage(links, 'Page not found', mixText(host.hash, 'lost'))
}

/** The highest number there is: far more than anybody should ask for. */
const CATALOGUE_MAX = 10 ** 9

function catalogue(host: Host, path: string): Answer | null {
  const number = Number(/^\/catalogue\/(0|[1-9]\d{0,9})$/.exec(path)?.[1] ?? Number.NaN)
  if (!(number < CATALOGUE_MAX)) return null
  const links = [2 * number + 1, 2 * number + 2].map((next) => link(host, `/catalogue/${next}`))
  return smallPage(links, `Item ${number}`, mixText(host.hash, 'catalogue'))
}

function facets(host: Host, path: string): Answer | null {
  const item = /^\/facets\/item-(0|[1-9]\d?)$/.exec(path)?.[1]
  if (item !== undefined) {
    return Number(item) < FACET_ITEMS ? smallPage([link(host, '/')], `Item ${item}`, mixText(host.hash, path)) : null
  }
  const chosen = new Map(
    [...new URLSearchParams(path.slice('/facets?'.length))].map(([name, value]) => [name, Number(value)]),
  )
  if (facetPath(chosen) !== path) return null
  const links: Link[] = []
  for (const name of FACETS) {
    const value = chosen.get(name)
    links.push(
      link(host, facetPath(new Map([...chosen, [name, value === undefined ? 0 : (value + 1) % FACET_VALUES]]))),
    )
    const fewer = new Map([...chosen].filter(([other]) => other !== name))
    if (fewer.size > 0 && fewer.size < chosen.size) links.push(link(host, facetPath(fewer)))
  }
  const hash = mixText(host.hash, path)
  for (let i = 0; i < ITEMS_PER_PAGE; i++) links.push(link(host, `/facets/item-${mix(hash, i) % FACET_ITEMS}`))
  return smallPage(links, 'Choose', hash)
}

/** In a fixed order; a path of its own for what is no choice. */
function facetPath(chosen: ReadonlyMap<string, number>): string {
  const parts = FACETS.flatMap((name) => {
    const value = chosen.get(name)
    return value !== undefined && value >= 0 && value < FACET_VALUES ? [`${name}=${value}`] : []
  })
  return parts.length === chosen.size && parts.length > 0 ? `/facets?${parts.join('&')}` : ''
}

function subdomain(host: Host, seed: string): Answer {
  const links = [1, 2].map((way) => {
    const url = host.origin.replace(/\/\/s[0-9a-z]+/, `//s${mix(mixText(0, host.name), way).toString(36)}`)
    return { kind: 'a' as const, href: `${url}/`, url: `${url}/`, isNofollow: false }
  })
  return smallPage(links, 'One of many', mixText(3, seed))
}

/** The first subdomain of a host with a name. */
export function subdomainEntrance(host: Host, hosts: HostTable): Link | null {
  if (host.index < 0 || /^[\d.]+$/.test(host.name)) return null
  const port = hosts.ports.http
  const url = `http://${subdomainOf(host.index)}${port === 80 ? '' : `:${port}`}/`
  return { kind: 'a', href: url, url, isNofollow: false }
}
