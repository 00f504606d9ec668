// A whole web as a value: ask it anything, without a socket.

import { completeOptions, type WebOptions } from '../options.ts'
import { type Answer, plainAnswer, redirectAnswer } from './answer.ts'
import { Extras } from './extras.ts'
import { Filler } from './filler.ts'
import { type Host, HostTable, type Ports } from './host.ts'
import { Layout } from './layout.ts'
import { Numbered } from './numbered.ts'
import { PageLinks } from './page-links.ts'
import { BytePaper } from './paper.ts'
import type { Variant } from './variant.ts'

export class Web {
  readonly options: WebOptions
  readonly hosts: HostTable
  readonly #layout: Layout
  readonly #numbered: Numbered
  readonly #extras: Extras
  readonly #filler = new Filler()

  constructor(options: Partial<WebOptions>, ports: Ports) {
    this.options = completeOptions(options)
    this.hosts = new HostTable(this.options, ports)
    this.#layout = new Layout(this.options)
    const pageLinks = new PageLinks(this.options, this.hosts, this.#layout)
    this.#numbered = new Numbered(this.options, pageLinks, this.#filler)
    this.#extras = new Extras(this.options, this.hosts, this.#layout)
  }

  /** What a host says at a path (with query). `timeMs` only matters to changing pages. */
  answer(host: Host, scheme: 'http' | 'https', path: string, timeMs = 0): Answer {
    if (scheme !== host.scheme) {
      const url = host.origin + path
      return redirectAnswer(301, { kind: 'redirect', href: url, url, isNofollow: false })
    }
    const resource = host.subdomainOf === null ? this.#layout.find(host, path) : null
    return resource === null ? this.#extras.answer(host, path) : this.#numbered.answer(resource, timeMs)
  }

  /** What a canonical URL says; null if its host is none of this web. */
  answerUrl(url: string, timeMs = 0): Answer | null {
    const { hostname, protocol, pathname, search } = new URL(url)
    const host = this.hosts.find(hostname)
    if (host === null) return null
    return this.answer(host, protocol === 'https:' ? 'https' : 'http', pathname + search, timeMs)
  }

  /** Something to write answers on. */
  newPaper(): BytePaper {
    return new BytePaper(this.#filler)
  }

  /** The bytes of the answer to a canonical URL, before any coding. */
  body(url: string, timeMs = 0): Buffer | null {
    const paper = this.newPaper()
    const answer = this.answerUrl(url, timeMs)
    answer?.write(paper)
    return answer === null ? null : paper.body()
  }

  /** The root of every host, or of the first few. */
  seeds(count = this.hosts.count): string[] {
    return Array.from({ length: Math.min(count, this.hosts.count) }, (_, index) => this.url(index, 0))
  }

  /** The URL of a numbered page. */
  url(hostIndex: number, page: number): string {
    const host = this.hosts.at(hostIndex)
    return host.origin + this.#layout.resource(host, page).path
  }

  /** The URL where a host shows a variant. */
  exhibit(variant: Variant, hostIndex = 0): string {
    const host = this.hosts.at(hostIndex)
    return host.origin + this.#layout.exhibit(host, variant).path
  }

  /** The version of a page at a time; 0 for pages that do not change. */
  version(url: string, timeMs: number): number {
    const { hostname, pathname, search } = new URL(url)
    const host = this.hosts.find(hostname)
    const resource = host === null ? null : this.#layout.find(host, pathname + search)
    return resource === null ? 0 : this.#numbered.version(resource, timeMs).number
  }
}

/** What is said to a Host that is none of ours. */
export const MISDIRECTED: Answer = plainAnswer(421, 'This host is not part of the web served here.\n')
