// Options of a crawl of several machines that cannot be changed for all of them while it lives, and why.

import { isOwnOption, optionRows, SECTIONS } from '../config/index.ts'
import type { FixedReason } from './option-changes.ts'

/** By option, or by section. */
const REASONS: Readonly<Record<string, string>> = {
  engine: 'how the engine is reached is said to each node and each command',
  shelf: 'what is lost with a machine is judged by the shelf that the crawl was set up with; set up another crawl',
  'url.sessionIds': 'the URLs that were met would have other names; set up another crawl',
  'agent.agents': 'there is an agent for each share, and shares are fixed when the crawl is set up',
  'agent.connections':
    'is of a machine; how many requests are under way is changed as the speed of the crawl, a node or a share',
  'store.warc': 'files of one archive, which nodes finish for each other, are of one kind; set up another crawl',
}

const OWN: ReadonlySet<string> = new Set(
  optionRows(SECTIONS).flatMap(({ section, key, facts: { flag } }) => (isOwnOption(flag) ? [`${section}.${key}`] : [])),
)

export const fixedInCluster: FixedReason = ({ section, key }) => {
  const name = `${section}.${key}`
  const own = OWN.has(name) ? 'is of a machine; say it to its node when that is started (portolan node)' : null
  return REASONS[name] ?? REASONS[section] ?? own
}
