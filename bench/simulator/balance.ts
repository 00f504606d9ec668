// How evenly hosts and pages fall on shares, and shares on nodes.

import { assignmentNamed, placeShares, shareOfSlot, SLOTS } from '../../src/placement/index.ts'
import type { ModelWeb } from './web.ts'

export interface Spread {
  /** Standard deviation and the largest, in parts of the mean. */
  readonly deviation: number
  readonly largest: number
}

export interface ShareSizes {
  readonly slots: Float64Array
  readonly hosts: Float64Array
  readonly pages: Float64Array
}

export function shareSizes(web: ModelWeb, shares: number, kind: string): ShareSizes {
  const table = shareOfSlot(shares, assignmentNamed(kind))
  const slots = new Float64Array(shares)
  for (let slot = 0; slot < SLOTS; slot++) add(slots, table[slot] as number, 1)
  const hosts = new Float64Array(shares)
  const pages = new Float64Array(shares)
  for (let host = 0; host < web.hosts; host++) {
    const share = table[web.slotOf[host] as number] as number
    add(hosts, share, 1)
    add(pages, share, web.pagesOf[host] as number)
  }
  return { slots, hosts, pages }
}

function add(sums: Float64Array, at: number, amount: number): void {
  sums[at] = (sums[at] as number) + amount
}

export function spread(sizes: Float64Array): Spread {
  const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length
  const variance = sizes.reduce((sum, size) => sum + (size / mean - 1) ** 2, 0) / sizes.length
  return { deviation: Math.sqrt(variance), largest: Math.max(...sizes) / mean }
}

export const nodesNamed = (count: number): { name: string; weight: number }[] =>
  Array.from({ length: count }, (_, i) => ({ name: `node-${i}`, weight: 1 }))

/** What each node has of what the shares have. */
export function nodeSizes(sizes: Float64Array, nodes: number, kind: string): Float64Array {
  const placed = placeShares(sizes.length, nodesNamed(nodes), kind)
  const sums = new Map(nodesNamed(nodes).map(({ name }) => [name, 0]))
  for (const [share, name] of placed.entries()) {
    if (name !== null) sums.set(name, (sums.get(name) ?? 0) + (sizes[share] as number))
  }
  return Float64Array.from(sums.values())
}

/** Hosts that live with others behind one address, and how far such addresses are spread over the shares. */
export function addressSpread(
  web: ModelWeb,
  shares: number,
): { abroadHosts: number; abroadPages: number; hostsOfLargest: number } {
  const table = shareOfSlot(shares)
  const count = new Uint32Array(web.addresses)
  for (const address of web.addressOf) count[address] = (count[address] as number) + 1
  const firstShare = new Uint16Array(web.addresses).fill(65_535)
  const isSpread = new Uint8Array(web.addresses)
  for (let host = 0; host < web.hosts; host++) {
    const address = web.addressOf[host] as number
    const share = table[web.slotOf[host] as number] as number
    if (firstShare[address] === 65_535) firstShare[address] = share
    else if (firstShare[address] !== share) isSpread[address] = 1
  }
  let abroadHosts = 0
  let abroadPages = 0
  for (let host = 0; host < web.hosts; host++) {
    if (isSpread[web.addressOf[host] as number] === 0) continue
    abroadHosts++
    abroadPages += web.pagesOf[host] as number
  }
  return {
    abroadHosts: abroadHosts / web.hosts,
    abroadPages: abroadPages / web.pages,
    hostsOfLargest: count.reduce((most, one) => Math.max(most, one), 0),
  }
}
