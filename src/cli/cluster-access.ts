// How the commands of a cluster reach it: the engine that the options name, and the crawl that is defined there.

import { Fault } from '../base/index.ts'
import { checkNodeName, type CrawlDefinition } from '../cluster/index.ts'
import {
  type CrawlConfig,
  environmentName,
  isOwnOption,
  optionRows,
  type Problem,
  readConfig,
  SECTIONS,
  sharedSecrets,
} from '../config/index.ts'
import { checkCrawlName, type EngineSettings, readNatsAccess } from '../engine/index.ts'
import type { CrawlIdentity } from '../ledger/index.ts'
import { printable } from '../report/index.ts'
import { mergeSaid, type Said } from './stored-settings.ts'

/** Variables that speak of the crawl: one node must not mean another crawl than the others. */
export function foreignVariables(environment: Environment): string[] {
  const names = optionRows(SECTIONS).flatMap(({ facts: { flag } }) =>
    flag === undefined || isOwnOption(flag) ? [] : [environmentName(flag)],
  )
  return names.filter((name) => environment[name] !== undefined)
}

/** Of what was said, that which is about this machine. */
export function ownSettings(said: Said): Said {
  return pickOptions(said, isOwnOption)
}

export function withoutOwn(said: Said): Said {
  return pickOptions(said, (flag) => !isOwnOption(flag))
}

/** The name of a node is part of names in the engine. */
export function checkName(name: string, problems: Problem[]): void {
  complains('--name', () => checkNodeName(name), problems)
}

/** Whether a check says no; what it says goes to `problems`. */
function complains(where: string, check: () => void, problems: Problem[]): boolean {
  try {
    check()
    return false
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault
    problems.push({ where, what: printable(fault.message) })
    return true
  }
}

type Environment = Readonly<Record<string, string | undefined>>

function pickOptions(said: Said, isWanted: (flag: string | undefined) => boolean): Said {
  const picked: Record<string, Record<string, unknown>> = {}
  for (const { section, key, facts } of optionRows(SECTIONS)) {
    const options = said[section]
    if (options === undefined || !(key in options) || !isWanted(facts.flag)) continue
    picked[section] = { ...picked[section], [key]: options[key] }
  }
  return picked
}

/** What options say of the engine. Complaints go to `problems`. */
export function engineSettingsOf(
  config: Pick<CrawlConfig, 'engine'>,
  crawl: string | undefined,
  problems: Problem[],
  flag = '--nats',
): { readonly settings: EngineSettings; readonly warnings: readonly string[] } | null {
  if (config.engine.nats.length === 0) {
    problems.push({ where: flag, what: 'say where the engine is, like nats://host:4222' })
    return null
  }
  if (crawl === undefined) {
    problems.push({ where: '--crawl', what: 'say which crawl: its name in the cluster' })
    return null
  }
  if (complains('--crawl', () => checkCrawlName(crawl), problems)) return null
  try {
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

/** What is said of a crawl for all nodes, with what was said for this node alone on top. */
export function settingsOn(
  said: Said,
  flags: ReadonlyMap<string, string | true | readonly string[]>,
  own: Said = {},
  variables: Environment = process.env,
): CrawlConfig {
  const file = { name: 'the crawl', content: mergeSaid(said, own) }
  const environment = { ...variables }
  for (const name of foreignVariables(variables)) delete environment[name]
  const result = readConfig(SECTIONS, { flags: new Map(flags), environment, file })
  if (result.kind === 'config') return result.config
  const complaints = result.problems.map(({ where, what }) => `${where}: ${what}`).join('; ')
  throw new Fault(
    'CLUSTER_REFUSED',
    `the options of this crawl do not hold here: ${printable(complaints)}. Nodes of one crawl run one version of Portolan`,
  )
}

/** Options that are shared with all nodes: not how the engine is reached, nor a password. */
export function sharedSettings(said: Said, problems: Problem[]): Said {
  const { engine: _, ...rest } = said
  problems.push(...sharedSecrets(rest))
  return rest
}
