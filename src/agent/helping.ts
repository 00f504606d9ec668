// Requests for hosts of other agents, in turns that they lend us (src/exchange/borrowed-turns.ts). They count for our pace, as any
// request of ours does; what comes goes back as it came, and is settled where the host is at home.

import { Fault } from '../base/index.ts'
import { headerValue } from '../document/index.ts'
import { ANSWERS_BYTES_MAX, type BorrowedTurn, type LentAnswer } from '../exchange/index.ts'
import { carryAnswer, type FetchOutcome } from '../fetch/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import type { PacedFetcher } from './paced-fetcher.ts'
import { passingTrouble } from './retry-table.ts'

export interface HelpingParts {
  readonly fetcher: PacedFetcher
  /** So many more turns of others are with us. */
  readonly onHelp: (by: 1 | -1) => void
  readonly signal: AbortSignal
  readonly onFault: (fault: Fault) => void
}

/**
 * Asks, one after the other, until something comes after which the owner may want the host to rest: a failure, a wish for another
 * time, something that does not travel. What is not answered is the owner's to ask.
 */
export async function help(
  turn: BorrowedTurn,
  { fetcher, onHelp, signal, onFault }: HelpingParts,
): Promise<LentAnswer[]> {
  const answers: LentAnswer[] = []
  let bytesLeft = ANSWERS_BYTES_MAX
  onHelp(1)
  try {
    const either = AbortSignal.any([turn.signal, signal])
    for (const [i, url] of turn.urls.entries()) {
      if (!turn.mayWrite()) break
      const isLast = i === turn.urls.length - 1
      const { addresses, mayWrite } = turn
      const request = { url, addresses, purpose: 'page', isLast, acceptPartial: false, mayWrite } as const
      const outcome = await fetcher.fetch(request, either)
      const answer = outcome === null ? null : answerOf(url, outcome, Math.min(bytesLeft, ANSWERS_BYTES_MAX / 2))
      if (answer === null) break
      answers.push(answer)
      if (answer.kind === 'skipped') continue
      bytesLeft -= answer.answer.wire.length
      const { status, rawHeaders } = answer.answer
      if (passingTrouble(status) !== null || headerValue(rawHeaders, 'retry-after') !== null) break
    }
  } catch (cause) {
    // What it was about is the owner's to ask, and to see for itself; a fault is ours.
    if (cause instanceof Fault) onFault(cause)
  } finally {
    onHelp(-1)
  }
  return answers
}

/** Null where it does not go back. */
function answerOf(url: CanonicalUrl, outcome: FetchOutcome, bytesMax: number): LentAnswer | null {
  if (outcome.kind === 'failed') return null
  if (outcome.kind === 'skipped') return { kind: 'skipped', url, reason: outcome.reason, detail: outcome.detail }
  const { document } = outcome
  try {
    const answer = outcome.hasNewCookies === true ? null : carryAnswer(document, bytesMax)
    return answer === null ? null : { kind: 'fetched', answer }
  } finally {
    document.release()
  }
}
