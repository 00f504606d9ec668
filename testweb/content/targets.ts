// Which pages a page links to. Some pages of a site are popular: here those with the lowest numbers, to
// which three quarters of the links by chance lead.

import type { Random } from '../../src/base/index.ts'
import type { WebOptions } from '../options.ts'
import type { Host, HostTable } from './host.ts'
import type { Layout, Resource } from './layout.ts'
import { mix } from './mix.ts'

/** Popular pages per host. They are kept, as writing their paths again and again costs more than all else. */
const POPULAR = 256
/** Some 200 bytes each; beyond, they are made each time. */
const KEPT_MAX = 1 << 17

export class Targets {
  readonly #hosts: HostTable
  readonly #layout: Layout
  readonly #branching: number
  /** By host index × POPULAR + number. */
  readonly #kept = new Map<number, Resource>()

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
    if ((roll & 3) === 0 || to.index < 0) return this.#layout.resource(to, (roll >>> 2) % to.pages)
    return this.#popular(to, (roll >>> 2) % Math.min(POPULAR, to.pages))
  }

  #popular(host: Host, number: number): Resource {
    const place = host.index * POPULAR + number
    const kept = this.#kept.get(place)
    if (kept !== undefined) return kept
    const resource = this.#layout.resource(host, number)
    if (this.#kept.size < KEPT_MAX) this.#kept.set(place, resource)
    return resource
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
