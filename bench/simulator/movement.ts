// What moves as nodes come and go: a long line of views, each one event after the one before.

import { Random } from '../../src/base/index.ts'
import { type PlacedNode, placeShares } from '../../src/placement/index.ts'

export const EVENTS = ['join', 'leave', 'crash', 'drain', 'resume', 'weight'] as const
export type EventKind = (typeof EVENTS)[number]

export interface Movement {
  readonly shares: number
  readonly nodes: number
  readonly events: number
  /** Shares that moved in an event on average: all, those that had to (to or from the node of the event), most of the others in one. */
  readonly moved: number
  readonly needed: number
  readonly othersMost: number
  /** Part of all pages whose share moved in an event. */
  readonly pagesMoved: number
  /** Shares on which somebody who is two events behind differs. */
  readonly twoViewsApart: number
  /** Most shares that a node had, in parts of its part rounded up: never above 1. */
  readonly fullest: number
}

/** `pages` of each share. About `nodes` nodes: whoever leaves too often is followed by joiners. */
export function movement(pages: Float64Array, nodes: number, events: number, kind: string): Movement {
  const random = new Random(`movement ${pages.length} ${nodes} ${kind}`)
  const shares = pages.length
  const allPages = pages.reduce((sum, one) => sum + one, 0)
  let named = 0
  let view: PlacedNode[] = Array.from({ length: nodes }, () => ({ name: `node-${named++}`, weight: 1 }))
  let placed = placeShares(shares, view, kind)
  let before = placed
  const sums = { moved: 0, needed: 0, pages: 0, apart: 0 }
  let othersMost = 0
  let fullest = 0
  for (let event = 0; event < events; event++) {
    const what = eventFor(view, nodes, random)
    const { next, touched } = after(view, what, random, () => `node-${named++}`)
    const now = placeShares(shares, next, kind)
    let others = 0
    for (let share = 0; share < shares; share++) {
      if (now[share] !== before[share]) sums.apart++
      if (now[share] === placed[share]) continue
      sums.moved++
      sums.pages += pages[share] as number
      if (now[share] === touched || placed[share] === touched) sums.needed++
      else others++
    }
    othersMost = Math.max(othersMost, others)
    fullest = Math.max(fullest, fullestOf(now, next))
    before = placed
    placed = now
    view = next
  }
  return {
    shares,
    nodes,
    events,
    moved: sums.moved / events,
    needed: sums.needed / events,
    othersMost,
    pagesMoved: sums.pages / events / allPages,
    twoViewsApart: sums.apart / events,
    fullest,
  }
}

/** Keeps the number of nodes that work near what it was. */
function eventFor(view: readonly PlacedNode[], nodes: number, random: Random): EventKind {
  const working = view.filter(({ weight }) => weight > 0).length
  if (working < Math.max(2, nodes * 0.8)) return view.length > working ? 'resume' : 'join'
  if (working > nodes * 1.2 + 1) return random.pick(['leave', 'crash'] as const)
  return random.pick(EVENTS)
}

function after(
  view: readonly PlacedNode[],
  what: EventKind,
  random: Random,
  newName: () => string,
): { next: PlacedNode[]; touched: string } {
  const working = view.filter(({ weight }) => weight > 0)
  const idle = view.filter(({ weight }) => weight === 0)
  if (what === 'join' || (what === 'resume' && idle.length === 0)) {
    const name = newName()
    return { next: [...view, { name, weight: 1 }], touched: name }
  }
  const { name } = random.pick(what === 'resume' ? idle : working)
  // A crash and a leave are one to the placement; they differ in how long the shares stand still.
  if (what === 'leave' || what === 'crash') return { next: view.filter((node) => node.name !== name), touched: name }
  const changed = (weight: number): number => (what === 'drain' ? 0 : what === 'resume' ? 1 : weight === 1 ? 2 : 1)
  return {
    next: view.map((node) => (node.name === name ? { name, weight: changed(node.weight) } : node)),
    touched: name,
  }
}

function fullestOf(placed: readonly (string | null)[], view: readonly PlacedNode[]): number {
  const sum = view.reduce((total, { weight }) => total + weight, 0)
  const counts = new Map<string | null, number>()
  for (const name of placed) counts.set(name, (counts.get(name) ?? 0) + 1)
  return Math.max(
    ...view
      .filter(({ weight }) => weight > 0)
      .map(({ name, weight }) => (counts.get(name) ?? 0) / Math.ceil((placed.length * weight) / sum - 1e-9)),
  )
}
