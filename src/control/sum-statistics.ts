// Statistics of several nodes as those of one crawl: what they counted, added up.

import type { AnswerOf } from './api.ts'

type Statistics = AnswerOf<'statistics'>

/** As many as one catalogue tells of. */
const TOP_LEVEL_DOMAINS_MAX = 1_000

export function sumStatistics(all: readonly Statistics[]): Statistics {
  const sizes = new Map<number, number>()
  const domains = new Map<string, { name: string; hosts: number; pages: number }>()
  for (const one of all) {
    for (const [bound, pages] of one.sizes) sizes.set(bound, (sizes.get(bound) ?? 0) + pages)
    for (const { name, hosts, pages } of one.topLevelDomains) {
      const known = domains.get(name) ?? { name, hosts: 0, pages: 0 }
      domains.set(name, { name, hosts: known.hosts + hosts, pages: known.pages + pages })
    }
  }
  return {
    statuses: sumCounts(all.map(({ statuses }) => statuses)),
    types: sumCounts(all.map(({ types }) => types)),
    sizes: [...sizes].sort(([one], [two]) => one - two),
    duplicates: all.reduce((sum, { duplicates }) => sum + duplicates, 0),
    topLevelDomains: [...domains.values()].sort((one, two) => two.pages - one.pages).slice(0, TOP_LEVEL_DOMAINS_MAX),
    servers: sumCounts(all.map(({ servers }) => servers)),
    languages: sumCounts(all.map(({ languages }) => languages)),
    depths: sumCounts(all.map(({ depths }) => depths)),
    readShare: Math.min(1, ...all.map(({ readShare }) => readShare)),
  }
}

function sumCounts(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sum = new Map<string, number>()
  for (const counts of all)
    for (const [name, count] of Object.entries(counts)) sum.set(name, (sum.get(name) ?? 0) + count)
  return Object.fromEntries(sum)
}
