// A mark in the directory of a share while turns of its hosts may be with other agents. Whoever has the share next in this place, or
// releases it, waits for them first; whoever takes it over elsewhere, over a node that died, has waited for its lease, which no turn
// outlives (docs/decisions/0043).

import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RENEWAL_MS } from '../exchange/index.ts'

const LENT_MARK = 'state/lent-turns'

export function markLent(dir: string): void {
  writeFileSync(join(dir, LENT_MARK), '')
}

export function unmarkLent(dir: string): void {
  rmSync(join(dir, LENT_MARK), { force: true })
}

/** Resolves when no turn is out any more that a life lent which is over now. Mostly at once. */
export async function lentAreBack(dir: string): Promise<void> {
  if (!existsSync(join(dir, LENT_MARK))) return
  await new Promise((resolve) => setTimeout(resolve, RENEWAL_MS))
  unmarkLent(dir)
}
