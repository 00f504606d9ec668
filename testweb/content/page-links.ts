// The links of a numbered page: those of its section's frame, then its children in the tree of its host,
// then some by chance, then what only roots have.

import { Random } from '../../src/base/index.ts'
import type { LinkKind } from '../../src/parse/index.ts'
import type { WebOptions } from '../options.ts'
import { type Frame, Frames, NO_FRAME } from './frame.ts'
import type { Host, HostTable } from './host.ts'
import { familyOf, type Layout, type Resource } from './layout.ts'
import { type Link, PlaceLink } from './link.ts'
import { Targets } from './targets.ts'
import { subdomainEntrance, TRAP_ENTRANCES } from './traps.ts'
import { VARIANT_NAMES } from './variant.ts'
import { type Base, baseAt, type Hand, type Place, writeHref } from './writing.ts'

/** Pages that stand on every host with the same bytes, and near-duplicates of each other. */
export const MIRRORS = 4
export const NEAR_DUPLICATES = 4
/** Lengths of the redirect chains that roots link to when exhibits are linked; the last is longer than a crawler follows. */
const CHAINS = [3, 9, 14] as const
/** What a page with <base> resolves its links against. */
export const BASE_PATH = '/people/deep/'

const JUNK = ['mailto:someone@example.test', 'javascript:void(0)', 'data:text/plain,hello', 'tel:+123456789']

export class PageLinks {
  readonly targets: Targets
  readonly hand: Hand
  readonly #options: WebOptions
  readonly #hosts: HostTable
  readonly #layout: Layout
  readonly #frames: Frames

  constructor(options: WebOptions, hosts: HostTable, layout: Layout) {
    this.#options = options
    this.#hosts = hosts
    this.#layout = layout
    this.targets = new Targets(options, hosts, layout)
    this.#frames = new Frames(options, layout, this.targets)
    this.hand = options.faults === 'none' ? 'plain' : 'varied'
  }

  /** The links that a page shares with its section; the first of its links. */
  frame(resource: Resource): Frame {
    return resource.variant === 'frameset' ? NO_FRAME : this.#frames.of(resource)
  }

  /** In the order of the page. The element is chosen here, too: it is the link's kind. */
  of(resource: Resource): Link[] {
    const random = new Random(resource.hash)
    const { host } = resource
    const from = baseAt(resource.variant === 'based' ? { host, path: BASE_PATH } : resource)
    const forced = resource.variant === 'frameset' ? 'frame' : null
    const links = [...this.frame(resource).links]
    const count = this.#options.linksPerPage - links.length
    const children = this.targets.children(resource, count)
    for (const child of children) links.push(this.#write(from, child, forced, random))
    const crossShare = this.#crossShare(count, children.length)
    for (let i = children.length; i < count; i++) {
      links.push(this.#write(from, this.targets.any(host, crossShare, random), forced, random))
    }
    if (resource.number === 0) this.#rootLinks(from, links)
    if (this.hand === 'varied') oddments(from, links, random)
    return links
  }

  /** For the links by chance: they make up for the children, which never cross. */
  #crossShare(count: number, children: number): number {
    const { crossHostShare, linksPerPage } = this.#options
    const crossing = linksPerPage - Math.floor(linksPerPage / 3)
    return (crossHostShare * linksPerPage * count) / Math.max(1, crossing) / Math.max(1, count - children)
  }

  #write(from: Base, to: Resource, forced: LinkKind | null, random: Random): Link {
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
      for (const path of TRAP_ENTRANCES) add(path)
      const subdomain = subdomainEntrance(host, this.#hosts)
      if (subdomain !== null) links.push(subdomain)
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
  if (again !== undefined && again.url !== null && again.kind === 'a') {
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
