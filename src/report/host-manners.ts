// How a host is treated, and why: every rest that a crawl knows of it, and the longest one, which holds.
//
//    configured 1s · Crawl-delay 5s · answers of 2.1 s × 5 · taught by 3 × 429/503      what is between two requests
//    asked for with Retry-After: 120                                                    a pause, until when
//    22:00–06:00 Europe/Berlin                                                          hours, and when they begin
//
// Gathered from files, by whoever explains; no server is asked, and no lock is taken.

import { createReadStream, existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { MannersNote } from '../agent/index.ts'
import { formatDuration } from '../base/index.ts'
import { type FrontierOptions, HostRules } from '../frontier/index.ts'
import type { SavedRobotsEntry } from '../robots/index.ts'
import { readJsonLines } from '../store/index.ts'
import { type CanonicalUrl, type HostKey, hostKeyOf } from '../url/index.ts'
import { sharesOf } from '../view/index.ts'

export interface HostFacts {
  readonly host: HostKey
  /** The options in force; null when nobody can tell. */
  readonly options: FrontierOptions | null
  /** A longer Crawl-delay counts as this. */
  readonly crawlDelayMaxMs: number
  /** The longest that its robots.txt asks for; null when it asks for none. */
  readonly crawlDelayMs: number | null
  /** What the last page of the host took; null when there is none. */
  readonly lastAnswerMs: number | null
  /** The last that it asked for or taught. */
  readonly note: MannersNote | null
}

export interface HostManners {
  /** At least so long between two requests, as things are. */
  readonly restMs: number
  /** What that is made of, longest first, in words. */
  readonly because: readonly string[]
  /** How many refusals have taught it to be asked slower than configured; 0 when none, or forgiven. */
  readonly learntFrom: number
  /** A pause it asked for that is not over. */
  readonly pause: { readonly until: string; readonly why: string } | null
  readonly hours: { readonly text: string; readonly opensAt: string | null } | null
  /** Hosts of its domain rest together; 0 when they do not. */
  readonly domainRestMs: number
}

export function mannersOf(facts: HostFacts, wallMs: number): HostManners {
  const { host, options, note } = facts
  const rule = options === null ? null : (HostRules.of(options.rules)?.ruleOf(host) ?? null)
  const rests: { readonly ms: number; readonly text: string }[] = []
  const delayMs = rule?.delay ?? options?.delay ?? 0
  if (options !== null) {
    const whose = rule?.delay === undefined ? 'configured' : `by the rule for ${rule.name}`
    rests.push({ ms: delayMs, text: `${formatDuration(delayMs)} ${whose}` })
  }
  if (facts.crawlDelayMs !== null) {
    const mostMs = rule?.crawlDelayMax ?? facts.crawlDelayMaxMs
    const ms = Math.min(facts.crawlDelayMs, mostMs)
    const cut = ms < facts.crawlDelayMs ? `, of which ${formatDuration(ms)} count` : ''
    rests.push({ ms, text: `its Crawl-delay of ${formatDuration(facts.crawlDelayMs)}${cut}` })
  }
  const factor = rule?.latencyFactor ?? options?.latencyFactor ?? 0
  if (facts.lastAnswerMs !== null && delayMs > 0 && factor > 0 && options !== null) {
    const ms = Math.min(Math.round(facts.lastAnswerMs) * factor, options.restMax)
    rests.push({ ms, text: `${factor} × the ${formatDuration(Math.round(facts.lastAnswerMs))} its last page took` })
  }
  const learnt = note?.learnt ?? null
  if (learnt !== null && delayMs > 0) {
    const ms = Math.round(learnt.restMs)
    rests.push({ ms, text: `${formatDuration(ms)} learnt from ${learnt.refusals} × 429 or 503` })
  }
  const longest = rests.toSorted((a, b) => b.ms - a.ms)
  const opensMs = rule?.hours?.opensAtMs(wallMs) ?? wallMs
  const isPaused = note !== null && note.untilWallMs > wallMs
  return {
    restMs: longest[0]?.ms ?? 0,
    because: longest.map(({ text }) => text),
    learntFrom: learnt?.refusals ?? 0,
    pause: isPaused ? { until: new Date(note.untilWallMs).toISOString(), why: note.why } : null,
    hours:
      rule?.hours == null
        ? null
        : { text: String(rule.hours), opensAt: opensMs > wallMs ? new Date(opensMs).toISOString() : null },
    domainRestMs: options?.domainDelay ?? 0,
  }
}

/** What the files of a crawl say of a host, its pages left out: its robots.txt, and how it is treated. */
export async function readHostManners(
  dir: string,
  host: HostKey,
  { frontier, crawlDelayMaxMs, wallMs }: HostMannersQuestion,
): Promise<{ readonly manners: HostManners; readonly robots: SavedRobotsEntry | null }> {
  let note: MannersNote | null = null
  let robots: SavedRobotsEntry | null = null
  const delays = new Map<string, number | null>()
  for (const share of await sharesOf(dir)) {
    for await (const one of linesNaming<MannersNote>(join(share, 'state/manners.jsonl'), host)) {
      if (one.host === host) note = one
    }
    for await (const one of linesNaming<SavedRobotsEntry>(join(share, 'state/robots.jsonl'), host)) {
      if (hostKeyOf(`${one.origin}/` as CanonicalUrl) !== host) continue
      delays.set(one.origin, one.rules.crawlDelayMs)
      if (one.fetchedWallMs >= (robots?.fetchedWallMs ?? 0)) robots = one
    }
  }
  const asked = [...delays.values()].filter((ms) => ms !== null)
  const crawlDelayMs = asked.length === 0 ? null : Math.max(...asked)
  const facts = { host, options: frontier, crawlDelayMaxMs, crawlDelayMs, lastAnswerMs: null, note }
  return { manners: mannersOf(facts, wallMs), robots }
}

export interface HostMannersQuestion {
  readonly frontier: FrontierOptions | null
  readonly crawlDelayMaxMs: number
  /** The date now. */
  readonly wallMs: number
}

/** Only lines with the name in them are read as JSON: there may be a line for every host of the crawl. */
async function* linesNaming<T>(path: string, name: string): AsyncGenerator<T> {
  if (!existsSync(path)) return
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    if (!line.includes(name)) continue
    try {
      yield JSON.parse(line) as T
    } catch {
      // The last line of a crawl that runs may be half written.
    }
  }
}

/** How many hosts are left alone because they asked for it, and how many have taught us to ask slower; in all shares of a crawl. */
export async function countManners(
  shares: readonly string[],
  wallMs: number,
): Promise<{ readonly paused: number; readonly learnt: number }> {
  const paused = new Set<HostKey>()
  const learnt = new Set<HostKey>()
  for (const share of shares) {
    const path = join(share, 'state/manners.jsonl')
    if (!existsSync(path)) continue
    // The last line of a host holds.
    for await (const note of readJsonLines<MannersNote>(path)) {
      if (note.untilWallMs > wallMs) paused.add(note.host)
      else paused.delete(note.host)
      if (note.learnt === null) learnt.delete(note.host)
      else learnt.add(note.host)
    }
  }
  return { paused: paused.size, learnt: learnt.size }
}
