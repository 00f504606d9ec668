// Which agents a crawl has: as many as were asked for when it was begun, or were last, and each with a share of its own.

import { join } from 'node:path'
import { type CrawlSettings, leastMemory, refuseRemains } from '../agent/index.ts'
import { type Clock, Fault, formatBytes } from '../base/index.ts'
import { type CrawlIdentity, journalBegun } from '../ledger/index.ts'
import { type CanonicalUrl, hostKeyOf } from '../url/index.ts'
import { loadLayout, refuseMissingShares, writeLayout } from '../view/index.ts'
import { beginShares, clearBegunShares } from './begun-shares.ts'
import { evenIdentity } from './even-identity.ts'
import { endResharing } from './resharing-record.ts'

export interface SharesPlan {
  readonly dir: string
  readonly seeds: readonly CanonicalUrl[]
  readonly settings: CrawlSettings
  readonly newIdentity: () => CrawlIdentity
  /** Agents where nobody says how many. */
  readonly agentsUsual: number
  readonly clock: Clock
  readonly software: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly onEvent: (event: SharingEvent) => void
}

/** Another number of agents than before is wanted: everything is shared anew, which takes its time. */
export interface SharingEvent {
  readonly kind: 'sharing'
  /** URLs met: those that wait and those that are done with. */
  readonly urls: number
  readonly agents: number
  readonly agentsBefore: number
}

export interface Shares {
  /** By agent, inside the crawl's directory; null where one agent has all of it. */
  readonly names: readonly string[] | null
  /** For a journal that is begun now: all agents of a crawl have one key. */
  readonly identity: CrawlIdentity
}

/** What there is, or what is made for a crawl that begins. */
export async function settleShares(plan: SharesPlan): Promise<Shares> {
  const { dir, settings } = plan
  const { agents: wanted, memory } = settings.agent
  const layout = await loadLayout(dir)
  await endResharing(dir, layout)
  const isBegun = layout !== null || (await journalBegun(join(dir, 'state/journal')))
  if (!isBegun) {
    const agents = wanted ?? affordable(usual(plan), memory)
    assertMemory(agents, memory)
    if (agents === 1) return { names: null, identity: plan.newIdentity() }
    await refuseRemains(dir)
    const names = Array.from({ length: agents }, (_, agent) => `state/agents/${agent}`)
    await clearBegunShares(dir)
    const drawn = evenIdentity(plan.newIdentity, plan.seeds, agents)
    const identity = await beginShares(dir, names, drawn)
    await writeLayout(dir, names)
    return { names, identity }
  }
  const agents = wanted ?? layout?.length ?? 1
  assertMemory(agents, memory)
  if (layout !== null) await refuseMissingShares(dir, layout)
  const identity = layout === null ? plan.newIdentity() : await beginShares(dir, layout, plan.newIdentity())
  if (agents === (layout?.length ?? 1)) return { names: layout, identity }
  const names = nextEdition(layout, agents)
  return { names, identity: await shareAnew(plan, layout, names, identity) }
}

async function shareAnew(
  plan: SharesPlan,
  from: readonly string[] | null,
  to: readonly string[],
  identity: CrawlIdentity,
): Promise<CrawlIdentity> {
  const { dir, onEvent } = plan
  const onBegin = (urls: number): void =>
    onEvent({ kind: 'sharing', urls, agents: to.length, agentsBefore: from?.length ?? 1 })
  try {
    // Loaded only where it is needed: it brings most of an agent with it.
    const { reshare } = await import('./reshare.ts')
    return await reshare({ ...plan, from, to, identity, onBegin })
  } catch (fault) {
    // At once, for it may be room that is missing. What cannot be done now is done by the next start.
    await endResharing(dir, await loadLayout(dir)).catch(() => {})
    throw fault
  }
}

/** Names that no share has: the layout flips from all of the old to all of the new. */
function nextEdition(layout: readonly string[] | null, agents: number): string[] {
  const editions = (layout ?? []).map((name) => Number(/\/(\d+)-\d+$/.exec(name)?.[1] ?? 1))
  const edition = Math.max(1, ...editions) + 1
  return Array.from({ length: agents }, (_, agent) => `state/agents/${edition}-${agent}`)
}

/** As many as there are processors; where links lead to no other hosts than the seeds', an agent without one would only take memory from the others. */
function usual({ agentsUsual, seeds, settings }: SharesPlan): number {
  const { scope } = settings.url
  const hosts = new Set(seeds.map(hostKeyOf)).size
  return hosts === 0 || scope === 'any' || scope === 'domain' ? agentsUsual : Math.min(agentsUsual, hosts)
}

function affordable(agents: number, memory: number): number {
  for (let count = agents; count > 1; count--) if (leastMemory(count) <= memory) return count
  return 1
}

function assertMemory(agents: number, memory: number): void {
  const least = leastMemory(agents)
  if (memory >= least) return
  throw new Fault(
    'CONFIG_INVALID',
    `${agents} agents need --memory ${formatBytes(least)} or more; ${formatBytes(memory)} is too little. Fewer agents need less`,
  )
}
