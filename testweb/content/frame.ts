// What all pages of a section have in common: the navigation of the host and the section's own list.
// Two thirds of all links stand there, as on real sites, and are written once instead of on every page.

import { Random } from '../../src/base/index.ts'
import type { WebOptions } from '../options.ts'
import type { Host } from './host.ts'
import type { Layout, Resource } from './layout.ts'
import { type Link, PlaceLink } from './link.ts'
import { escapeAttribute } from './markup.ts'
import { mix } from './mix.ts'
import type { Targets } from './targets.ts'

export interface Frame {
  readonly links: readonly Link[]
  readonly markup: string
}

export const NO_FRAME: Frame = { links: [], markup: '' }

/** As many as layout.ts has sections. */
const SECTIONS = 8
/** Some 3 kB each; frames beyond are made each time. */
const KEPT_MAX = 8_192

export class Frames {
  readonly #layout: Layout
  readonly #targets: Targets
  /** Links of the navigation, and of a section's list. */
  readonly #each: number
  readonly #crossShare: number
  /** By host index × SECTIONS + section. */
  readonly #kept: (Frame | undefined)[] = []
  #keptCount = 0

  constructor(options: WebOptions, layout: Layout, targets: Targets) {
    this.#layout = layout
    this.#targets = targets
    this.#each = Math.floor(options.linksPerPage / 3)
    // The navigation never leaves the host, so the other two thirds must do so more often.
    this.#crossShare = (options.crossHostShare * options.linksPerPage) / Math.max(1, options.linksPerPage - this.#each)
  }

  of({ host, hash }: Resource): Frame {
    if (host.index < 0) return NO_FRAME
    const section = hash % SECTIONS
    const place = host.index * SECTIONS + section
    const kept = this.#kept[place]
    if (kept !== undefined) return kept
    const frame = this.#make(host, section)
    if (this.#keptCount < KEPT_MAX) {
      this.#kept[place] = frame
      this.#keptCount++
    }
    return frame
  }

  #make(host: Host, section: number): Frame {
    const random = new Random(mix(host.hash, -1 - section))
    const links: Link[] = []
    // Pages stand in different folders, so nothing here is relative to one.
    const add = (to: Resource): void => {
      links.push(new PlaceLink('a', to.host === host ? to.path : to.host.origin + to.path, to, false))
    }
    const navigation = Math.min(this.#each, host.pages - 1)
    for (let number = 1; number <= navigation; number++) add(this.#layout.resource(host, number))
    for (let i = 0; i < this.#each; i++) add(this.#targets.any(host, this.#crossShare, random))
    return { links, markup: writeMarkup(links) }
  }
}

function writeMarkup(links: readonly Link[]): string {
  if (links.length === 0) return ''
  const items = links.map((link) => `<li><a href="${escapeAttribute(link.href)}">more</a></li>\n`)
  // Through a buffer, so that it is one flat string: as a tree of its parts it would be joined for every page.
  return Buffer.from(`<nav><ul>\n${items.join('')}</ul></nav>\n`, 'latin1').toString('latin1')
}
