// What makes a crawl of a cluster another one: more seeds, other options. A change is checked as the command line is, stands in the engine
// before whoever asked is told so, and is taken in by each node for its shares (src/cluster/changes.ts).

import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { Fault, REFUSALS, systemClock } from '../base/index.ts'
import { type ClusterHistory, type CrawlChange, type CrawlDefinition, makeChange } from '../cluster/index.ts'
import { sharedSecrets } from '../config/index.ts'
import type { Engine } from '../engine/index.ts'
import { printable } from '../report/index.ts'
import { canonicalise } from '../url/index.ts'
import type { AnswerOf } from './api.ts'
import type { Asker } from './crawl-source.ts'
import { fixedInCluster } from './fixed-in-cluster.ts'
import { checkChange, type CheckedChange, withoutSecrets } from './option-changes.ts'
import { FieldsFault } from './refusals.ts'
import type { SaidOptions } from './steered-crawl.ts'

/** Seeds of one change, in bytes: with more there are several, which holds as well and never exceeds what a record may be. */
const SEEDS_BYTES_MAX = 256 * 1024

/** Seeds that the record of changes names; it counts the others. */
const SEEDS_SHOWN_MAX = 100

export interface AddedSeeds extends AnswerOf<'addSeeds'> {
  /** The change that has the last of them; null where all were known. */
  readonly change: number | null
}

/** Of many at once, those before a failure are added; adding them again does no harm. */
export async function addSeeds(
  engine: Engine,
  { seeds: first }: Pick<CrawlDefinition, 'seeds'>,
  asked: readonly string[],
  asker: Asker,
): Promise<AddedSeeds> {
  const problems: { where: string; what: string }[] = []
  const urls = new Set<string>()
  for (const [index, text] of asked.entries()) {
    const url = canonicalise(text.trim())
    if (typeof url === 'string') urls.add(url)
    else problems.push({ where: `seeds.${index}`, what: REFUSALS[url.refused] })
  }
  let [added, change]: [number, number | null] = [0, null]
  for (const part of partsOf([...urls])) {
    let fresh: readonly string[] = []
    const made = await makeChange(engine, (now) => {
      const known = new Set([...first, ...now.seedsAfter(0)])
      fresh = part.filter((url) => !known.has(url))
      return fresh.length === 0
        ? null
        : { ...signed(asker), seeds: fresh, settings: null, options: null, isLive: false }
    })
    if (made === null) continue
    added += fresh.length
    change = made
  }
  return { added, known: urls.size - added, problems, change }
}

function partsOf(urls: readonly string[]): string[][] {
  const parts: string[][] = []
  let bytes = Infinity
  for (const url of urls) {
    bytes += Buffer.byteLength(url) + 3
    if (bytes > SEEDS_BYTES_MAX) {
      parts.push([])
      bytes = Buffer.byteLength(url) + 3
    }
    parts.at(-1)?.push(url)
  }
  return parts
}

/** A change of options as it was checked, and its number; null where all is so already. */
export interface MadeChange extends CheckedChange {
  readonly change: number | null
}

/** Refused where somebody else has changed the same option in the same moment: whoever was first counts, the other is told. */
export async function changeOptions(
  engine: Engine,
  definition: Pick<CrawlDefinition, 'settings'>,
  options: SaidOptions,
  asker: Asker,
): Promise<MadeChange> {
  let checked: CheckedChange | null = null
  const change = await makeChange(engine, (now, since) => {
    const said = (now.settingsAfter(0) ?? definition.settings ?? {}) as SaidOptions
    checked = checkOptions(said, options)
    const other = since.find((one) => namesIn(one.options).some((name) => namesIn(options).includes(name)))
    if (other !== undefined) {
      const names = namesIn(other.options).join(', ')
      throw new Fault(
        'CONTROL_REFUSED',
        `${other.by} has changed ${names} in this moment; look at it, and say it again`,
      )
    }
    if (isDeepStrictEqual(checked.said, said)) return null
    const isLive = checked.takesEffect === 'now'
    return { ...signed(asker), seeds: [], settings: checked.said, options: withoutSecrets(options), isLive }
  })
  return { ...(checked as unknown as CheckedChange), change }
}

/** Throws a FieldsFault that names every field that is wrong, or that cannot be changed, or would be a secret for all to read. */
export function checkOptions(said: SaidOptions, options: SaidOptions): CheckedChange {
  if (namesIn(options).length === 0) throw new FieldsFault([{ where: 'options', what: 'names no option' }])
  const checked = checkChange(said, options, fixedInCluster)
  const secrets = sharedSecrets(options)
  if (secrets.length > 0) throw new FieldsFault(secrets.map(({ where, what }) => ({ where: `options.${where}`, what })))
  return checked
}

function namesIn(options: SaidOptions | null): string[] {
  return Object.entries(options ?? {}).flatMap(([section, own]) => Object.keys(own).map((key) => `${section}.${key}`))
}

/** Who changed what, of the crawl and of its nodes; numbered in the order of their clocks. */
export function changesIn({ wishes, changes }: ClusterHistory): AnswerOf<'changes'>['items'] {
  const wished = wishes.map(({ at, by, kind, node, weight, speed, share }) => {
    return {
      at,
      who: printable(by),
      what: kind,
      detail: { node: node ?? undefined, weight, speed, share: share ?? undefined },
    }
  })
  const changed = changes.map(({ at, by, seeds, options, number }) => {
    const shown = seeds.length === 0 ? {} : { seeds: seeds.slice(0, SEEDS_SHOWN_MAX), count: seeds.length }
    return {
      at,
      who: printable(by),
      what: options === null ? 'seeds' : 'settings',
      detail: { change: number, ...shown, ...options },
    }
  })
  // Of one moment: a change of speed is said as a wish after it was made.
  return [...changed, ...wished]
    .sort((one, two) => (one.at < two.at ? -1 : one.at > two.at ? 1 : 0))
    .map(({ detail, ...rest }, index) => {
      return { number: index + 1, ...rest, detail: JSON.parse(JSON.stringify(detail)) as Record<string, unknown> }
    })
}

function signed({ who }: Asker): Pick<CrawlChange, 'id' | 'by' | 'at'> {
  return { id: randomBytes(8).toString('hex'), by: who, at: new Date(systemClock.wallMs()).toISOString() }
}
