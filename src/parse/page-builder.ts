// Collects what a parser finds, within the limits of the options, in the shape every parser returns.

import type { ParseOptions } from './options.ts'
import type { LinkKind, ParsedPage, RawLink } from './parsed-page.ts'

export class PageBuilder {
  readonly #linksMax: number
  readonly #links: RawLink[] = []
  #linksDropped = 0
  baseHref: string | null = null
  title: string | null = null
  language: string | null = null
  canonical: string | null = null
  readonly metaRobots: [name: string, content: string][] = []

  constructor(options: ParseOptions) {
    this.#linksMax = options.linksPerPage
  }

  link(href: string, kind: LinkKind, isNofollow = false): void {
    if (this.#links.length < this.#linksMax) this.#links.push({ href, kind, isNofollow })
    else this.#linksDropped++
  }

  build(encoding: string): ParsedPage {
    return {
      links: this.#links,
      linksDropped: this.#linksDropped,
      baseHref: this.baseHref,
      title: this.title,
      encoding,
      language: this.language,
      canonical: this.canonical,
      metaRobots: this.metaRobots,
    }
  }
}
