// Which agents a crawl has: as many as were asked for when it was begun, and each with a share of its own.

import { join } from 'node:path'
import { type CrawlSettings, leastMemory, refuseRemains } from '../agent/index.ts'
import { Fault, formatBytes } from '../base/index.ts'
import { type CrawlIdentity, journalBegun } from '../ledger/index.ts'
import { loadLayout, refuseMissingShares, writeLayout } from '../view/index.ts'
import { beginShares, clearBegunShares } from './begun-shares.ts'

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
    await clearBegunShares(dir)
    const identity = await beginShares(dir, names, plan.newIdentity())
    await writeLayout(dir, names)
    return { names, identity }
  }
  const agents = layout?.length ?? 1
  if (wanted !== null && wanted !== agents) {
    throw new Fault(
      'CONFIG_INVALID',
      `the crawl in ${dir} was begun with --agents ${agents}; leave --agents out or say the same`,
    )
  }
  assertMemory(agents, memory)
  if (layout === null) return { names: null, identity: plan.newIdentity() }
  await refuseMissingShares(dir, layout)
  return { names: layout, identity: await beginShares(dir, layout, plan.newIdentity()) }
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
