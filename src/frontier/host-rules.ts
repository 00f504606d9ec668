// Manners of their own for hosts one knows: `frontier.rules` in the configuration, first match wins.
//
//    { hosts: ['archive.example', '*.archive.example'], delay: '10s' }
//    { hosts: '*.shop.example', hours: '22:00-06:00', zone: 'Europe/Berlin' }
//    { hosts: '*', latencyFactor: 10 }
//
// What a rule does not say is as for every host. A pattern is a host, `*.` and a name for all hosts below it, or `*`. A lookup
// costs one probe of a table per label of the host; where there are no rules nobody looks.

import { z } from 'zod'
import { parseDuration } from '../base/index.ts'
import { canonicalise, type HostKey, hostKeyOf } from '../url/index.ts'
import { daysSchema, Hours, hoursSchema, zoneSchema } from './hours.ts'

/** A rest longer than this is a host left out. */
const DELAY_MS_MAX = 30 * 86_400_000

const restSchema = z.string().transform((text, context) => {
  const ms = parseDuration(text)
  if (ms !== null && ms <= DELAY_MS_MAX) return ms
  context.addIssue({ code: 'custom', message: `'${text}' is not a duration up to 30d; write it with a unit, like 10s` })
  return z.NEVER
})

/** `*`, or the host as the frontier knows it, after `*.` or alone. */
const patternSchema = z.string().transform((text, context) => {
  if (text === '*') return text
  const start = text.startsWith('*.') ? '*.' : ''
  const name = text.slice(start.length)
  const url = /[/@?#*\s]/.test(name) || /:\d*$/.test(name) ? null : canonicalise(`http://${name}/`)
  if (typeof url === 'string') return `${start}${hostKeyOf(url)}`
  context.addIssue({
    code: 'custom',
    message: `'${text}' is not a host; write it like example.org, *.example.org or *, without scheme and port`,
  })
  return z.NEVER
})

const ruleSchema = z
  .strictObject({
    hosts: z.union([patternSchema.transform((one) => [one]), z.array(patternSchema).min(1)]),
    delay: restSchema.optional(),
    latencyFactor: z.number().min(0).optional(),
    crawlDelayMax: restSchema.optional(),
    hours: hoursSchema.optional(),
    days: daysSchema.optional(),
    zone: zoneSchema.optional(),
  })
  .refine((rule) => rule.hours !== undefined || (rule.days === undefined && rule.zone === undefined), {
    message: 'days and zone say when hours are; there are no hours',
  })

export const rulesSchema = z.array(ruleSchema)

/** A rule as it is said, checked: plain data. */
export type HostRuleSpec = z.output<typeof ruleSchema>

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
