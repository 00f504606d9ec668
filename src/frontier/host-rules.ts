// Manners of their own for hosts one knows: `frontier.rules` in the configuration, first match wins.
//
//    { hosts: ['archive.example', '*.archive.example'], delay: '10s' }
//    { hosts: '*.shop.example', hours: '22:00-06:00', zone: 'Europe/Berlin' }
//    { hosts: '*', latencyFactor: 10 }
//
// What a rule does not say is as for every host. A pattern is a host, `*.` and a name for all hosts below it, or `*`. A lookup
// costs one probe of a table per label of the host; where there are no rules nobody looks.

import type { HostKey } from '../url/index.ts'
import type { HostRuleSpec } from './host-rules-schema.ts'
import { Hours } from './hours.ts'

export interface HostRule {
  readonly delay: number | undefined
  readonly latencyFactor: number | undefined
  readonly crawlDelayMax: number | undefined
  /** When it may be asked; null: always. */
  readonly hours: Hours | null
  /** What it is called in explanations: the pattern that was met first in it. */
  readonly name: string
}

interface Placed {
  readonly place: number
  readonly rule: HostRule
}

export class HostRules {
  readonly #exact = new Map<string, Placed>()
  /** By the name after `*.`. */
  readonly #below = new Map<string, Placed>()
  readonly #any: Placed | null
  /** A turn asks for the rule of its host several times. */
  #lastHost: HostKey | null = null
  #lastRule: HostRule | null = null

  /** Null where there are no rules. */
  static of(specs: readonly HostRuleSpec[]): HostRules | null {
    return specs.length === 0 ? null : new HostRules(specs)
  }

  private constructor(specs: readonly HostRuleSpec[]) {
    let any: Placed | null = null
    for (const [place, { hosts, delay, latencyFactor, crawlDelayMax, hours, days, zone }] of specs.entries()) {
      const own = hours === undefined ? null : new Hours(hours, days, zone)
      const placed: Placed = {
        place,
        rule: { delay, latencyFactor, crawlDelayMax, hours: own, name: hosts.join(', ') },
      }
      for (const host of hosts) {
        if (host === '*') any ??= placed
        else if (host.startsWith('*.')) putFirst(this.#below, host.slice(2), placed)
        else putFirst(this.#exact, host, placed)
      }
    }
    this.#any = any
  }

  /** The first rule that speaks of a host. */
  ruleOf(host: HostKey): HostRule | null {
    if (host !== this.#lastHost) {
      this.#lastRule = this.#find(host)
      this.#lastHost = host
    }
    return this.#lastRule
  }

  #find(host: HostKey): HostRule | null {
    let best = this.#exact.get(host) ?? null
    if (this.#below.size > 0) {
      for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
        const found = this.#below.get(host.slice(dot + 1))
        if (found !== undefined && (best === null || found.place < best.place)) best = found
      }
    }
    if (this.#any !== null && (best === null || this.#any.place < best.place)) best = this.#any
    return best === null ? null : best.rule
  }
}

function putFirst(table: Map<string, Placed>, name: string, placed: Placed): void {
  if (!table.has(name)) table.set(name, placed)
}
