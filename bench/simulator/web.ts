// A web of ten million hosts, as far as it matters to who has what: slot, size and address of each.
//
// Sizes go by Zipf's law: the host of rank r has C / r pages, at least one, and at most what politeness lets anybody fetch.
// So do hosts of an address. Ranks, slots and addresses have nothing to do with each other, as with a good hash.

import { Random } from '../../src/base/index.ts'
import { SLOTS } from '../../src/placement/index.ts'

export interface ModelWeb {
  readonly hosts: number
  readonly pages: number
  readonly addresses: number
  readonly slotOf: Uint16Array
  readonly pagesOf: Uint32Array
  readonly addressOf: Uint32Array
}

export interface ModelWebOptions {
  readonly hosts: number
  readonly pagesPerHost: number
  /** No host has more: a page a second is 86,400 a day. */
  readonly pagesMost: number
  readonly hostsPerAddress: number
  readonly seed: string
}

export function modelWeb({ hosts, pagesPerHost, pagesMost, hostsPerAddress, seed }: ModelWebOptions): ModelWeb {
  const random = new Random(seed)
  const slotOf = new Uint16Array(hosts)
  for (let host = 0; host < hosts; host++) slotOf[host] = random.below(SLOTS)
  const pagesOf = zipf(hosts, hosts * pagesPerHost, pagesMost)
  const addresses = Math.ceil(hosts / hostsPerAddress)
  const addressOf = new Uint32Array(hosts)
  let host = 0
  for (const [address, size] of zipf(addresses, hosts, hosts).entries()) {
    for (let i = 0; i < size && host < hosts; i++) addressOf[host++] = address
  }
  shuffle(addressOf, random)
  const pages = pagesOf.reduce((sum, size) => sum + size, 0)
  return { hosts, pages, addresses, slotOf, pagesOf, addressOf }
}

/** So many sizes that fall as 1 / rank, of about this sum, none below one or above `most`. */
function zipf(count: number, sum: number, most: number): Uint32Array {
  const sizes = new Uint32Array(count)
  let low = 1
  let high = sum
  for (let step = 0; step < 40; step++) {
    const top = Math.sqrt(low * high)
    if (sumOf(count, top, most) < sum) low = top
    else high = top
  }
  for (let rank = 1; rank <= count; rank++) sizes[rank - 1] = Math.max(1, Math.min(most, Math.round(high / rank)))
  return sizes
}

/** What max(1, min(most, top / rank)) comes to, by the integral. */
function sumOf(count: number, top: number, most: number): number {
  const capped = Math.min(count, top / most)
  const ones = Math.max(capped, Math.min(count, top))
  const between = top * Math.log(Math.max(1, ones) / Math.max(1, capped))
  return capped * most + between + Math.max(0, count - ones)
}

function shuffle(numbers: Uint32Array, random: Random): void {
  for (let i = numbers.length - 1; i > 0; i--) {
    const other = random.below(i + 1)
    const kept = numbers[i] as number
    numbers[i] = numbers[other] as number
    numbers[other] = kept
  }
}
