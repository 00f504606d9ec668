// What stands on a host beside its numbered pages: robots.txt and sitemaps, mirrors and near-duplicates,
// searches, redirect chains, and the traps.

import { gzipSync } from 'node:zlib'
import type { WebOptions } from '../options.ts'
import { Answer, plainAnswer, redirectAnswer } from './answer.ts'
import { isFindPath } from './dress.ts'
import type { Host, HostTable } from './host.ts'
import type { Layout } from './layout.ts'
import type { Link } from './link.ts'
import { escapeAttribute } from './markup.ts'
import { mix, mixText } from './mix.ts'
import { MIRRORS, NEAR_DUPLICATES } from './page-links.ts'
import { MOVED_AWAY_ROBOTS_PATH, MOVED_ROBOTS_PATH } from './robots-plan.ts'
import { link, smallPage } from './small-page.ts'
import { trapAnswer } from './traps.ts'

/** How many numbered pages a sitemap names. */
const SITEMAP_PAGES = 40
export class Extras {
  readonly #options: WebOptions
  readonly #hosts: HostTable
  readonly #layout: Layout

  constructor(options: WebOptions, hosts: HostTable, layout: Layout) {
    this.#options = options
    this.#hosts = hosts
    this.#layout = layout
  }

  /** The answer at a path that belongs to no numbered page. */
  answer(host: Host, path: string): Answer {
    if (path === '/robots.txt') return this.#robots(host)
    const [first, second] = path.slice(1).split('/', 2)
    let found: Answer | null = null
    switch (first) {
      case '_':
        found = this.#movedRobots(host, path)
        break
      case 'sitemap.xml':
        found = host.index < 0 ? null : this.#sitemapIndex(host)
        break
      case 'sitemap-a.xml':
        found = this.#sitemap(host, path)
        break
      case 'sitemap-b.xml.gz':
        found = this.#sitemap(host, path)
        break
      case 'mirror':
        found = this.#mirror(host, path)
        break
      case 'near':
        found = this.#nearDuplicate(host, path)
        break
      case 'find':
        found = this.#search(host, path, second)
        break
      case 'loop':
        found = this.#loop(host, path, second)
        break
      case 'chain':
        found = this.#chain(host, path)
        break
      default:
        if (this.#options.traps) found = trapAnswer(host, path, this.#options.seed)
    }
    return found ?? plainAnswer(404, 'There is no such page.\n')
  }

  #robots(host: Host): Answer {
    const plan = host.robots
    if (plan.movedTo === 'own') return redirectAnswer(plan.status, link(host, MOVED_ROBOTS_PATH, 'redirect'))
    if (plan.movedTo === 'other') {
      const other = this.#hosts.at((host.index + 1) % this.#hosts.count)
      const url = `${other.origin}${MOVED_AWAY_ROBOTS_PATH}${host.index}`
      return redirectAnswer(plan.status, { kind: 'redirect', href: url, url, isNofollow: false })
    }
    return plainAnswer(plan.status, plan.text)
  }

  #movedRobots(host: Host, path: string): Answer | null {
    if (path === MOVED_ROBOTS_PATH) return host.robots.movedTo === 'own' ? plainAnswer(200, host.robots.text) : null
    if (!path.startsWith(MOVED_AWAY_ROBOTS_PATH)) return null
    const index = Number(path.slice(MOVED_AWAY_ROBOTS_PATH.length))
    if (!Number.isInteger(index) || index < 0 || index >= this.#hosts.count) return null
    const { robots } = this.#hosts.at(index)
    return robots.movedTo === 'other' ? plainAnswer(200, robots.text) : null
  }

  #sitemapIndex(host: Host): Answer {
    const links = [link(host, '/sitemap-a.xml', 'sitemap'), link(host, '/sitemap-b.xml.gz', 'sitemap')]
    return new Answer(200, 'application/xml', links, (paper) =>
      paper.text(sitemapText('sitemapindex', 'sitemap', links)),
    )
  }

  /** The first names pages that links lead to as well, the second those that nobody else names. */
  #sitemap(host: Host, path: string): Answer | null {
    const isPacked = path === '/sitemap-b.xml.gz'
    if ((!isPacked && path !== '/sitemap-a.xml') || host.index < 0) return null
    const links: Link[] = []
    if (isPacked) {
      for (let i = 0; i < this.#layout.orphans; i++)
        links.push(link(host, this.#layout.orphan(host, i).path, 'sitemap'))
    } else {
      const count = Math.min(SITEMAP_PAGES, host.pages)
      for (let i = 0; i < count; i++) links.push(link(host, this.#layout.resource(host, i).path, 'sitemap'))
    }
    return new Answer(200, isPacked ? 'application/gzip' : 'application/xml', links, (paper) => {
      const text = sitemapText('urlset', 'url', links)
      if (isPacked) paper.bytes(gzipSync(text))
      else paper.text(text)
    })
  }

  /** The same bytes on every host. It leads only where roots lead too, so following a copy changes nothing. */
  #mirror(host: Host, path: string): Answer | null {
    const number = numberIn(path, /^\/mirror\/(\d+)\.html$/, MIRRORS)
    if (number === null) return null
    const links = [link(host, '/'), link(host, `/mirror/${(number + 1) % MIRRORS}.html`)]
    return smallPage(links, `Mirror ${number}`, mix(mixText(1, this.#options.seed), number))
  }

  /** The same text everywhere but for the title. */
  #nearDuplicate(host: Host, path: string): Answer | null {
    const number = numberIn(path, /^\/near\/(\d+)\.html$/, NEAR_DUPLICATES)
    if (number === null) return null
    return smallPage([link(host, '/')], `Nearly ${number} of ${host.name}`, mixText(2, this.#options.seed))
  }

  #search(host: Host, path: string, second: string | undefined): Answer | null {
    const number = Number.parseInt(second ?? '', 10)
    if (!(number >= 0)) return null
    const resource = this.#layout.resource(host, number)
    if (!isFindPath(resource, path)) return null
    return smallPage([link(host, '/')], `Search from page ${number}`, mixText(resource.hash, path))
  }

  /** The other half of the loop that a 'redirect-loop' page begins. */
  #loop(host: Host, path: string, second: string | undefined): Answer | null {
    const number = Number.parseInt(second ?? '', 10)
    if (!(number >= 0)) return null
    const resource = this.#layout.resource(host, number)
    if (resource.variant !== 'redirect-loop' || path !== `/loop/${number}`) return null
    return redirectAnswer(302, link(host, resource.path, 'redirect'))
  }

  /** /chain/k/k is k redirects away from a page; each chain has URLs of its own. */
  #chain(host: Host, path: string): Answer | null {
    const [, length, left] = /^\/chain\/(0|[1-9]\d?)\/(0|[1-9]\d?)$/.exec(path) ?? []
    if (length === undefined || left === undefined || Number(left) > Number(length)) return null
    if (left !== '0') return redirectAnswer(301, link(host, `/chain/${length}/${Number(left) - 1}`, 'redirect'))
    return smallPage([link(host, '/')], `The end of chain ${length}`, mix(host.hash, Number(length)))
  }
}

function numberIn(path: string, form: RegExp, below: number): number | null {
  const number = Number(form.exec(path)?.[1] ?? -1)
  return number >= 0 && number < below && !/\/0\d/.test(path) ? number : null
}

function sitemapText(root: string, item: string, links: readonly Link[]): string {
  let text = `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n`
  for (const { url } of links) text += `<${item}><loc>${escapeAttribute(url ?? '')}</loc></${item}>\n`
  return `${text}</${root}>\n`
}
