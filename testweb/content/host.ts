// The hosts of a web: their names, addresses, domains and homes. A host is made when first asked for.

import type { WebOptions } from '../options.ts'
import { robotsShares } from '../options.ts'
import { mix, mixText } from './mix.ts'
import { chooseRobots, planRobots, type RobotsPlan } from './robots-plan.ts'

export interface Host {
  /** 0 … hosts − 1; −1 for a name of the DNS server's cabinet of oddities. */
  readonly index: number
  /** The host key: a name or an address, without port. */
  readonly name: string
  readonly ip: string
  /** Registrable domain, or the address itself. */
  readonly domain: string
  readonly scheme: 'http' | 'https'
  /** `host[:port]` as written in URLs. */
  readonly authority: string
  /** `scheme://host[:port]`. */
  readonly origin: string
  /** Root of every choice about this host. */
  readonly hash: number
  /** Numbered pages. */
  readonly pages: number
  readonly robots: RobotsPlan
  /** The host whose endless subdomains this is one of (traps); null for all others. */
  readonly subdomainOf: number | null
}

export interface Ports {
  readonly http: number
  /** Null when the web has no https face. */
  readonly https: number | null
}

/** Names under this domain are answered oddly by the DNS server; over HTTP each is a host of one page. */
export const ODD_DOMAIN = 'odd.test'
export const ODD_ADDRESS = '127.127.0.1'
/** For odd names with several addresses, or with another one each time. */
export const ODD_ADDRESSES = [ODD_ADDRESS, '127.127.0.2', '127.127.0.3', '127.127.0.4'] as const

/** A subdomain without end of the host, the first of them. */
export function subdomainOf(index: number): string {
  return `s0.many${index}.test`
}

const FOUND_MAX = 100_000

export class HostTable {
  readonly ports: Ports
  readonly #options: WebOptions
  readonly #seedHash: number
  readonly #hosts: (Host | undefined)[] = []
  /** By name, those that were asked for. A bound, because some names come from whoever asks. */
  readonly #found = new Map<string, Host>()
  /** Of the Zipf shares; 1 on equal webs. */
  readonly #harmonic: number
  /** Hosts from here on have names. */
  readonly #firstNamed: number

  constructor(options: WebOptions, ports: Ports) {
    this.#options = options
    this.ports = ports
    this.#seedHash = mixText(0, options.seed)
    let harmonic = 1
    if (options.hostSizes === 'skewed') {
      harmonic = 0
      for (let i = 1; i <= options.hosts; i++) harmonic += 1 / i
    }
    this.#harmonic = harmonic
    this.#firstNamed = options.naming === 'names' ? 0 : options.naming === 'mixed' ? options.hosts >> 1 : options.hosts
  }

  get count(): number {
    return this.#options.hosts
  }

  at(index: number): Host {
    return (this.#hosts[index] ??= this.#make(index))
  }

  /** The host of a name or address (lower case, no port), or null if it is none of this web. */
  find(name: string): Host | null {
    const found = this.#found.get(name)
    if (found !== undefined) return found
    const index = this.#indexOf(name)
    const many = index === null && this.#options.traps ? this.#subdomain(name) : null
    if (index === null && many === null && !name.endsWith(`.${ODD_DOMAIN}`)) return null
    const host = index === null ? (many ?? this.#odd(name)) : this.at(index)
    if (this.#found.size < FOUND_MAX) this.#found.set(name, host)
    return host
  }

  /** Every address the server has to listen on. */
  addresses(): string[] {
    const addresses = new Set<string>()
    for (let i = 0; i < this.count; i++) addresses.add(this.#addressOf(i))
    for (const address of ODD_ADDRESSES) addresses.add(address)
    return [...addresses]
  }

  #make(index: number): Host {
    const options = this.#options
    const name = this.#nameOf(index)
    const pages =
      options.hostSizes === 'equal'
        ? options.pages
        : Math.max(1, Math.round((options.hosts * options.pages) / (this.#harmonic * (index + 1))))
    const isNamed = index >= this.#firstNamed
    return this.#build(index, name, {
      ip: this.#addressOf(index),
      domain: isNamed ? name.slice(name.indexOf('.') + 1) : name,
      pages,
      isHttps: options.https && index % 2 === 1,
    })
  }

  #subdomain(name: string): Host | null {
    const found = /^s[0-9a-z]{1,7}\.many(\d{1,7})\.test$/.exec(name)
    const index = Number(found?.[1] ?? -1)
    if (index < this.#firstNamed || index >= this.count) return null
    const facts = { ip: this.#addressOf(index), domain: `many${index}.test`, pages: 0, isHttps: false }
    return { ...this.#build(-1, name, facts), subdomainOf: index }
  }

  #odd(name: string): Host {
    return this.#build(-1, name, { ip: ODD_ADDRESS, domain: ODD_DOMAIN, pages: 1, isHttps: false })
  }

  #build(index: number, name: string, facts: { ip: string; domain: string; pages: number; isHttps: boolean }): Host {
    const port = facts.isHttps ? (this.ports.https ?? 443) : this.ports.http
    const isDefault = port === (facts.isHttps ? 443 : 80)
    const scheme = facts.isHttps ? 'https' : 'http'
    const authority = isDefault ? name : `${name}:${port}`
    const origin = `${scheme}://${authority}`
    const hash = mixText(this.#seedHash, name)
    const kind = index < 0 ? 'missing' : chooseRobots(robotsShares(this.#options), hash)
    const sitemapUrl = this.#options.faults === 'none' ? null : `${origin}/sitemap.xml`
    return {
      index,
      name,
      ip: facts.ip,
      domain: facts.domain,
      scheme,
      authority,
      origin,
      hash: mix(hash, 0),
      pages: facts.pages,
      robots: planRobots(kind, this.#options.crawlDelayS, sitemapUrl),
      subdomainOf: null,
    }
  }

  #nameOf(index: number): string {
    if (index < this.#firstNamed) return this.#addressOf(index)
    return `h${index}.site${Math.floor((index - this.#firstNamed) / this.#options.hostsPerDomain)}.test`
  }

  #addressOf(index: number): string {
    if (index < this.#firstNamed) return loopback(1, index)
    return loopback(64, Math.floor((index - this.#firstNamed) / this.#options.hostsPerAddress))
  }

  #indexOf(name: string): number | null {
    let index: number
    const octets = /^127\.(\d+)\.(\d+)\.(\d+)$/.exec(name)
    if (octets !== null) index = (Number(octets[1]) - 1) * 65_536 + Number(octets[2]) * 256 + Number(octets[3]) - 1
    else index = Number(/^h(\d+)\.site\d+\.test$/.exec(name)?.[1] ?? -1)
    return index >= 0 && index < this.count && this.#nameOf(index) === name ? index : null
  }
}

/** The n-th address from 127.block.0.1 on. */
function loopback(block: number, n: number): string {
  const low = n + 1
  return `127.${block + Math.floor(low / 65_536)}.${(low >> 8) & 255}.${low & 255}`
}
