// Which links a numbered page has: its children in the tree of its host, then links across it and to
// other hosts, then what only roots have. Low numbers are linked more often, as on any site.

import { Random } from '../../src/base/index.ts'
import type { LinkKind } from '../../src/parse/index.ts'
import type { WebOptions } from '../options.ts'
import type { Host, HostTable } from './host.ts'
import { familyOf, type Layout, type Resource } from './layout.ts'
import { type Link, PlaceLink } from './link.ts'
import { mix } from './mix.ts'
import { VARIANT_NAMES } from './variant.ts'
import { type Hand, type Place, placeAt, writeHref } from './writing.ts'

/** Pages that stand on every host with the same bytes, and near-duplicates of each other. */
export const MIRRORS = 4
export const NEAR_DUPLICATES = 4
/** Lengths of the redirect chains that roots link to when exhibits are linked; the last is longer than a crawler follows. */
const CHAINS = [3, 9, 14] as const
/** What a page with <base> resolves its links against. */
export const BASE_PATH = '/people/deep/'

const JUNK = ['mailto:someone@example.test', 'javascript:void(0)', 'data:text/plain,hello', 'tel:+123456789']

export class PageLinks {
  readonly #options: WebOptions
  readonly #hosts: HostTable
  readonly #layout: Layout
  readonly hand: Hand

  constructor(options: WebOptions, hosts: HostTable, layout: Layout) {
    this.#options = options
    this.#hosts = hosts
    this.#layout = layout
    this.hand = options.faults === 'none' ? 'plain' : 'varied'
  }

  /** In the order of the page. The element is chosen here, too: it is the link's kind. */
  of(resource: Resource): Link[] {
    const random = new Random(resource.hash)
    const from: Place = resource.variant === 'based' ? placeAt(resource.host, BASE_PATH) : resource
    const links: Link[] = []
    if (resource.number === 0) this.#rootLinks(from, links)
    for (const target of this.targets(resource, random, this.#options.linksPerPage)) {
      links.push(this.#write(from, target, resource.variant === 'frameset' ? 'frame' : null, random))
    }
    if (this.hand === 'varied') oddments(from, links, random)
    return links
  }

  /** Children first, so that the tree is whole; then by chance. */
  targets(resource: Resource, random: Random, count: number): Resource[] {
    const { host, number } = resource
    const targets: Resource[] = []
    if (number < host.pages) {
      const width = Math.min(this.#options.branching, count)
      const first = number * width + 1
      for (let child = first; child < first + width && child < host.pages; child++) {
        targets.push(this.#layout.resource(host, child))
      }
    }
    const crossShare = this.#hosts.count > 1 ? this.#options.crossHostShare : 0
    while (targets.length < count) {
      const isCross = random.fraction() < crossShare
      targets.push(this.#anyPage(isCross ? this.#hosts.at(random.below(this.#hosts.count)) : host, random.fraction()))
    }
    return targets
  }

  /** A page of a host; the power makes low numbers popular: half of all links lead to a sixteenth of the pages. */
  #anyPage(host: Host, fraction: number): Resource {
    return this.#layout.resource(host, Math.floor(fraction ** 4 * host.pages))
  }

  /** A redirect leads to any page but itself, on its own host or another. */
  redirectTarget(resource: Resource, isAway: boolean): Resource {
    const hash = mix(resource.hash, 11)
    const count = this.#hosts.count
    const host =
      isAway && count > 1 && resource.host.index >= 0
        ? this.#hosts.at((resource.host.index + 1 + (hash % (count - 1))) % count)
        : resource.host
    const number = mix(hash, 1) % host.pages
    const isItself = host === resource.host && number === resource.number
    return this.#layout.resource(host, isItself ? 0 : number)
  }

  #write(from: Place, to: Resource, forced: LinkKind | null, random: Random): Link {
    if (this.hand === 'plain') {
      return new PlaceLink(forced ?? 'a', writeHref(from, to, 'plain', random), to, false)
    }
    const kind = forced ?? chooseKind(to, random)
    // srcset splits at white space and refresh has a grammar of its own: no wild hand there.
    const href = writeHref(from, to, kind === 'a' || kind === 'area' ? 'varied' : 'plain', random)
    const isNofollow = kind === 'a' && random.below(40) === 0
    return new PlaceLink(kind, href, to, isNofollow)
  }

  #rootLinks(from: Place, links: Link[]): void {
    const { host } = from
    const add = (path: string, kind: LinkKind = 'a'): void => {
      links.push({ kind, href: path, url: host.origin + path, isNofollow: false })
    }
    if (this.hand === 'varied' && host.index >= 0) {
      add('/sitemap.xml', 'link')
      for (let i = 0; i < MIRRORS; i++) add(`/mirror/${i}.html`)
      for (let i = 0; i < NEAR_DUPLICATES; i++) add(`/near/${i}.html`)
      this.#wrongScheme(host, links)
    }
    if (this.#options.exhibits) {
      for (const variant of VARIANT_NAMES) add(this.#layout.exhibit(host, variant).path)
      for (const length of CHAINS) add(`/chain/${length}/${length}`)
    }
    if (this.#options.traps) {
      add('/calendar/2026/1')
      add('/deeper/a/')
      add('/session?sid=0')
    }
  }

  /** An http link to a host that is at home on https: it is answered by a redirect to there. */
  #wrongScheme(host: Host, links: Link[]): void {
    if (host.scheme !== 'https') return
    const port = this.#hosts.ports.http
    const url = `http://${host.name}${port === 80 ? '' : `:${port}`}/mirror/0.html`
    links.push({ kind: 'a', href: url, url, isNofollow: false })
  }
}

/** A link that leads nowhere, one within the page (or to its <base>), and one that repeats another in other words. */
function oddments(from: Place, links: Link[], random: Random): void {
  links.push({ kind: 'a', href: random.pick(JUNK), url: null, isNofollow: false })
  links.push(new PlaceLink('a', '#top', from, false))
  const again = links[0]
  if (again?.url != null && again.kind === 'a') {
    links.push({ kind: 'a', href: `${again.url}#again`, url: again.url, isNofollow: again.isNofollow })
  }
}

/** The element a link stands in, by what it leads to. */
function chooseKind(to: Resource, random: Random): LinkKind {
  switch (familyOf(to)) {
    case 'image':
      return 'img'
    case 'style':
      return 'link'
    case 'script':
      return 'script'
    case 'feed':
      return random.below(2) === 0 ? 'link' : 'a'
    case 'file':
      return 'a'
    case 'html':
      break
  }
  switch (random.below(24)) {
    case 0:
      return 'area'
    case 1:
      return 'iframe'
    case 2:
      return 'link'
    case 3:
      // Sending a form replaces the query of its action, so only plain paths stand in one.
      return to.path.includes('?') ? 'a' : 'form'
    case 4:
      return 'object'
    case 5:
      return 'media'
    default:
      return 'a'
  }
}
