// What of a crawl there is to look at, so that nobody is sent to a file that does not exist.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'

export interface Outputs {
  readonly hasReport: boolean
  /** Names inside the directory of the crawl; directories end with a slash. */
  readonly files: readonly string[]
}

/** What a crawl leaves when it ends well. */
export const ALL_FILES: readonly string[] = ['pages.jsonl', 'failures.jsonl', 'archive/']

export async function loadOutputs(dir: string): Promise<Outputs> {
  const exists = async (name: string): Promise<boolean> => (await stat(join(dir, name)).catch(() => null)) !== null
  const files: string[] = []
  for (const name of ALL_FILES) if (await exists(name)) files.push(name)
  return { hasReport: await exists('report.html'), files }
}
