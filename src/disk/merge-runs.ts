import type { RunCursor, SortedRun } from './sorted-run.ts'

/** Entries read between two moments at which control is given away: below half a millisecond. */
const STEP_KEYS = 2 ** 13

/**
 * Goes through some runs as if they were one: keys in ascending order, each once, with the sum of its counts. Yields
 * how many keys were read since it gave control away last.
 *
 * Cursors stand in the order of their keys. One that moved on is put back among the others, most often at once: it is
 * a large run's, and the next key of the others lies further ahead.
 */
export function* mergeRuns(
  runs: readonly SortedRun[],
  visitor: (high: number, low: number, count: number) => void,
): Generator<number> {
  const cursors: RunCursor[] = []
  for (const run of runs) {
    const cursor = run.cursor()
    if (!cursor.next()) continue
    cursors.unshift(cursor)
    sinkFirst(cursors)
  }
  let read = 0
  for (let least = cursors[0]; least !== undefined;) {
    const { high, low } = least
    let count = 0
    do {
      count += least.count
      read++
      if (least.next()) sinkFirst(cursors)
      else cursors.shift()
      least = cursors[0]
    } while (least !== undefined && least.low === low && least.high === high)
    visitor(high, low, count)
    if (read < STEP_KEYS) continue
    yield read
    read = 0
  }
}

/** Brings the first cursor to its place among the others, which are in order. */
function sinkFirst(cursors: RunCursor[]): void {
  const first = cursors[0] as RunCursor
  const { high, low } = first
  let place = 0
  for (; place + 1 < cursors.length; place++) {
    const next = cursors[place + 1] as RunCursor
    if (next.high > high || (next.high === high && next.low >= low)) break
    cursors[place] = next
  }
  cursors[place] = first
}
