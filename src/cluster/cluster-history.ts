// What has happened to a cluster and what was asked of it, as its records tell it: for people. The records are kept as long as the
// crawl; only the last of them are told.

import type { Engine } from '../engine/index.ts'
import { type CrawlChange, decodeRecord, type Heard, type Wish } from './records.ts'

export interface ClusterEvent {
  /** From 1, in the order in which records tell it. */
  readonly number: number
  readonly at: string
  readonly kind: 'node' | 'change' | 'crawl'
  readonly text: string
}

export interface ClusterHistory {
  /** The oldest first. */
  readonly events: readonly ClusterEvent[]
  readonly wishes: readonly (Wish & { readonly number: number })[]
  readonly changes: readonly (CrawlChange & { readonly number: number })[]
}

/** Events that are told; what is older is in the records all the same. */
const EVENTS_MAX = 10_000

export async function clusterHistory(engine: Engine): Promise<ClusterHistory> {
  const heard: { readonly at: string; readonly one: Heard }[] = []
  const wishes: (Wish & { readonly number: number })[] = []
  const changes: (CrawlChange & { readonly number: number })[] = []
  for (const kind of ['join', 'change', 'wish', 'view', 'end']) {
    for (const record of await engine.records.list(kind)) {
      const one = decodeRecord(record)
      if (one === null || one.kind === 'leave') continue
      if (one.kind === 'wish') wishes.push({ ...one.wish, number: one.number })
      if (one.kind === 'change') changes.push({ ...one.change, number: one.number })
      heard.push({ at: momentOf(one), one })
    }
  }
  // By the clocks of whoever wrote them; of one moment in the order in which they are asked for, so that numbers stay.
  const events = heard
    .sort((first, second) => (first.at < second.at ? -1 : first.at > second.at ? 1 : 0))
    .map(({ at, one }, index) => ({ number: index + 1, at, ...describe(one) }))
  return { events: events.slice(-EVENTS_MAX), wishes, changes }
}

type Told = Exclude<Heard, { kind: 'leave' }>

function momentOf(heard: Told): string {
  switch (heard.kind) {
    case 'join':
      return heard.join.at
    case 'wish':
      return heard.wish.at
    case 'view':
      return heard.view.at
    case 'change':
      return heard.change.at
    case 'end':
      return heard.end.at
  }
}

function describe(heard: Heard): Pick<ClusterEvent, 'kind' | 'text'> {
  switch (heard.kind) {
    case 'join': {
      const { node, host, weight, version } = heard.join
      return { kind: 'node', text: `Node ${node} on ${host} wants to take part (weight ${weight}, ${version}).` }
    }
    case 'leave':
      return { kind: 'node', text: `Incarnation ${heard.incarnation} wants to go.` }
    case 'wish':
      return { kind: 'change', text: describeWish(heard.wish) }
    case 'view': {
      const { number, members, because } = heard.view
      const names = members.map(({ node }) => node).join(', ')
      return { kind: 'node', text: `View ${number}: ${names === '' ? 'nobody' : names} (${because}).` }
    }
    case 'change':
      return { kind: 'change', text: describeChange(heard.number, heard.change) }
    case 'end':
      return { kind: 'crawl', text: `Run ${heard.end.run} ended: ${heard.end.reason}.` }
  }
}

/** Who changed what, in a sentence. */
export function describeChange(number: number, { by, seeds, options }: CrawlChange): string {
  const names = Object.entries(options ?? {}).flatMap(([section, own]) =>
    Object.keys(own).map((key) => `${section}.${key}`),
  )
  const what = [
    ...(seeds.length === 0 ? [] : [`${seeds.length} ${seeds.length === 1 ? 'seed is' : 'seeds are'} added`]),
    ...(names.length === 0 ? [] : [`${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} changed`]),
  ]
  return `${by}: ${what.join(', ')} (change ${number}).`
}

/** Who wished what, in a sentence. */
export function describeWish({ kind, node, by, weight, speed, share }: Wish): string {
  switch (kind) {
    case 'drain':
      return `${by}: ${node} gives its shares to the others, and stays.`
    case 'resume':
      return `${by}: ${node} takes shares again.`
    case 'remove':
      return `${by}: ${node} gives its shares to the others, and goes.`
    case 'lost':
      return `${by}: ${node} never comes back; what only it had is fetched again.`
    case 'weight':
      return `${by}: ${node} has weight ${weight}.`
    case 'stop':
      return `${by}: all nodes stop.`
    case 'go':
      return `${by}: the crawl goes on.`
    case 'pause':
      return `${by}: the crawl is paused; nobody is asked for anything.`
    case 'unpause':
      return `${by}: the crawl goes on after its pause.`
    case 'speed': {
      const whom = share != null ? `share ${share}` : (node ?? 'the crawl')
      const limits = Object.entries(speed ?? {}).map(([name, value]) => `${name} ${value ?? 'without limit'}`)
      return `${by}: ${whom} has ${limits.join(', ')}.`
    }
  }
}
