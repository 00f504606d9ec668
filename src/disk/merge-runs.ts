import type { RunCursor, SortedRun } from './sorted-run.ts'

/** Entries read between two moments at which control is given away: below half a millisecond. */
const STEP_KEYS = 2 ** 13

/**
 * Goes through some runs as if they were one: keys in ascending order, each once, with the sum of its counts. Yields
 * how many keys were read since it gave control away last.
 */
export function* mergeRuns(
  runs: readonly SortedRun[],
  visitor: (high: number, low: number, count: number) => void,
): Generator<number> {
  const cursors = runs.map((run) => run.cursor()).filter((cursor) => cursor.next())
  let read = 0
  while (cursors.length > 0) {
    const least = leastOf(cursors)
    const { high, low } = least
    let count = 0
    // From the end, because a cursor at its end is taken out.
    for (let i = cursors.length - 1; i >= 0; i--) {
      const cursor = cursors[i] as RunCursor
      if (cursor.high !== high || cursor.low !== low) continue
      count += cursor.count
      read++
      if (!cursor.next()) cursors.splice(i, 1)
    }
    visitor(high, low, count)
    if (read < STEP_KEYS) continue
    yield read
    read = 0
  }
}

function leastOf(cursors: readonly RunCursor[]): RunCursor {
  let least = cursors[0] as RunCursor
  for (let i = 1; i < cursors.length; i++) {
    const cursor = cursors[i] as RunCursor
    if (cursor.high < least.high || (cursor.high === least.high && cursor.low < least.low)) least = cursor
  }
  return least
}
