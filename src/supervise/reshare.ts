// Another number of agents: everything the agents of a crawl know is shared anew among as many as are wanted now.
//
//   old shares, opened as ever ──▶ new shares beside them ──▶ the layout names those ──▶ the old ones are removed
//        read, not changed            thrown away by a crash      one rename: the flip       gone on with after a crash
//
//   by slot of the host   what waits, what is known of hosts, URLs met, pages, those returned to, URLs and hosts given up, robots.txt, URLs held back
//   by digest             first pages of contents
//   to all                seeds, options
//   to the first          the link log and the index of the archive; what was counted and cannot be told apart
//
// Links and contents that were on their way between the old agents arrive: they stand in the journals until whoever gets them
// holds them. What is moved passes through memory in pieces; old and new shares each have half of --memory.

import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type CrawlPlan,
  type CrawlSettings,
  joinOptions,
  leastMemory,
  NewShare,
  NewShareFiles,
  OldShare,
  remainingTotals,
  sumTotals,
} from '../agent/index.ts'
import { type Clock, Random } from '../base/index.ts'
import { Owners } from '../exchange/index.ts'
import { SharedIpGate } from '../frontier/index.ts'
import type { CrawlIdentity } from '../ledger/index.ts'
import { type CanonicalUrl, type Fingerprinter, type HostKey, slotOf } from '../url/index.ts'
import { writeLayout } from '../view/index.ts'
import { ipGateSettings } from './ip-gate-settings.ts'
import { beginResharing, endResharing, type Resharing } from './resharing-record.ts'

export const RESHARE_STEPS = ['begun', 'opened', 'filed', 'met', 'waiting', 'arrived', 'made', 'flipped'] as const
export type ReshareStep = (typeof RESHARE_STEPS)[number]

export interface ResharePlan extends Resharing {
  readonly dir: string
  readonly settings: CrawlSettings
  readonly clock: Clock
  /** For an agent that had not even begun. */
  readonly identity: CrawlIdentity
  readonly software: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** How many URLs are shared anew, told before it is done. */
  readonly onBegin: (urls: number) => void
  /** Told after each step. */
  readonly onStep?: (step: ReshareStep) => void | Promise<void>
}

/** Returns what the crawl is called and keyed by, as ever. A fault before the layout names the new shares leaves the old ones as they were. */
export async function reshare(plan: ResharePlan): Promise<CrawlIdentity> {
  const { dir, from, to, onBegin } = plan
  const step = plan.onStep ?? (() => {})
  await beginResharing(dir, plan)
  await step('begun')
  const old: OldShare[] = []
  const made: NewShare[] = []
  let identity: CrawlIdentity
  try {
    const count = from?.length ?? 1
    for (let agent = 0; agent < count; agent++) old.push(await OldShare.open(planOf(plan, from, agent, plan.identity)))
    identity = (old[0] as OldShare).identity
    onBegin(sumTotals(old.map(({ totals }) => totals)).admitted)
    await step('opened')
    const routes = new Routes((old[0] as OldShare).fingerprinter, count, to.length)
    const plans = to.map((_, agent) => planOf(plan, to, agent, identity))
    await moveFiles(old, plans, routes)
    await step('filed')
    for (const one of plans) made.push(await NewShare.open(one))
    await moveSeen(old, made, routes)
    await step('met')
    await moveHosts(old, made, routes)
    await step('waiting')
    const arrived = await moveLinks(old, made, routes)
    await step('arrived')
    await commitAll(old, made, arrived)
  } finally {
    for (const share of [...made, ...old]) await share.close()
  }
  await step('made')
  await writeLayout(dir, to)
  await step('flipped')
  await endResharing(dir, to)
  return identity
}

/** Who owns what, by the old number of agents and by the new one. */
class Routes {
  readonly #fingerprinter: Fingerprinter
  readonly #old: Owners
  readonly #new: Owners

  constructor(fingerprinter: Fingerprinter, oldAgents: number, newAgents: number) {
    this.#fingerprinter = fingerprinter
    this.#old = new Owners(0, oldAgents)
    this.#new = new Owners(0, newAgents)
  }

  ofUrl(url: string): number {
    return this.#new.ofSlot(this.#slotOf(url))
  }

  formerlyOfUrl(url: string): number {
    return this.#old.ofSlot(this.#slotOf(url))
  }

  ofHost(host: HostKey | string): number {
    return this.ofUrl(`http://${host}/`)
  }

  ofSlot(slot: number): number {
    return this.#new.ofSlot(slot)
  }

  ofDigest(digest: string): number {
    return this.#new.ofDigest(Buffer.from(digest.slice(0, 4), 'hex'))
  }

  formerlyOfDigest(digest: string): number {
    return this.#old.ofDigest(Buffer.from(digest.slice(0, 4), 'hex'))
  }

  #slotOf(url: string): number {
    this.#fingerprinter.compute(url as CanonicalUrl)
    return slotOf(this.#fingerprinter.high)
  }
}

