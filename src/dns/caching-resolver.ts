// host → addresses, remembered.
//
//   resolve ─ IP literal, localhost ─▶ at once
//           ─ in the cache ──────────▶ the same promise again
//           ─ being asked for ───────▶ the promise of the first asker
//           ─ else ─▶ waits for one of queriesMax places ─▶ A and AAAA at once ─▶ cache
//
// Always true: a host is asked for by at most one query of each kind at a time; at most queriesMax
// hosts are asked for at once; the cache holds at most cacheMax hosts, and a host no longer than its
// time. What the servers say is bounded: number of addresses and times to live.
// A cached answer costs one map look-up and no new object (bench/dns.ts).

import { readFileSync } from 'node:fs'
import { Resolver as SystemResolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Clock, FailureCode } from '../base/index.ts'
import type { HostKey } from '../url/index.ts'
import { dnsFailureOf } from './dns-failure.ts'
import { parseHosts } from './hosts-file.ts'
import type { DnsOptions } from './options.ts'
import type { Address, Resolution, Resolver } from './resolver.ts'

/** How long an answer in hand waits for the other kind of address: as RFC 8305 does, with room for a slow link. */
const OTHER_KIND_WAIT_MS = 250

const LOOPBACK: readonly Address[] = [
  { ip: '127.0.0.1', family: 4 },
  { ip: '::1', family: 6 },
]

interface Remembered {
  readonly answer: Promise<Resolution>
  readonly untilMs: number
}

/** What came of asking for one kind of address. */
interface Half {
  readonly addresses: readonly Address[]
  /** Of the addresses; 0 when there are none. */
  readonly ttlMs: number
  readonly code: FailureCode | null
  readonly detail: string
}

export class CachingResolver implements Resolver {
  readonly #options: DnsOptions
  readonly #clock: Clock
  readonly #system: SystemResolver
  /** Names given by the machine itself; null when name servers are configured. */
  readonly #hostsFile: ReadonlyMap<string, Address[]> | null
  /** In the order of last use, oldest first. */
  readonly #cache = new Map<HostKey, Remembered>()
  readonly #asking = new Map<HostKey, Promise<Resolution>>()
  #queries = 0
  /** Those who wait for a place; as many as there are visitors with a host to resolve. */
  #waiting: (() => void)[] = []
  #isClosed = false

  /** `hostsText` stands for /etc/hosts in tests. */
  constructor(options: DnsOptions, clock: Clock, hostsText?: string) {
    this.#options = options
    this.#clock = clock
    this.#system = new SystemResolver({ timeout: options.timeout, tries: options.tries })
    if (options.servers.length > 0) this.#system.setServers(options.servers)
    this.#hostsFile = options.servers.length > 0 ? null : parseHosts(hostsText ?? readHostsFile())
  }

  resolve(host: HostKey): Promise<Resolution> {
    const remembered = this.#cache.get(host)
    if (remembered !== undefined) {
      this.#cache.delete(host)
      if (remembered.untilMs > this.#clock.nowMs()) {
        this.#cache.set(host, remembered)
        return remembered.answer
      }
    }
    const asked = this.#asking.get(host)
    if (asked !== undefined) return asked
    const known = this.#withoutAsking(host)
    if (known !== null) return Promise.resolve(known)
    const answer = this.#ask(host)
    this.#asking.set(host, answer)
    return answer
  }

