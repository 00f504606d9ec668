import { z } from 'zod'
import {
  choice,
  count,
  countOrUsual,
  duration,
  durationLimit,
  factorLimit,
  limit,
  shaped,
  size,
  sizeLimit,
  yesNo,
} from '../base/options.ts'
import { dnsOptions } from '../dns/options.ts'
import { documentOptions } from '../document/options.ts'
import { engineOptions } from '../engine/options.ts'
import { fetchOptions } from '../fetch/options.ts'
import { frontierOptions } from '../frontier/options.ts'
import { LINK_KINDS, parseOptions } from '../parse/options.ts'
import { processorOptions } from '../processors/options.ts'
import { robotsOptions } from '../robots/options.ts'
import { shelfOptions } from '../shelf/options.ts'
import { storeOptions } from '../store/options.ts'
import { strategyOptions } from '../strategy/options.ts'
import { trapsOptions } from '../traps/options.ts'
import { urlOptions } from '../url/options.ts'
import { MEMORY_MIN } from './memory-plan.ts'

/** Beyond this a node is no faster on any machine there is; each takes memory. */
const AGENTS_MAX = 64

export const agentOptions = z.strictObject({
  maxPages: limit({ text: 'Stop after this many pages in all, over every run in the directory.', flag: 'max-pages' }),
  maxTime: durationLimit({
    text: 'Stop after this much time in all, over every run in the directory.',
    flag: 'max-time',
  }),
  maxWait: duration('10m', {
    text: 'Stop when every host left rests for longer than this; the same command goes on later.',
    flag: 'max-wait',
  }),
  agents: countOrUsual(
    'one per processor, and no more than there are hosts where links lead to no others',
    {
      text: 'Worker threads that share the hosts among them. A crawl keeps the number it has; changing it shares the hosts anew.',
      flag: 'agents',
    },
    { min: 1, max: AGENTS_MAX },
  ),
  connections: count(
    256,
    {
      text: 'Hosts asked at the same time, at most: fewer where the machine or the network cannot bear more. Each gets one request at a time.',
      flag: 'connections',
    },
    { min: 1, max: 100_000 },
  ),
  giantHost: count(10_000, {
    text: 'In a cluster: a host with more URLs waiting than this is asked by other agents too, in turns that its owner lends them, where the owner has as many requests under way as it may and others have none to make. 0: never.',
    flag: 'giant-host',
  }),
  maxRate: factorLimit(
    { text: 'Requests per second at most, of every kind and to all hosts together.', flag: 'max-rate' },
    0.01,
  ),
  maxBandwidth: sizeLimit(
    { text: 'Bytes per second received at most, on average; a body under way is not slowed.', flag: 'max-bandwidth' },
    1_024,
  ),
  memory: size(
    '1GiB',
    {
      text: 'Memory the process may take. What does not fit goes to disk: URLs met, contents met.',
      flag: 'memory',
    },
    MEMORY_MIN,
  ),
  retries: count(2, {
    text: 'How often a URL or a host in trouble is asked again before it is given up.',
    flag: 'retries',
  }),
  pauses: count(5, {
    text: 'How often a URL may be answered with 429 or 503 before that answer is kept as the page.',
  }),
  redirects: count(10, { text: 'Redirects followed in a row.' }),
  hostPages: limit({ text: 'Pages fetched from one host at most.', flag: 'max-pages-per-host' }),
  hostMemory: duration('1h', {
    text: 'How long a host that was given up is remembered as such; its new URLs fail at once meanwhile.',
  }),
  duplicates: choice(['follow', 'skip'], 'follow', {
    text: 'Whether links of a page whose content was met before are followed.',
    flag: 'duplicates',
  }),
  follow: shaped(
    z.array(z.enum(LINK_KINDS)).default([...LINK_KINDS]),
    { text: 'Which links are followed, by where they stand: a, img, script … Page requisites included by default.' },
    'all',
  ),
  tick: duration('100ms', { text: 'How often what was done is written to the ledger.' }, { minMs: 1, maxMs: 60_000 }),
  linkLog: yesNo(true, {
    text: 'Keep who links to whom, so that the report names the pages that link to a broken one.',
  }),
})

export type AgentOptions = z.output<typeof agentOptions>

/** The options of every room under the room's name: the whole configuration of a crawl, in the order of the docs. */
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
  shelf: shelfOptions,
  traps: trapsOptions,
  strategy: strategyOptions,
  engine: engineOptions,
} as const

/** What a crawl goes by, checked. */
export type CrawlSettings = { readonly [room in keyof typeof SECTIONS]: z.output<(typeof SECTIONS)[room]> }
