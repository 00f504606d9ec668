// An endless web for benches that need more URLs than memory holds: hosts by a power law, sites of six kinds, a seventh of the links
// to other hosts. Nothing is stored but a list of words: what a host is like follows from its number.

import { Random } from '../src/base/index.ts'
import type { FrontierEntry } from '../src/frontier/index.ts'
import type { CanonicalUrl, HostKey } from '../src/url/index.ts'

const FOREIGN_SHARE = 1 / 7
const WORDS = 20_000
const BANDS = 8
const TOP_LEVELS = ['com', 'org', 'example', 'de', 'co.uk']

/** Words of no language, with the letters of English at about their frequency. */
function makeWords(random: Random): string[] {
  const consonants = 'ttttttnnnnnnsssssshhhhrrrrrddddllllcccmmwwffggyppbbvkjxqz'
  const vowels = 'eeeeeeeeeeeeaaaaaaaaoooooooiiiiiiiuuu'
  return Array.from({ length: WORDS }, () => {
    let word = ''
    for (let left = 2 + random.below(4); left > 0; left--) {
      word += consonants[random.below(consonants.length)]
      if (random.fraction() < 0.85) word += vowels[random.below(vowels.length)]
    }
    return word
  })
}

/** A text with memory of its own, as the url room hands them out: not a chain of pieces. */
function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

function mixed(a: number, b: number): number {
  let hash = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b + 0x7f4a7c15, 0xc2b2ae35)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}

/** Which host of a web it is that has this name. */
export function numberOfHost(host: string): number {
  return Number.parseInt(/-([0-9a-z]+)\.[^-]+$/.exec(host)?.[1] ?? '', 36)
}

export class SyntheticWeb {
  readonly #random: Random
  readonly #words: readonly string[]
  readonly #hosts: number
  #made = 0

  constructor(seed: string, hosts: number) {
    this.#random = new Random(seed)
    this.#words = makeWords(this.#random)
    this.#hosts = hosts
  }

  /** The new links of a page: some, now and then many. */
  page(): FrontierEntry[] {
    const random = this.#random
    const site = this.#skewed(this.#hosts)
    const via = flat(this.#url(site)) as CanonicalUrl
    const depth = 1 + random.below(8)
    return Array.from({ length: 1 + this.#skewed(30) }, () => {
      const target = random.fraction() < FOREIGN_SHARE ? this.#skewed(this.#hosts) : site
      return {
        url: flat(this.#url(target)) as CanonicalUrl,
        host: flat(this.#hostOf(target)) as HostKey,
        via,
        depth,
        hops: 0,
        band: Math.min(BANDS - 1, depth),
        isSeed: false,
        tries: 0,
        pauses: 0,
      }
    })
  }

  /** From 0 to count - 1, the n-th about 1/n as often as the first. */
  #skewed(count: number): number {
    return Math.floor(count ** this.#random.fraction()) - 1
  }

  #word(): string {
    return this.#words[this.#skewed(WORDS)] as string
  }

  #slug(least: number, more: number, joint: string): string {
    return Array.from({ length: least + this.#random.below(more) }, () => this.#word()).join(joint)
  }

  #digits(count: number): string {
    return String(this.#random.below(10 ** count)).padStart(count, '0')
  }

  #hostOf(host: number): string {
    const name = `${this.#words[mixed(host, 1) % WORDS]}-${this.#words[mixed(host, 2) % WORDS]}-${host.toString(36)}`
    return `${host % 3 === 0 ? '' : 'www.'}${name}.${TOP_LEVELS[host % 5]}`
  }

  #url(host: number): string {
    const random = this.#random
    const kind = mixed(host, 3) % 6
    const section = this.#words[mixed(host, 4 + random.below(1 + (mixed(host, 0) % 20))) % WORDS] as string
    // No URL twice: a number that only this one has.
    const number = this.#made++
    return `https://${this.#hostOf(host)}/${this.#path(random.fraction() < 0.85 ? kind : random.below(6), section, number)}`
  }

  #path(kind: number, section: string, number: number): string {
    const random = this.#random
    const month = `20${10 + random.below(16)}/${String(1 + random.below(12)).padStart(2, '0')}`
    switch (kind) {
      case 0:
        return `${section}/${month}/${this.#digits(2)}/${this.#slug(4, 5, '-')}-${number}.html`
      case 1:
        return `shop/${section}/${this.#word()}/${this.#slug(3, 4, '-')}-p-${number}?colour=${this.#word()}&size=${random.below(48)}`
      case 2:
        return `forum/${section}/viewtopic.php?f=${random.below(90)}&t=${number}&start=${20 * random.below(40)}&sid=${this.#digits(8)}`
      case 3:
        return `wiki/${this.#slug(3, 4, '_')}_(${this.#word()})?action=history&oldid=${number}`
      case 4:
        return `docs/v${random.below(5)}.${random.below(9)}/${section}/${this.#word()}/${this.#slug(2, 3, '-')}/${number}.html`
      default:
        return `wp-content/uploads/${month}/${section}-${random.next32().toString(16)}${number}-1280x720.jpg`
    }
  }
}
