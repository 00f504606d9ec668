// What of a crawl there is to look at, so that nobody is sent to a file that does not exist.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Which of its files the directory of a crawl holds. */
export interface Outputs {
  readonly report: boolean
  readonly pages: boolean
  readonly failures: boolean
  readonly archive: boolean
}

export async function loadOutputs(dir: string): Promise<Outputs> {
  const exists = async (name: string): Promise<boolean> => (await stat(join(dir, name)).catch(() => null)) !== null
  return {
    report: await exists('report.html'),
    pages: await exists('pages.jsonl'),
    failures: await exists('failures.jsonl'),
    archive: await exists('archive'),
  }
}