async function moveFiles(old: readonly OldShare[], plans: readonly CrawlPlan[], routes: Routes): Promise<void> {
  const files: NewShareFiles[] = []
  const of = (agent: number): NewShareFiles => files[agent] as NewShareFiles
  try {
    for (const plan of plans) files.push(await NewShareFiles.create(plan))
    const seeds = new Map(old.flatMap((share) => share.seeds.map((seed) => [seed.url, seed] as const)))
    for (const one of files) for (const seed of seeds.values()) await one.add('seeds', seed)
    for (const share of old) {
      for await (const record of share.pages()) await of(routes.ofUrl(record.url)).add('pages', record)
      for await (const note of share.returns()) await of(routes.ofUrl(note.url)).add('returns', note)
      for await (const record of share.failures()) await of(routes.ofUrl(record.url)).add('failures', record)
      for await (const entry of share.held()) await of(routes.ofUrl(entry.url)).add('held', entry)
      for await (const entry of share.robots()) await of(routes.ofUrl(`${entry.origin}/`)).add('robots', entry)
      for await (const note of share.givenUp()) {
        // Of an origin, or of a host.
        const owner = note.key.includes('://') ? routes.ofUrl(`${note.key}/`) : routes.ofHost(note.key)
        await of(owner).add('givenUp', note)
      }
      for await (const note of share.manners()) await of(routes.ofHost(note.host)).add('manners', note)
      for await (const note of share.originals()) await of(routes.ofDigest(note.digest)).add('originals', note)
    }
    for (const [sender, share] of old.entries()) {
      for await (const { number, batch } of share.unconfirmed()) {
        for (const note of batch.originals) {
          if (holds(old, routes.formerlyOfDigest(note.digest), sender, number)) continue
          await of(routes.ofDigest(note.digest)).add('originals', note)
        }
      }
    }
    await files[0]?.addHistory(old)
    const options = joinOptions(old.flatMap((share) => share.options ?? []))
    for (const one of files) await one.commit(options)
  } finally {
    for (const one of files) await one.close()
  }
}

async function moveSeen(old: readonly OldShare[], made: readonly NewShare[], routes: Routes): Promise<void> {
  for (const share of old) {
    const steps = share.seen((high, low, meetings) => made[routes.ofSlot(slotOf(high))]?.met(high, low, meetings))
    for (const _ of steps) await nextTurn()
  }
}

async function moveHosts(old: readonly OldShare[], made: readonly NewShare[], routes: Routes): Promise<void> {
  for (const share of old) for await (const host of share.hosts()) await made[routes.ofHost(host.host)]?.takeOver(host)
}

/** Links that the old agents had found for each other and not handed over; how many are new. */
async function moveLinks(old: readonly OldShare[], made: readonly NewShare[], routes: Routes): Promise<number> {
  let arrived = 0
  for (const [sender, share] of old.entries()) {
    for await (const { number, batch } of share.unconfirmed()) {
      for (const entry of batch.abroad) {
        // A seed was sent to everybody: whoever was to have it as a URL has met it, or not.
        if (!entry.isSeed && holds(old, routes.formerlyOfUrl(entry.url), sender, number)) continue
        if (await made[routes.ofUrl(entry.url)]?.arrive(entry)) arrived++
      }
    }
  }
  return arrived
}

/** Whether a share holds what another had for it in a batch. */
function holds(old: readonly OldShare[], receiver: number, sender: number, number: number): boolean {
  return number <= (old[receiver]?.holds[sender] ?? 0)
}

async function commitAll(old: readonly OldShare[], made: readonly NewShare[], arrived: number): Promise<void> {
  const sum = sumTotals(old.map(({ totals }) => totals))
  const [first, ...others] = made
  const parts = others.map(({ totals }) => totals)
  await first?.commit(remainingTotals({ ...sum, admitted: sum.admitted + arrived }, parts))
  for (const [place, share] of others.entries()) await share.commit(parts[place] as (typeof parts)[number])
}

/** How an agent of this place opens its share; with all of the crawl's directory where there are no names. */
function planOf(plan: ResharePlan, names: readonly string[] | null, agent: number, identity: CrawlIdentity): CrawlPlan {
  const { dir, from, to, settings, clock, software, environment } = plan
  const memory = Math.max(leastMemory(Math.max(from?.length ?? 1, to.length)), settings.agent.memory / 2)
  const agents = names?.length ?? 1
  return {
    dir: names === null ? dir : join(dir, names[agent] as string),
    isLocked: true,
    share:
      names === null
        ? null
        : {
            agent,
            agents,
            here: agents,
            crawlDir: dir,
            ipGate: new SharedIpGate(SharedIpGate.allocate(1, 1), 0, ipGateSettings(settings), performance.timeOrigin),
            domainGate: null,
            turns: [],
            onIdle: () => {},
            mayClose: async () => {},
            onShort: () => {},
          },
    seeds: [],
    settings: { ...settings, agent: { ...settings.agent, memory } },
    clock,
    random: new Random(`${identity.key} ${agent}`),
    newIdentity: () => identity,
    software,
    environment,
    cpuMs: () => 0,
    peakRssBytes: () => 0,
  }
}
