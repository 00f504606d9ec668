// How the commands of a cluster reach it: the engine that the options name, and the crawl that is defined there.

import { Fault } from '../base/index.ts'
import type { CrawlDefinition } from '../cluster/index.ts'
import { type CrawlConfig, type Problem, readConfig, SECTIONS } from '../config/index.ts'
import { checkCrawlName, type EngineSettings, readNatsAccess } from '../engine/index.ts'
import type { CrawlIdentity } from '../ledger/index.ts'
import { printable } from '../report/index.ts'
import type { Said } from './stored-settings.ts'

/** What options say of the engine. Complaints go to `problems`. */
export function engineSettingsOf(
  config: Pick<CrawlConfig, 'engine'>,
  crawl: string | undefined,
  problems: Problem[],
): { readonly settings: EngineSettings; readonly warnings: readonly string[] } | null {
  if (config.engine.nats.length === 0) {
    problems.push({ where: '--nats', what: 'say where the engine is, like nats://host:4222' })
    return null
  }
  if (crawl === undefined) {
    problems.push({ where: '--crawl', what: 'say which crawl: its name in the cluster' })
    return null
  }
  try {
    checkCrawlName(crawl)
    const { servers, credentials, warnings } = readNatsAccess(config.engine, process.env)
    return { settings: { servers, credentials, crawl, replicas: config.engine.natsReplicas }, warnings }
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault
    problems.push({ where: '--nats', what: fault.message })
    return null
  }
}

/** What a crawl is called and keyed by, wherever it runs. */
export function identityOf(crawl: string, { identity, createdAt }: CrawlDefinition): CrawlIdentity {
  return { name: crawl, key: identity, startedAtMs: Date.parse(createdAt) }
}

/** The settings of a defined crawl, with what was said for this node alone on top. */
export function settingsOn(
  definition: CrawlDefinition,
  flags: ReadonlyMap<string, string | true | readonly string[]>,
): CrawlConfig {
  const file = { name: 'the crawl', content: definition.settings }
  const result = readConfig(SECTIONS, { flags: new Map(flags), environment: process.env, file })
  if (result.kind === 'config') return result.config
  const complaints = result.problems.map(({ where, what }) => `${where}: ${what}`).join('; ')
  throw new Fault(
    'CLUSTER_REFUSED',
    `the options of this crawl do not hold here: ${printable(complaints)}. Nodes of one crawl run one version of Portolan`,
  )
}

/** Options that are shared with all nodes: not those that are about one machine, nor a password. */
export function sharedSettings(said: Said, problems: Problem[]): Said {
  const { engine: _, ...rest } = said
  const logins = (rest['fetch']?.['logins'] ?? []) as readonly { readonly password?: string }[]
  if (logins.some(({ password }) => password !== undefined)) {
    problems.push({
      where: 'fetch.logins',
      what: 'a password would be stored in the engine for all to read; name it by a variable, and set that on every node',
    })
  }
  return rest
}
