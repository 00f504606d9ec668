// Pages that stand in all of several lists, the newest first, at a bounded cost.
//
// Each list is asked for its highest number up to a target; the lowest of the answers is the next target, and what all answer with is
// a page that was found. Where two long lists have little in common that may go on for long: when the work is spent the search ends
// with what it has, and says where it goes on.

import type { ListCursor, Work } from './list-cursor.ts'

export interface Part<T> {
  readonly items: T[]
  /** The following part is of pages below this; null where there are none. */
  readonly below: number | null
}

/**
 * `take` makes an item of a page, or null where it is none of those that are meant, which may be only where the lists are not sure.
 */
export function search<T>(
  cursors: readonly ListCursor[],
  from: number,
  limit: number,
  work: Work,
  take: (id: number, isSure: boolean) => T | null,
): Part<T> {
  const items: T[] = []
  let target = from
  let lowest = from + 1
  while (target > 0) {
    // Only once something is done: a part never ends where it began.
    if (work.isSpent && target < from) return { items, below: target + 1 }
    const found = lowestOf(cursors, target)
    if (found === 0) return { items, below: null }
    if (found < target) {
      target = found
      continue
    }
    if (items.length === limit) return { items, below: lowest }
    const isSure = cursors.every((cursor) => cursor.isSure)
    const item = take(found, isSure)
    work.read()
    if (item !== null) {
      items.push(item)
      lowest = found
    }
    target = found - 1
  }
  return { items, below: null }
}

/** `target` where all have it; else something below that none of them has anything above; 0 at the end of any. */
function lowestOf(cursors: readonly ListCursor[], target: number): number {
  for (const cursor of cursors) {
    const found = cursor.seek(target)
    if (found < target) return found
  }
  return target
}
