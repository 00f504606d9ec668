import type { PositionCursor, PositionRun } from './position-run.ts'

/** Pages shown between two moments at which control is given away: some milliseconds. */
const STEP_PAGES = 2 ** 12

/** Goes through some runs as if they were one, and yields how many pages it has shown since it gave control away last. */
export function* mergeRuns(
  runs: readonly PositionRun[],
  visitor: (high: number, low: number, position: number) => void,
): Generator<number> {
  const cursors = runs.map((run) => run.cursor()).filter((cursor) => cursor.next())
  let shown = 0
  while (cursors.length > 0) {
    const least = leastOf(cursors)
    visitor(least.high, least.low, least.position)
    if (!least.next()) cursors.splice(cursors.indexOf(least), 1)
    if (++shown < STEP_PAGES) continue
    yield shown
    shown = 0
  }
}

function leastOf(cursors: readonly PositionCursor[]): PositionCursor {
  let least = cursors[0] as PositionCursor
  for (let i = 1; i < cursors.length; i++) {
    const cursor = cursors[i] as PositionCursor
    if (cursor.high < least.high || (cursor.high === least.high && cursor.low < least.low)) least = cursor
  }
  return least
}
