// Which agents a crawl has: as many as were asked for when it was begun, and each with a share of its own.

import { join } from 'node:path'
import { type CrawlSettings, leastMemory, refuseRemains } from '../agent/index.ts'
import { Fault, formatBytes, Random } from '../base/index.ts'
import { type CrawlIdentity, journalBegun, SegmentedJournal } from '../ledger/index.ts'
import { loadLayout, writeLayout } from '../view/index.ts'

export interface SharesPlan {
  readonly dir: string
  readonly settings: CrawlSettings
  readonly newIdentity: () => CrawlIdentity
  /** Agents where nobody says how many. */
  readonly agentsUsual: number
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
  const isBegun = layout !== null || (await journalBegun(join(dir, 'state/journal')))
  if (!isBegun) {
    const agents = wanted ?? affordable(plan.agentsUsual, memory)
    assertMemory(agents, memory)
    if (agents === 1) return { names: null, identity: plan.newIdentity() }
    await refuseRemains(dir)
    const names = Array.from({ length: agents }, (_, agent) => `state/agents/${agent}`)
    await writeLayout(dir, names)
    return { names, identity: plan.newIdentity() }
  }
  const agents = layout?.length ?? 1
  if (wanted !== null && wanted !== agents) {
    throw new Fault(
      'CONFIG_INVALID',
      `the crawl in ${dir} was begun with --agents ${agents}; leave --agents out or say the same`,
    )
  }
  assertMemory(agents, memory)
  return { names: layout, identity: layout === null ? plan.newIdentity() : await identityOf(plan, layout) }
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

/** Of a crawl that died before every agent had begun: the key of those that had. */
async function identityOf({ dir, newIdentity }: SharesPlan, names: readonly string[]): Promise<CrawlIdentity> {
  const journals = names.map((name) => join(dir, name, 'state/journal'))
  const begun = await Promise.all(journals.map((journal) => journalBegun(journal)))
  const first = begun.indexOf(true)
  if (first === -1 || begun.every(Boolean)) return newIdentity()
  const journal = await SegmentedJournal.open({
    directory: journals[first] as string,
    random: new Random('identity'),
    create: newIdentity,
  })
  await journal.close()
  return journal.identity
}
