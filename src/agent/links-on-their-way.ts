// Links that one agent has found and another owns, and has not taken yet: they stand in the journal of the first, and in nobody's
// figures. Told from the journals alone, whether somebody crawls or not.

import { type ExchangeState, Owners } from '../exchange/index.ts'
import { lookAtIdentity, lookAtJournal, type NumberedBatch } from '../ledger/index.ts'
import { Fingerprinter, slotOf } from '../url/index.ts'
import { keyOf } from './crawl-files.ts'

/** An agent's journal, and its last batch as far as it is known. */
export interface JournalEnd {
  readonly journal: string
  readonly last: NumberedBatch | null
}

/** Some of them may be known to who will get them. */
export async function linksOnTheirWay(agents: readonly JournalEnd[]): Promise<number> {
  const [first] = agents
  const identity = first === undefined || agents.length === 1 ? null : await lookAtIdentity(first.journal)
  if (identity === null) return 0
  const owners = new Owners(0, agents.length)
  const fingerprinter = new Fingerprinter(keyOf(identity))
  const exchangeOf = (agent: number): ExchangeState | null =>
    (agents[agent]?.last?.batch.files['exchange'] as ExchangeState | undefined) ?? null
  let links = 0
  for (const [agent, { journal, last }] of agents.entries()) {
    if (last === null) continue
    const isHeld = (by: number, number: number): boolean =>
      by === agent || (exchangeOf(by)?.holds[agent] ?? 0) >= number
    for await (const { number, batch } of lookAtJournal(journal, exchangeOf(agent)?.settled ?? 0)) {
      for (const { url, isSeed } of batch.abroad) {
        fingerprinter.compute(url)
        // Everybody must hear of a seed.
        const receivers = isSeed ? [...agents.keys()] : [owners.ofSlot(slotOf(fingerprinter.high))]
        if (!receivers.every((receiver) => isHeld(receiver, number))) links++
      }
    }
  }
  return links
}
