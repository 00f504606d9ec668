// A web is a value: these options and two ports determine every byte of it.

import { Fault } from '../src/base/index.ts'
import { presetShares, type Faults, type Variant } from './content/variant.ts'
import { presetRobots, type RobotsKind } from './content/robots-plan.ts'

export interface WebOptions {
  /** Another seed is another web. */
  readonly seed: string
  readonly hosts: number
  /** Numbered pages per host; on 'skewed' webs the mean. Robots files, sitemaps, mirrors and the like come on top. */
  readonly pages: number
  /** 'skewed' shares hosts × pages out by Zipf's law: host 0 is a giant, most are small. */
  readonly hostSizes: 'equal' | 'skewed'
  /** 127.1.0.1, 127.1.0.2 …, or h0.site0.test …, or first the one half and then the other. */
  readonly naming: 'addresses' | 'names' | 'mixed'
  /** How many named hosts share one IP address. */
  readonly hostsPerAddress: number
  /** How many named hosts share one registrable domain. */
  readonly hostsPerDomain: number
  /** Odd hosts are at home on https (and redirect there from http). */
  readonly https: boolean
  /** Mean size of an HTML page; sizes run from a sixth of it to two and a half times. */
  readonly meanBytes: number
  readonly linksPerPage: number
  /** Page n links to pages n·b+1 … n·b+b, so the web of a host is a tree of that width under its other links. 1 is a chain. */
  readonly branching: number
  /** Share of links that lead to another host. */
  readonly crossHostShare: number
  readonly faults: Faults
  /** Shares of the variants among the numbered pages, replacing those of `faults` one by one. */
  readonly variants: Partial<Record<Variant, number>>
  /** Shares of the kinds of robots.txt among the hosts, replacing those of `faults` altogether. */
  readonly robots: Partial<Record<RobotsKind, number>> | null
  /** Calendars, paths, session ids, soft 404s, floods, facets and subdomains without end, linked from every root (content/traps.ts). */
  readonly traps: boolean
  /** Roots link to `/_/<variant>` for every variant, and to the ends of redirect chains. */
  readonly exhibits: boolean
  /** Share of hosts of whose pages every second misbehaves, each in another way (content/misdeeds.ts). */
  readonly misbehaving: number
  /** How often a throttled URL is refused before it is answered. */
  readonly throttleTimes: number
  readonly retryAfterS: number
  readonly slowMs: number
  readonly crawlDelayS: number
  /** Changing pages change every 1, 4 or 16 of these. */
  readonly changePeriodMs: number
  /** Every answer begins this much after its request, so that overlapping requests show in the log. */
  readonly latencyMs: number
  readonly dnsTtlS: number
}

const DEFAULTS: WebOptions = {
  seed: 'portolan',
  hosts: 8,
  pages: 100,
  hostSizes: 'equal',
  naming: 'addresses',
  hostsPerAddress: 1,
  hostsPerDomain: 4,
  https: false,
  // The mean of an HTML page, and its links, as Mercator and its heirs report them.
  meanBytes: 14_000,
  linksPerPage: 35,
  branching: 8,
  crossHostShare: 0.15,
  faults: 'none',
  variants: {},
  robots: null,
  traps: false,
  exhibits: false,
  misbehaving: 0,
  throttleTimes: 1,
  retryAfterS: 1,
  slowMs: 300,
  crawlDelayS: 1,
  changePeriodMs: 60_000,
  latencyMs: 0,
  dnsTtlS: 60,
}

/** Half of 127.0.0.0/8 less the first /16, so that address hosts and named hosts never meet. */
const HOSTS_MAX = 60 * 65_536

/** Fills in the defaults and refuses what cannot be a web, naming every problem at once. */
export function completeOptions(given: Partial<WebOptions> = {}): WebOptions {
  const options: WebOptions = { ...DEFAULTS, ...given }
  const problems: string[] = []
  const whole = (name: keyof WebOptions, min: number, max: number): void => {
    const value = options[name] as number
    if (!Number.isInteger(value) || value < min || value > max) {
      problems.push(`${name} must be a whole number from ${min} to ${max}, not ${value}`)
    }
  }
  whole('hosts', 1, HOSTS_MAX)
  whole('pages', 1, 100_000_000)
  whole('hostsPerAddress', 1, HOSTS_MAX)
  whole('hostsPerDomain', 1, HOSTS_MAX)
  whole('meanBytes', 0, 64_000_000)
  whole('linksPerPage', 0, 10_000)
  whole('branching', 1, 10_000)
  whole('throttleTimes', 0, 1_000)
  for (const name of ['retryAfterS', 'slowMs', 'crawlDelayS', 'latencyMs', 'dnsTtlS'] as const) {
    if (!(options[name] >= 0)) problems.push(`${name} must not be negative`)
  }
  if (!(options.changePeriodMs > 0)) problems.push('changePeriodMs must be above 0')
  if (!(options.crossHostShare >= 0 && options.crossHostShare <= 1)) problems.push('crossHostShare must be from 0 to 1')
  if (!(options.misbehaving >= 0 && options.misbehaving <= 1)) problems.push('misbehaving must be from 0 to 1')
  if (problems.length > 0) throw new Fault('CONFIG_INVALID', `test web: ${problems.join('; ')}`)
  return options
}

/** The shares in force: the preset's, with single ones replaced. */
export function variantShares(options: WebOptions): Partial<Record<Variant, number>> {
  return { ...presetShares(options.faults), ...options.variants }
}

export function robotsShares(options: WebOptions): Partial<Record<RobotsKind, number>> {
  return options.robots ?? presetRobots(options.faults)
}
