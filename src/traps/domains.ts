// Registrable domains: budgets of hosts and pages, and subdomains without end that all begin with the same page.
//
// With several agents each counts its own hosts, and has its share of the budgets: what all have together is what was said.

import type { Sketch } from '../parse/index.ts'
import { type HostKey, registrableDomain } from '../url/index.ts'
import { isNear } from './near.ts'
import type { TrapsOptions } from './options.ts'
import { Recent } from './recent.ts'

interface Domain {
  hosts: number
  pages: number
  /** Hosts whose first page is known, and those of them that began with a near-duplicate of another's. */
  begun: number
  echoes: number
  isEndless: boolean
  /** First pages of the last hosts: high, low and face of each. */
  readonly sketches: number[]
  next: number
}

const SKETCHES_MAX = 16
/** Numbers of each. */
const STRIDE = 3

export type SavedDomain = readonly [
  domain: string,
  hosts: number,
  pages: number,
  begun: number,
  echoes: number,
  isEndless: boolean,
  sketches: readonly number[],
]

export interface RefusedHost {
  readonly reason: 'domain-budget' | 'subdomains'
  readonly detail: string
}

/** What a page led to. */
interface HostLink {
  readonly host: HostKey
}

export interface DomainBudgets {
  readonly hosts: number | null
  readonly pages: number | null
}

export class Domains {
  readonly #options: TrapsOptions
  readonly #budgets: DomainBudgets
  readonly #domains: Recent<string, Domain>

  constructor(options: TrapsOptions, budgets: DomainBudgets) {
    this.#options = options
    this.#budgets = budgets
    this.#domains = new Recent(options.hostsKept)
  }

  /** Why a host that nobody has asked anything is not asked now, or null: then it counts. */
  judgeHost(host: HostKey, isSeed: boolean): RefusedHost | null {
    const name = registrableDomain(host)
    const domain = this.#of(name)
    const { hosts } = this.#budgets
    if (!isSeed) {
      const endless = this.judgeEndless(host)
      if (endless !== null) return endless
      if (hosts !== null && domain.hosts >= hosts) {
        return { reason: 'domain-budget', detail: `${name} has its ${this.#options.domainHosts} hosts` }
      }
    }
    domain.hosts++
    return null
  }

  /** Why nothing is asked of a host that has no page yet, or null. */
  judgeEndless(host: HostKey): RefusedHost | null {
    const name = registrableDomain(host)
    const domain = this.#domains.peek(name)
    if (domain === undefined || !domain.isEndless) return null
    const many = `${Math.round(domain.echoes)} of ${Math.round(domain.begun)}`
    return { reason: 'subdomains', detail: `of the last hosts of ${name}, ${many} began with the same page` }
  }

  judgePage(host: HostKey): string | null {
    const { pages } = this.#budgets
    if (pages === null) return null
    const name = registrableDomain(host)
    return this.#of(name).pages < pages ? null : `${name} has its ${this.#options.domainPages} pages`
  }

  asked(host: HostKey): void {
    if (this.#budgets.pages !== null) this.#of(registrableDomain(host)).pages++
  }

  /** The first page of a host. Only one that leads to another new host of the domain can be part of what has no end. */
  learn(host: HostKey, sketch: Sketch, face: number, leads: readonly HostLink[], leadsAway: number): void {
    const { echoHosts, share, nearBits } = this.#options
    if (echoHosts === 0) return
    const name = registrableDomain(host)
    const domain = this.#of(name)
    if (domain.begun >= 2 * echoHosts) {
      domain.begun /= 2
      domain.echoes /= 2
    }
    domain.begun++
    const { sketches, next } = domain
    for (let at = 0; at < sketches.length; at += STRIDE) {
      const one = { high: sketches[at] as number, low: sketches[at + 1] as number }
      if (sketches[at + 2] !== face || !isNear(one, sketch, nearBits)) continue
      const feeds = (link: HostLink): boolean => link.host !== host && registrableDomain(link.host) === name
      if (leadsAway > 0 || leads.some(feeds)) domain.echoes++
      break
    }
    sketches[STRIDE * next] = sketch.high
    sketches[STRIDE * next + 1] = sketch.low
    sketches[STRIDE * next + 2] = face
    domain.next = (next + 1) % SKETCHES_MAX
    if (domain.begun >= echoHosts && domain.echoes >= share * domain.begun) domain.isEndless = true
  }

  #of(name: string): Domain {
    return (
      this.#domains.get(name) ??
      this.#domains.set(name, { hosts: 0, pages: 0, begun: 0, echoes: 0, isEndless: false, sketches: [], next: 0 })
    )
  }

  save(): SavedDomain[] {
    return [...this.#domains].map(([name, { hosts, pages, begun, echoes, isEndless, sketches }]) => [
      name,
      hosts,
      pages,
      begun,
      echoes,
      isEndless,
      sketches,
    ])
  }

  restore([name, hosts, pages, begun, echoes, isEndless, sketches]: SavedDomain): void {
    const next = (sketches.length / STRIDE) % SKETCHES_MAX
    this.#domains.set(name, { hosts, pages, begun, echoes, isEndless, sketches: [...sketches], next })
  }
}
