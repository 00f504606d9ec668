// What the nodes of a crawl write down for each other, once each, never changed (docs/formats.md):
//
//   crawl                       what is crawled, how, in how many shares; written by `cluster init`
//   join.<node>.<incarnation>   a node that wants to take part
//   leave.<node>.<incarnation>  a member that wants to go, in order
//   wish.<n>                    what an operator asked; 1, 2, 3 …
//   view.<n>                    who takes part; 1, 2, 3 …; the last one counts
//   change.<n>                  more seeds, other options; 1, 2, 3 …; what is crawled is what they come to (changes.ts)
//   end.<run>, end.<run>-<n>    why a run ended, under change n; a wish to go on begins the next, and so does a later change
//   lost.<n>.<step>.<share>     what was done about a node that wish n calls lost (lost-nodes.ts)
//
// They are JSON. What a later version adds is ignored; what is missing or of another kind is a fault that names the record.

import { Fault } from '../base/index.ts'
import type { EngineRecord } from '../engine/index.ts'

/** Grows when an older node could not take part any more. */
export const CLUSTER_FORMAT = 1

export interface CrawlDefinition {
  readonly format: number
  /** Tells this crawl from another of the same name. */
  readonly identity: string
  readonly shares: number
  /** How slots go to shares and shares to nodes: `rendezvous`, `ring:100`. */
  readonly assignment: string
  readonly leaseMs: number
  readonly marginMs: number
  /** The options of the crawl, as a configuration file would have them. */
  readonly settings: unknown
  readonly seeds: readonly string[]
  readonly createdAt: string
}

export interface Join {
  readonly node: string
  readonly incarnation: string
  readonly weight: number
  readonly version: string
  /** Where it runs, for people. */
  readonly host: string
  readonly at: string
  /** Incarnations of this name that are known to be no more: the joiner takes their place. */
  readonly replaces: readonly string[]
  /** Wishes it knew: a wish to remove the node that is older than that is not about this life of it. */
  readonly wishesUpTo: number
}

export const WISH_KINDS = [
  'drain',
  'resume',
  'remove',
  'weight',
  'stop',
  'go',
  'lost',
  'speed',
  'pause',
  'unpause',
] as const
export type WishKind = (typeof WISH_KINDS)[number]

/** Limits that are changed while the crawl runs; null: none. */
export interface SpeedChange {
  readonly connections?: number
  readonly ratePerSecond?: number | null
  readonly bytesPerSecond?: number | null
}

export interface Wish {
  readonly kind: WishKind
  /** Null for what is about the whole crawl: `stop`, `go`, `pause`, `unpause`, and a `speed` that is not of one node. */
  readonly node: string | null
  /** For `weight`. */
  readonly weight?: number
  /** For `speed`: what is other from now on, and of which share where it is of one. */
  readonly speed?: SpeedChange
  readonly share?: number | null
  readonly by: string
  readonly at: string
}

export const SPEED_LIMITS = ['connections', 'ratePerSecond', 'bytesPerSecond'] as const

export interface Member {
  readonly node: string
  readonly incarnation: string
  readonly weight: number
  /** Gets no shares, and stays. */
  readonly isDraining: boolean
  /** Gets no shares, and goes when it has none. */
  readonly isLeaving: boolean
}

export interface View {
  readonly number: number
  readonly members: readonly Member[]
  readonly wishesUpTo: number
  /** Who made it, and why, for people. */
  readonly by: string
  readonly because: string
  readonly at: string
}

/** Somebody made the crawl another one. */
export interface CrawlChange {
  /** Told from all others by it: whoever made it finds it again where the answer was lost. */
  readonly id: string
  readonly seeds: readonly string[]
  /** All that is said of options from now on, as in the definition; null: what was said before. */
  readonly settings: unknown
  /** What of it was asked for, for people. */
  readonly options: Readonly<Record<string, Readonly<Record<string, unknown>>>> | null
  /** Whoever runs need not be opened anew for it: it is told to them in another way too (a wish about speed). */
  readonly isLive: boolean
  readonly by: string
  readonly at: string
}

export interface End {
  readonly run: number
  /** The last change that all shares had when it ended: with a later one it is not the end. */
  readonly change: number
  readonly reason: string
  readonly by: string
  readonly at: string
}

/** A record as the membership hears of it. */
export type Heard =
  | { readonly kind: 'join'; readonly join: Join }
  | { readonly kind: 'leave'; readonly incarnation: string }
  | { readonly kind: 'wish'; readonly number: number; readonly wish: Wish }
  | { readonly kind: 'view'; readonly view: View }
  | { readonly kind: 'change'; readonly number: number; readonly change: CrawlChange }
  | { readonly kind: 'end'; readonly end: End }

/** What is watched. */
export const RECORD_KINDS = ['join', 'leave', 'wish', 'view', 'change', 'end'] as const

/** A run under a change, as one part of a name. */
export function runName(run: number, change: number): string {
  return change === 0 ? String(run) : `${run}-${change}`
}

/** The other way round. */
export function parseRunName(text: string): { readonly run: number; readonly change: number } {
  const [run = NaN, change = 0] = text.split('-').map(Number)
  return { run, change }
}

export function encodeRecord(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value))
}

/** Null for a record of a kind this version does not know. */
export function decodeRecord(record: EngineRecord): Heard | null {
  const [kind = '', second = '', third = ''] = record.name.split('.')
  const read = new FieldReader(record)
  switch (kind) {
    case 'join':
      return { kind, join: readJoin(read, second, third) }
    case 'leave':
      return { kind, incarnation: third }
    case 'wish':
      return { kind, number: numberIn(record.name, second), wish: readWish(read) }
    case 'view':
      return { kind, view: readView(read, numberIn(record.name, second)) }
    case 'change':
      return { kind, number: numberIn(record.name, second), change: readChange(read) }
    case 'end':
      return {
        kind,
        end: {
          ...runIn(record.name, second),
          reason: read.text('reason'),
          by: read.text('by'),
          at: read.text('at'),
        },
      }
    default:
      return null
  }
}

