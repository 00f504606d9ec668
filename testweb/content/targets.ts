// Which pages a page links to. Some pages of a site are popular: here those with the lowest numbers, to
// which three quarters of the links by chance lead.

import type { Random } from '../../src/base/index.ts'
import type { WebOptions } from '../options.ts'
import type { Host, HostTable } from './host.ts'
import type { Layout, Resource } from './layout.ts'
import { mix } from './mix.ts'

/** How many pages of a host are popular. */
const POPULAR = 256

export class Targets {
  readonly #hosts: HostTable
  readonly #layout: Layout
  readonly #branching: number

  constructor(options: WebOptions, hosts: HostTable, layout: Layout) {
    this.#hosts = hosts
    this.#layout = layout
    this.#branching = options.branching
  }

  /** Children in the tree of the host: at most `count`, none beyond the last page. */
  children({ host, number }: Resource, count: number): Resource[] {
    const children: Resource[] = []
    if (number >= host.pages) return children
    const width = Math.min(this.#branching, count)
    const first = number * width + 1
    for (let child = first; child < first + width && child < host.pages; child++) {
      children.push(this.#layout.resource(host, child))
    }
    return children
  }

  /** Any page; of another host with the chance `crossShare`. */
  any(host: Host, crossShare: number, random: Random): Resource {
    const isCross = this.#hosts.count > 1 && random.fraction() < crossShare
    const to = isCross ? this.#hosts.at(random.below(this.#hosts.count)) : host
    const roll = random.next32()
    const choice = (roll & 3) === 0 ? to.pages : Math.min(POPULAR, to.pages)
    return this.#layout.resource(to, (roll >>> 2) % choice)
  }

  /** A redirect leads to any page but itself, on its own host or another. */
  redirect(resource: Resource, isAway: boolean): Resource {
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
}
