// portolan cluster seed, set, trace: a crawl of several machines is made another one, over the same source as the control API has.

import { userInfo } from 'node:os'
import { type FlagValue, optionRows, type Problem, readConfig, type Said, SECTIONS } from '../config/index.ts'
import { type CrawlSource, loadClusterCrawl } from '../control/index.ts'
import type { EngineSettings } from '../engine/index.ts'
import { formatCount, formatNumberOf, printable } from '../report/index.ts'

export type Steering =
  | { readonly kind: 'seed'; readonly seeds: readonly string[] }
  /** Options by section; null: as usual again. */
  | { readonly kind: 'set' | 'preview'; readonly options: Said }
  | { readonly kind: 'trace'; readonly url: string }

/** What `cluster set` is to change: what the flags and the file say, and nothing of the environment. Complaints go to `problems`. */
export function readOptions(
  flags: ReadonlyMap<string, FlagValue>,
  unset: readonly string[],
  file: { readonly name: string; readonly content: unknown } | null,
  problems: Problem[],
): Said {
  const own = new Map([...flags].filter(([flag]) => flag !== 'nats' && !flag.startsWith('nats-')))
  const result = readConfig(SECTIONS, { flags: own, environment: {}, file })
  if (result.kind === 'problems') {
    problems.push(...result.problems)
    return {}
  }
  const options: Record<string, Record<string, unknown>> = {}
  for (const [section, said] of Object.entries(result.said)) options[section] = { ...said }
  for (const name of unset) {
    const row = optionRows(SECTIONS).find(
      ({ facts, section, key }) => name === facts.flag || name === `${section}.${key}`,
    )
    if (row === undefined) problems.push({ where: '--unset', what: `'${name}' is no option` })
    else options[row.section] = { ...options[row.section], [row.key]: null }
  }
  if (problems.length === 0 && Object.keys(options).length === 0) {
    problems.push({
      where: 'set',
      what: 'say what is to be another, like --delay 5s, --max-pages 5000, --unset max-pages',
    })
  }
  return options
}

/** Says what became of it; fails with a Fault where it is refused. */
export async function steerCluster(
  engine: EngineSettings,
  steering: Steering,
  say: (text: string) => void,
): Promise<void> {
  const source = await (await loadClusterCrawl()).ClusterCrawl.open(engine)
  try {
    await steer(source, steering, say)
  } finally {
    await source.close()
  }
}

async function steer(source: CrawlSource, steering: Steering, say: (text: string) => void): Promise<void> {
  switch (steering.kind) {
    case 'seed':
      return addSeeds(source, steering.seeds, say)
    case 'set':
      return say(`${(await source.set({ options: plain(steering.options) }, whoWeAre())).text}\n`)
    case 'trace':
      return say(`${(await source.trace({ url: steering.url }, whoWeAre())).text}\n`)
    case 'preview': {
      const { hit, waiting, reasons, examples, isComplete } = await source.preview(
        { options: plain(steering.options) },
        whoWeAre(),
      )
      const why = Object.entries(reasons).map(([reason, count]) => `${reason} ${formatCount(count)}`)
      say(
        `It would skip ${isComplete ? '' : 'at least '}${formatNumberOf(hit, 'URL')} of ${formatCount(waiting)} that wait` +
          `${why.length === 0 ? '' : ` (${why.join(', ')})`}. Nothing was changed.\n`,
      )
      for (const url of examples.slice(0, 5)) say(`  ${printable(url)}\n`)
    }
  }
}

async function addSeeds(source: CrawlSource, seeds: readonly string[], say: (text: string) => void): Promise<void> {
  const { added, known, problems } = await source.addSeeds({ seeds: [...seeds] }, whoWeAre())
  for (const { where, what } of problems) say(`left out: ${printable(where)}: ${printable(what)}\n`)
  say(`${formatNumberOf(added, 'seed')} added${known === 0 ? '' : `, ${formatNumberOf(known, 'seed')} known before`}.`)
  say(added === 0 ? '\n' : ` ${await whoTakesItIn(source)}\n`)
}

async function whoTakesItIn(source: CrawlSource): Promise<string> {
  const { cluster } = await source.crawl({}, whoWeAre())
  return cluster?.nodes === 0
    ? 'Nobody works on the crawl: it goes on with this when its nodes are started (portolan node).'
    : 'All shares take this in before the crawl can end; `portolan cluster status` tells how many have.'
}

function plain(options: Said): Record<string, Record<string, unknown>> {
  return Object.fromEntries(Object.entries(options).map(([section, own]) => [section, { ...own }]))
}

function whoWeAre(): { readonly who: string } {
  return { who: userInfo().username }
}