/** `seedsObject`: the seeds are there, because they are too many for a record. */
export function decodeDefinition(value: Uint8Array): { definition: CrawlDefinition; seedsObject: string | null } {
  const read = new FieldReader({ name: 'crawl', value })
  const format = read.number('format')
  if (format !== CLUSTER_FORMAT) {
    throw new Fault(
      'CLUSTER_REFUSED',
      `the crawl was set up in format ${format} of the cluster, this version of Portolan speaks ${CLUSTER_FORMAT}; run the same version on all nodes`,
    )
  }
  const seedsObject = read.any('seedsObject')
  const definition = {
    format,
    identity: read.text('identity'),
    shares: read.number('shares'),
    assignment: read.text('assignment'),
    leaseMs: read.number('leaseMs'),
    marginMs: read.number('marginMs'),
    settings: read.any('settings'),
    seeds: read.texts('seeds'),
    createdAt: read.text('createdAt'),
  }
  return { definition, seedsObject: typeof seedsObject === 'string' ? seedsObject : null }
}

function readJoin(read: FieldReader, node: string, incarnation: string): Join {
  return {
    node,
    incarnation,
    weight: read.number('weight'),
    version: read.text('version'),
    host: read.text('host'),
    at: read.text('at'),
    replaces: read.texts('replaces'),
    wishesUpTo: read.number('wishesUpTo'),
  }
}

function readWish(read: FieldReader): Wish {
  const kind = read.text('kind')
  if (!(WISH_KINDS as readonly string[]).includes(kind)) throw read.fault('kind')
  const node = read.any('node')
  if (node !== null && typeof node !== 'string') throw read.fault('node')
  const weight = kind === 'weight' ? { weight: read.number('weight') } : {}
  const speed = kind === 'speed' ? readSpeed(read) : {}
  return { kind: kind as WishKind, node, by: read.text('by'), at: read.text('at'), ...weight, ...speed }
}

function readSpeed(read: FieldReader): Pick<Wish, 'speed' | 'share'> {
  const [said, share] = [read.any('speed'), read.any('share') ?? null]
  if (typeof said !== 'object' || said === null) throw read.fault('speed')
  if (share !== null && typeof share !== 'number') throw read.fault('share')
  const speed: Record<string, number | null> = {}
  for (const name of SPEED_LIMITS) {
    const value = (said as Readonly<Record<string, unknown>>)[name]
    if (value === undefined) continue
    const isNone = value === null && name !== 'connections'
    if (!isNone && !(typeof value === 'number' && value > 0)) throw read.fault(name)
    speed[name] = value
  }
  return { speed, share }
}

function readChange(read: FieldReader): CrawlChange {
  const options = read.any('options')
  return {
    id: read.text('id'),
    seeds: read.texts('seeds'),
    settings: read.any('settings') ?? null,
    options: typeof options === 'object' ? (options as CrawlChange['options']) : null,
    isLive: read.any('isLive') === true,
    by: read.text('by'),
    at: read.text('at'),
  }
}

function readView(read: FieldReader, number: number): View {
  return {
    number,
    members: read.list('members').map((member) => ({
      node: member.text('node'),
      incarnation: member.text('incarnation'),
      weight: member.number('weight'),
      isDraining: member.any('isDraining') === true,
      isLeaving: member.any('isLeaving') === true,
    })),
    wishesUpTo: read.number('wishesUpTo'),
    by: read.text('by'),
    because: read.text('because'),
    at: read.text('at'),
  }
}

function numberIn(name: string, text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < 1) {
    throw new Fault('CLUSTER_REFUSED', `record ${name} of the cluster has no number; was it written by something else?`)
  }
  return number
}

function runIn(name: string, text: string): { readonly run: number; readonly change: number } {
  const { run, change } = parseRunName(text)
  return { run: numberIn(name, String(run)), change: change === 0 ? 0 : numberIn(name, String(change)) }
}

/** Reads the fields of a record, or says which one is wrong. */
class FieldReader {
  readonly #name: string
  readonly #fields: Readonly<Record<string, unknown>>

  constructor(record: EngineRecord | { name: string; fields: unknown }) {
    this.#name = record.name
    let value: unknown
    try {
      value = 'fields' in record ? record.fields : JSON.parse(new TextDecoder().decode(record.value))
    } catch {
      value = null
    }
    if (typeof value !== 'object' || value === null) throw this.fault('JSON')
    this.#fields = value as Readonly<Record<string, unknown>>
  }

  fault(field: string): Fault {
    return new Fault(
      'CLUSTER_REFUSED',
      `record ${this.#name} of the cluster cannot be read (${field}); it was written by another version of Portolan, or by something else`,
    )
  }

  any(field: string): unknown {
    return this.#fields[field]
  }

  text(field: string): string {
    const value = this.#fields[field]
    if (typeof value !== 'string') throw this.fault(field)
    return value
  }

  number(field: string): number {
    const value = this.#fields[field]
    if (typeof value !== 'number' || !Number.isFinite(value)) throw this.fault(field)
    return value
  }

  texts(field: string): string[] {
    const value = this.#fields[field]
    if (!Array.isArray(value) || value.some((one) => typeof one !== 'string')) throw this.fault(field)
    return value as string[]
  }

  list(field: string): FieldReader[] {
    const value = this.#fields[field]
    if (!Array.isArray(value)) throw this.fault(field)
    return value.map((fields: unknown) => new FieldReader({ name: this.#name, fields }))
  }
}
