// Every room's options under the name of the room: the whole configuration.

import { agentOptions } from '../agent/index.ts'
import { dnsOptions } from '../dns/index.ts'
import { documentOptions } from '../document/index.ts'
import { fetchOptions } from '../fetch/index.ts'
import { frontierOptions } from '../frontier/index.ts'
import { parseOptions } from '../parse/index.ts'
import { processorOptions } from '../processors/index.ts'
import { robotsOptions } from '../robots/index.ts'
import { storeOptions } from '../store/index.ts'
import { strategyOptions } from '../strategy/index.ts'
import { urlOptions } from '../url/index.ts'
import type { Config } from './read-config.ts'

export const SECTIONS = {
  agent: agentOptions,
  url: urlOptions,
  frontier: frontierOptions,
  dns: dnsOptions,
  robots: robotsOptions,
  document: documentOptions,
  fetch: fetchOptions,
  parse: parseOptions,
  processors: processorOptions,
  store: storeOptions,
  strategy: strategyOptions,
} as const

export type CrawlConfig = Config<typeof SECTIONS>
