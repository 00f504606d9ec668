// A share that is gone. All journals of a crawl are begun before its layout is written, so one that is not there was lost; begun
// anew it would know nothing of what it had fetched, and the others would believe that it knows what they told it.

import { join } from 'node:path'
import { Fault } from '../base/index.ts'
import { journalBegun, lookAtLastBatch } from '../ledger/index.ts'

/** Names of the shares that have no journal; none where no agent has done anything yet: then nothing is lost. */
export async function missingShares(dir: string, names: readonly string[]): Promise<readonly string[]> {
  const missing: string[] = []
  for (const name of names) if (!(await journalBegun(join(dir, name, 'state/journal')))) missing.push(name)
  if (missing.length === 0) return missing
  for (const name of names) {
    if (!missing.includes(name) && (await lookAtLastBatch(join(dir, name, 'state/journal'))) !== null) return missing
  }
  return []
}

/** Throws before anything is touched. */
export async function refuseMissingShares(dir: string, names: readonly string[]): Promise<void> {
  const [lost] = await missingShares(dir, names)
  if (lost === undefined) return
  throw new Fault(
    'LEDGER_CORRUPT',
    `${join(dir, lost)} is gone: the crawl has lost what one of its ${names.length} agents knew. Nothing was changed; put it back from a copy of the same moment, or go on from a checkpoint (\`portolan repair ${dir}\` names them)`,
  )
}
