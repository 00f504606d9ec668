import { join } from 'node:path'
import { PositionRun } from './position-run.ts'
import type { ContentState } from './run-shelf.ts'

/** Reads every run that a state names from end to end; a fault says what is damaged or missing. */
export async function checkContentRuns(directory: string, state: ContentState): Promise<void> {
  for (const { number, pages, filterBytes } of state.runs) {
    const path = join(directory, `content-${number}.run`)
    const run = await PositionRun.open({ path, number, pages, savedFilterBytes: filterBytes }, filterBytes)
    try {
      const cursor = run.cursor()
      while (cursor.next()) continue
    } finally {
      run.close()
    }
  }
}
