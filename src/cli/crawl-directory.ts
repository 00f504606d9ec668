// What the commands that work on the directory of a crawl share: how DIR is read, that there is a crawl in it, and how that
// crawl was meant.

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { CrawlPlan, Share } from '../agent/index.ts'
import { Fault, Random, systemClock } from '../base/index.ts'
import { type CrawlConfig, type Problem, readConfig, SECTIONS } from '../config/index.ts'
import { SharedIpGate } from '../frontier/index.ts'
import { printable } from '../report/index.ts'
import { crawlBegun, loadLayout, refuseMissingShares, loadNodeMark } from '../view/index.ts'
import { quote } from './config-flags.ts'
import { loadSettings } from './stored-settings.ts'
import { VERSION } from './version.ts'

export { shellWord } from '../report/index.ts'

/** Where a command writes; the process itself outside tests. */
export interface CommandStreams {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** The one word of a command that works on a directory; what is wrong with it is added to the problems. */
export function oneDirectory(words: readonly string[], problems: Problem[]): string | undefined {
  const [dir, more] = words
  if (dir === undefined || dir === '') problems.push({ where: 'DIR', what: 'of which crawl? Name its directory' })
  if (more !== undefined) problems.push({ where: quote(more), what: 'one directory at a time' })
  return dir
}

/** Begun by one of its agents at least. */
export async function assertCrawl(dir: string): Promise<void> {
  if (await crawlBegun(dir)) return
  const mark = await loadNodeMark(dir)
  if (mark !== null) {
    throw new Fault(
      'CONFIG_INVALID',
      `${printable(dir)} is where node ${mark.node} works on its shares of crawl ${mark.crawl}; \`portolan cluster status\` tells how that stands, and this when it has ended`,
    )
  }
  throw new Fault('CONFIG_INVALID', `there is no crawl in ${printable(dir)}`)
}

/** For what changes a crawl, or copies it to go on from: of a cluster that is not one node's to do. */
export async function assertOwnCrawl(dir: string): Promise<void> {
  await assertCrawl(dir)
  const mark = await loadNodeMark(dir)
  if (mark === null) return
  throw new Fault(
    'CONFIG_INVALID',
    `${printable(dir)} is one node's part (${mark.node}) of crawl ${mark.crawl}: the engine of the cluster has its state, and would not hear of it`,
  )
}

/** The options the next `portolan crawl --dir DIR` would have. */
export async function storedConfig(dir: string): Promise<CrawlConfig> {
  const file = { name: 'the settings of the crawl', content: (await loadSettings(dir)) ?? {} }
  const result = readConfig(SECTIONS, { flags: new Map(), environment: process.env, file })
  if (result.kind === 'config') return result.config
  const what = result.problems.map((problem) => `${problem.where}: ${problem.what}`).join('; ')
  throw new Fault('CONFIG_INVALID', `the settings of the crawl in ${printable(dir)} cannot be used: ${what}`)
}

/**
 * A crawl that is opened to be put in order, not to be run: no seeds, and the directory, which is locked, must hold one.
 * Of several agents one plan each, to be opened one after the other.
 */
export async function plansWithoutSeeds(dir: string, settings: CrawlConfig): Promise<readonly CrawlPlan[]> {
  const names = await loadLayout(dir)
  if (names === null) return [planWithoutSeeds(dir, null, settings)]
  await refuseMissingShares(dir, names)
  const { ipDelay: ipDelayMs, ipConnections } = settings.frontier
  return names.map((name, agent) => {
    // Nobody is asked, and the others are not there.
    const addresses = SharedIpGate.allocate(names.length)
    const share: Share = {
      agent,
      agents: names.length,
      here: names.length,
      crawlDir: dir,
      ipGate: new SharedIpGate(addresses, agent, { ipDelayMs, ipConnections }, performance.timeOrigin),
      domainGate: null,
      turns: [],
      onIdle: () => {},
      mayClose: async () => {},
      onShort: () => {},
    }
    return planWithoutSeeds(join(dir, name), share, settings)
  })
}

function planWithoutSeeds(dir: string, share: Share | null, settings: CrawlConfig): CrawlPlan {
  return {
    dir,
    isLocked: true,
    share,
    seeds: [],
    settings,
    clock: systemClock,
    random: new Random(randomBytes(4).readInt32LE()),
    newIdentity: () => {
      throw new Fault('CONFIG_INVALID', `there is no crawl in ${printable(dir)}`)
    },
    software: `Portolan/${VERSION}`,
    environment: process.env,
    cpuMs: () => 0,
    peakRssBytes: () => 0,
  }
}