  close(): void {
    this.#isClosed = true
    this.#system.cancel()
    this.#cache.clear()
    for (const start of this.#waiting.splice(0)) start()
  }

  /** Hosts remembered and hosts being asked for, for the figures. */
  get figures(): { readonly cached: number; readonly asking: number } {
    return { cached: this.#cache.size, asking: this.#asking.size }
  }

  #withoutAsking(host: HostKey): Resolution | null {
    const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
    const family = isIP(bare)
    if (family === 4 || family === 6) return { kind: 'resolved', addresses: [{ ip: bare, family }] }
    const name = host.endsWith('.') ? host.slice(0, -1) : host
    const given = this.#hostsFile?.get(name)
    if (given !== undefined) return this.#resolved(given)
    // RFC 6761: localhost is never asked for. RFC 7686: nor is .onion, which would tell others of it.
    if (name === 'localhost' || name.endsWith('.localhost')) return this.#resolved(LOOPBACK)
    if (name === 'onion' || name.endsWith('.onion')) {
      return { kind: 'failed', code: 'DNS_NO_NAME', detail: '.onion names are not in the DNS' }
    }
    return null
  }

  async #ask(host: HostKey): Promise<Resolution> {
    if (this.#queries >= this.#options.queriesMax) await new Promise<void>((start) => this.#waiting.push(start))
    else this.#queries++
    let found: { resolution: Resolution; ttlMs: number }
    if (this.#isClosed) found = { resolution: closed(), ttlMs: 0 }
    else found = await this.#query(host)
    // A place passes from hand to hand; only without a taker does it become free.
    const next = this.#waiting.shift()
    if (next === undefined) this.#queries--
    else next()
    this.#asking.delete(host)
    if (!this.#isClosed) this.#remember(host, found.resolution, found.ttlMs)
    return found.resolution
  }

  #remember(host: HostKey, resolution: Resolution, ttlMs: number): void {
    if (this.#cache.size >= this.#options.cacheMax) {
      const oldest = this.#cache.keys().next()
      if (oldest.done !== true) this.#cache.delete(oldest.value)
    }
    this.#cache.set(host, { answer: Promise.resolve(resolution), untilMs: this.#clock.nowMs() + ttlMs })
  }

  async #query(host: HostKey): Promise<{ resolution: Resolution; ttlMs: number }> {
    const family = this.#options.prefer === '4' ? 4 : 6
    const preferredAsked = this.#askKind(host, family)
    if (this.#options.ask === 'preferred') return this.#judge(await preferredAsked, null)
    const otherAsked = this.#askKind(host, family === 4 ? 6 : 4)
    const preferred = await preferredAsked
    // With the better half in hand the other may be late: servers that never answer for AAAA are many.
    const other = await (preferred.addresses.length > 0 ? this.#within(otherAsked, OTHER_KIND_WAIT_MS) : otherAsked)
    return this.#judge(preferred, other)
  }

  async #askKind(host: HostKey, family: 4 | 6): Promise<Half> {
    try {
      const records = await (family === 4
        ? this.#system.resolve4(host, { ttl: true })
        : this.#system.resolve6(host, { ttl: true }))
      const kept = records.slice(0, this.#options.addressesMax)
      if (kept.length === 0)
        return { addresses: [], ttlMs: 0, code: 'DNS_NO_ADDRESS', detail: `no address for ${host}` }
      return {
        addresses: kept.map((record) => ({ ip: record.address, family })),
        ttlMs: Math.min(...kept.map((record) => record.ttl)) * 1_000,
        code: null,
        detail: '',
      }
    } catch (error) {
      const detail = `${family === 4 ? 'A' : 'AAAA'} ${host}: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`
      return { addresses: [], ttlMs: 0, code: dnsFailureOf(error), detail }
    }
  }

  #within(half: Promise<Half>, waitMs: number): Promise<Half | null> {
    return new Promise((resolve) => {
      const cancel = this.#clock.callAt((this.#clock.nowMs() + waitMs) as ReturnType<Clock['nowMs']>, () =>
        resolve(null),
      )
      void half.then((answer) => {
        cancel()
        resolve(answer)
      })
    })
  }

  #judge(preferred: Half, other: Half | null): { resolution: Resolution; ttlMs: number } {
    const addresses = other === null ? preferred.addresses : [...preferred.addresses, ...other.addresses]
    if (addresses.length > 0) {
      const halves = [preferred, other].filter((half) => half !== null && half.addresses.length > 0) as Half[]
      const ttlMs = Math.min(...halves.map((half) => half.ttlMs))
      return {
        resolution: { kind: 'resolved', addresses },
        ttlMs: Math.max(this.#options.ttlMin, Math.min(this.#options.ttlMax, ttlMs)),
      }
    }
    const worst = other !== null && weightOf(other.code) > weightOf(preferred.code) ? other : preferred
    const code = worst.code ?? 'DNS_NO_ADDRESS'
    return {
      resolution: { kind: 'failed', code, detail: worst.detail },
      ttlMs: code === 'DNS_NO_NAME' || code === 'DNS_NO_ADDRESS' ? this.#options.noNameTtl : this.#options.failureTtl,
    }
  }

  #resolved(addresses: readonly Address[]): Resolution {
    const family = this.#options.prefer === '4' ? 4 : 6
    const preferred = addresses.filter((address) => address.family === family)
    const others = addresses.filter((address) => address.family !== family)
    return { kind: 'resolved', addresses: [...preferred, ...others] }
  }
}

/**
 * Which failure speaks for both halves. A name that does not exist does so for all kinds; but "no
 * address of this kind" is no answer while the other kind may exist: then the passing failure counts.
 */
function weightOf(code: FailureCode | null): number {
  if (code === 'DNS_NO_NAME') return 3
  if (code === 'DNS_SERVER_FAILED') return 2
  return code === 'DNS_TIMEOUT' ? 1 : 0
}

function closed(): Resolution {
  return { kind: 'failed', code: 'DNS_SERVER_FAILED', detail: 'the resolver is closed' }
}

function readHostsFile(): string {
  try {
    return readFileSync('/etc/hosts', 'utf8')
  } catch {
    // A machine without the file, or one that hides it, has no names of its own.
    return ''
  }
}
