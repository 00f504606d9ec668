// What is counted of the whole crawl, under the names the report has for it. Kept in memory while lines are read, and written with them.

import type { DatabaseSync } from 'node:sqlite'
import { type PageRecord, primaryLanguage, softwareName, topLevelDomain } from '../store/index.ts'
import type { Statistics } from './answers.ts'
import { axisName, UNKNOWN_TYPE } from './axis.ts'
import { damagedUnless } from './damaged.ts'
import { rowSum } from './database.ts'

export const TALLY_KINDS = [
  'status',
  'type',
  'size',
  'duplicate',
  'tld-pages',
  'tld-hosts',
  'server',
  'language',
  'depth',
] as const
type TallyKind = (typeof TALLY_KINDS)[number]

/** Names that are counted apart, of each kind; what comes later is counted as `other`. */
const NAMES_MAX = 2_000
/** Names that are told, the largest first. */
const NAMES_TOLD = 100
/** Pages this far from the seeds and beyond are counted together. */
const DEPTH_MAX = 32
const SIZE_MIN = 1_024
const SIZE_DOUBLINGS = 20

export class Tallies {
  readonly #counts = new Map<TallyKind, Map<string, number>>(TALLY_KINDS.map((kind) => [kind, new Map()]))
  readonly #changed = new Map<TallyKind, Set<string>>(TALLY_KINDS.map((kind) => [kind, new Set()]))

  static load(database: DatabaseSync): Tallies {
    const tallies = new Tallies()
    const rows = database.prepare('SELECT kind, name, count, sum FROM tallies').all() as unknown as {
      kind: TallyKind
      name: string
      count: number
      sum: number
    }[]
    for (const { kind, name, count, sum } of rows) {
      const names = tallies.#counts.get(kind)
      damagedUnless(names !== undefined && sum === rowSum(kind, name, count), `tally ${kind} has another checksum`)
      names.set(name, count)
    }
    return tallies
  }

  addPage(page: PageRecord, host: string): void {
    const { status, type, bytes } = page
    this.#add('status', String(status))
    this.#add('tld-pages', topLevelDomain(host))
    this.#add('depth', String(Math.min(DEPTH_MAX, page.depth)))
    if (typeof page.server === 'string') this.#add('server', softwareName(page.server))
    // Only answers with content of their own speak of content, as in the report.
    if (status >= 300) return
    this.#add('type', type ?? UNKNOWN_TYPE)
    this.#add('size', String(sizeBound(bytes)))
    if (typeof page.language === 'string') this.#add('language', primaryLanguage(page.language))
    if (page.duplicateOf !== undefined) this.#add('duplicate', 'pages')
  }

  addHost(host: string): void {
    this.#add('tld-hosts', topLevelDomain(host))
  }

  /** Writes what has changed, in the transaction of its caller. */
  write(database: DatabaseSync): void {
    const put = database.prepare('INSERT OR REPLACE INTO tallies(kind, name, count, sum) VALUES (?, ?, ?, ?)')
    for (const [kind, names] of this.#changed) {
      for (const name of names) {
        const count = this.#counts.get(kind)?.get(name) ?? 0
        put.run(kind, name, count, rowSum(kind, name, count))
      }
      names.clear()
    }
  }

  statistics(): Omit<Statistics, 'readShare'> {
    const tldHosts = this.#of('tld-hosts')
    return {
      statuses: this.#largest('status'),
      types: this.#largest('type'),
      sizes: Array.from(this.#of('size'), ([bound, pages]): [number, number] => [Number(bound), pages]).sort(
        ([a], [b]) => a - b,
      ),
      duplicates: this.#of('duplicate').get('pages') ?? 0,
      topLevelDomains: Object.entries(this.#largest('tld-pages')).map(([name, pages]) => ({
        name,
        hosts: tldHosts.get(name) ?? 0,
        pages,
      })),
      servers: this.#largest('server'),
      languages: this.#largest('language'),
      depths: Object.fromEntries(this.#of('depth')),
    }
  }

  #add(kind: TallyKind, said: string): void {
    const names = this.#of(kind)
    const known = names.get(said)
    if (known !== undefined) {
      names.set(said, known + 1)
      this.#changed.get(kind)?.add(said)
      return
    }
    const clean = axisName(said)
    const name = names.has(clean) || names.size < NAMES_MAX ? clean : 'other'
    names.set(name, (names.get(name) ?? 0) + 1)
    this.#changed.get(kind)?.add(name)
  }

  #of(kind: TallyKind): Map<string, number> {
    return this.#counts.get(kind) as Map<string, number>
  }

  #largest(kind: TallyKind): Record<string, number> {
    const rows = [...this.#of(kind)].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    // No prototype: the web chooses the names, and one may be __proto__.
    const told = Object.assign(
      Object.create(null) as Record<string, number>,
      Object.fromEntries(rows.slice(0, NAMES_TOLD)),
    )
    const rest = rows.slice(NAMES_TOLD).reduce((sum, [, count]) => sum + count, 0)
    if (rest > 0) told['other'] = (told['other'] ?? 0) + rest
    return told
  }
}

/** The smallest bound that it does not exceed: 1 KiB, 2 KiB … */
function sizeBound(bytes: number): number {
  let bound = SIZE_MIN
  for (let i = 0; i < SIZE_DOUBLINGS && bytes > bound; i++) bound *= 2
  return bound
}
