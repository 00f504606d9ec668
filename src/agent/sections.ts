// The options of every room under the room's name: the whole configuration of a crawl, in the order of the docs.

import type { z } from 'zod'
import { dnsOptions } from '../dns/index.ts'
import { documentOptions } from '../document/index.ts'
import { fetchOptions } from '../fetch/index.ts'
import { frontierOptions } from '../frontier/index.ts'
import { parseOptions } from '../parse/index.ts'
import { processorOptions } from '../processors/index.ts'
import { robotsOptions } from '../robots/index.ts'
import { storeOptions } from '../store/index.ts'
import { strategyOptions } from '../strategy/index.ts'
import { trapsOptions } from '../traps/index.ts'
import { urlOptions } from '../url/index.ts'
import { agentOptions } from './options.ts'

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
  traps: trapsOptions,
  strategy: strategyOptions,
} as const

/** What a crawl goes by, checked. */
export type CrawlSettings = { readonly [room in keyof typeof SECTIONS]: z.output<(typeof SECTIONS)[room]> }
