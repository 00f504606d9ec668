// Lists of several nodes as one. Each node gives its part in order and a mark where the next part begins; what is shown is merged by the
// same order, and the mark of the whole says of each node where its part began and how much of it was shown.
//
//   a: 9 7 4 │ 2 …      merged, 4 at a time: 9 8 7 6      next: a from its start without 2, b from its start without 2
//   b: 8 6 5 │ 1 …                           5 4 …
//
// A part may be shorter than asked for (an answer of a node is bounded in bytes): then the merged part ends where it does.

export interface PartOfList<T> {
  readonly items: readonly T[]
  readonly next: string | null
  readonly total: number | null
  /** How far what it was found in is read; left out where it needs no reading. */
  readonly readShare?: number
}

export interface MergedList<T> extends PartOfList<T> {
  /** The least of all; of one that does not answer nothing is known. */
  readonly readShare: number
}

/** Where a node's list goes on: a mark of its own, null for the beginning; and what of that part was shown already. */
interface NodeMark {
  readonly after: string | null
  readonly skip: number
}

type Marks = Readonly<Record<string, NodeMark | 'end'>>

export interface MergePlan<T> {
  readonly nodes: readonly string[]
  readonly limit: number
  /** What was given as `next`; undefined: from the beginning. */
  readonly after: string | undefined
  /** Null: the node does not answer; what it has is not shown this time. */
  readonly ask: (node: string, after: string | null) => Promise<PartOfList<T> | null>
  /** Below 0 where the first comes first. */
  readonly compare: (first: T, second: T) => number
  /** Of two nodes' items that are about one thing, one is shown. */
  readonly keyOf?: (item: T) => string
}

/** Nodes asked at once. */
const ASKED_AT_ONCE = 16

export async function mergeLists<T>(plan: MergePlan<T>): Promise<MergedList<T>> {
  const marks = readMarks(plan.after)
  const parts: Part<T>[] = []
  for (let from = 0; from < plan.nodes.length; from += ASKED_AT_ONCE) {
    const some = plan.nodes.slice(from, from + ASKED_AT_ONCE).map((node) => loadPart(plan, node, marks[node]))
    parts.push(...(await Promise.all(some)).flatMap((part) => (part === null ? [] : [part])))
  }
  const items: T[] = []
  const shown = new Set<string>()
  while (items.length < plan.limit) {
    const first = firstOf(parts, plan.compare)
    if (first === null) break
    const item = first.items[first.at++] as T
    const key = plan.keyOf?.(item)
    if (key !== undefined && shown.has(key)) continue
    if (key !== undefined) shown.add(key)
    items.push(item)
  }
  const next: Record<string, NodeMark | 'end'> = {}
  for (const part of parts) next[part.node] = markOf(part)
  // Who did not answer goes on where it was.
  for (const node of plan.nodes) next[node] ??= marks[node] ?? { after: null, skip: 0 }
  const totals = parts.map(({ total }) => total)
  const isAtEnd = parts.every((part) => markOf(part) === 'end')
  return {
    items,
    next: isAtEnd ? null : Buffer.from(JSON.stringify(next)).toString('base64url'),
    total: totals.includes(null) ? null : totals.reduce((sum: number, total) => sum + (total ?? 0), 0),
    readShare: parts.length < plan.nodes.length ? 0 : Math.min(1, ...parts.map(({ readShare = 1 }) => readShare)),
  }
}

interface Part<T> extends PartOfList<T> {
  readonly node: string
  readonly after: string | null
  /** The next to be shown. */
  at: number
}

async function loadPart<T>(
  plan: MergePlan<T>,
  node: string,
  mark: NodeMark | 'end' | undefined,
): Promise<Part<T> | null> {
  if (mark === 'end') return { node, items: [], next: null, total: null, after: null, at: 0 }
  let { after, skip } = mark ?? { after: null, skip: 0 }
  for (;;) {
    const part = await plan.ask(node, after)
    if (part === null) return null
    // Shorter than it was: what was shown of it reaches into the next.
    if (skip < part.items.length || part.next === null) {
      return { ...part, node, after, at: Math.min(skip, part.items.length) }
    }
    skip -= part.items.length
    after = part.next
  }
}

/** Null at the end, and where a part has ended behind which more may come that belongs first. */
function firstOf<T>(parts: readonly Part<T>[], compare: MergePlan<T>['compare']): Part<T> | null {
  let best: Part<T> | null = null
  for (const part of parts) {
    if (part.at >= part.items.length) {
      if (part.next !== null) return null
      continue
    }
    if (best === null || compare(part.items[part.at] as T, best.items[best.at] as T) < 0) best = part
  }
  return best
}

function markOf<T>({ items, at, next, after }: Part<T>): NodeMark | 'end' {
  if (at < items.length) return { after, skip: at }
  return next === null ? 'end' : { after: next, skip: 0 }
}

/** A mark that is none begins anew: it comes from outside. */
function readMarks(text: string | undefined): Marks {
  if (text === undefined) return {}
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    if (typeof value !== 'object' || value === null) return {}
    return Object.fromEntries(Object.entries(value).filter(([, mark]) => isMark(mark)))
  } catch {
    return {}
  }
}

function isMark(value: unknown): value is NodeMark | 'end' {
  if (value === 'end') return true
  if (typeof value !== 'object' || value === null) return false
  const { after, skip } = value as Partial<NodeMark>
  return (after === null || typeof after === 'string') && Number.isSafeInteger(skip) && (skip as number) >= 0
}

/** What tells most comes first. Every share knows every seed, so that one waits is also said by those who never fetch it. */
const SAID = ['page', 'failed', 'skipped', 'refused', 'waiting', 'never-met']

/** What several say of one URL: whoever is done with it knows. */
export function mostSaid<T extends Readonly<Record<string, unknown>>>(answers: readonly T[]): T | null {
  for (const state of SAID) {
    const found = answers.find((answer) => answer['state'] === state)
    if (found !== undefined) return found
  }
  return answers[0] ?? null
}
