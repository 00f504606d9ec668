// A directory without a journal, but with what only a crawl leaves behind: opened as a new crawl it would be overwritten.

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '../base/index.ts'
import { journalBegun } from '../ledger/index.ts'

const PARTS = ['state/frontier', 'state/seen', 'state/contents']
const OUTPUTS = ['pages.jsonl', 'failures.jsonl', 'crawl.json', 'archive/index.cdxj']

/** Throws before anything is touched. */
export async function refuseRemains(dir: string): Promise<void> {
  if (await journalBegun(join(dir, 'state/journal'))) return
  for (const part of PARTS) {
    const names = await readdir(join(dir, part)).catch(() => [])
    if (names.length === 0) continue
    throw new Fault(
      'LEDGER_CORRUPT',
      `${join(dir, 'state/journal')} is gone, but ${part} is there: this is a crawl that has lost its journal. Nothing was changed; restore the directory from a checkpoint or a copy, or crawl into another one`,
    )
  }
  for (const output of OUTPUTS) {
    const found = await stat(join(dir, output)).catch(() => null)
    if (found === null || found.size === 0) continue
    throw new Fault(
      'CONFIG_INVALID',
      `${dir} has ${output}, but no crawl to go on with, and a new one would overwrite it; crawl into another directory, or move the files away`,
    )
  }
}
