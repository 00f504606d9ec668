// Questions to single agents of a node of a cluster, each of which waits for its answer. Agents come and go here: one whose thread ends
// answers no more, and whoever asked decides what that means.

import { Fault } from '../base/index.ts'
import type { FromAgent, ToAgent } from './agent-messages.ts'
import type { AgentQuestion, AnswerTo } from './agent-questions.ts'
import { faultOf } from './plain-fault.ts'

interface Asked {
  readonly share: number
  readonly resolve: (answer: unknown) => void
  readonly reject: (fault: unknown) => void
  readonly timer: NodeJS.Timeout
}

/** More at once is somebody's mistake. */
const ASKED_MAX = 1_000
const ANSWER_WITHIN_MS = 60_000

export class ShareQuestions {
  readonly #tell: (share: number, message: ToAgent) => void
  readonly #asked = new Map<number, Asked>()
  #last = 0

  constructor(tell: (share: number, message: ToAgent) => void) {
    this.#tell = tell
  }

  ask<Q extends AgentQuestion>(share: number, question: Q, withinMs = ANSWER_WITHIN_MS): Promise<AnswerTo<Q>> {
    if (this.#asked.size >= ASKED_MAX) {
      return Promise.reject(new Fault('CALL_UNANSWERED', `${ASKED_MAX} questions wait already; ask again later`))
    }
    const number = ++this.#last
    return new Promise((resolve, reject) => {
      const late = (): void => {
        this.#asked.delete(number)
        reject(new Fault('CALL_UNANSWERED', `share ${share} has not answered within ${withinMs / 1_000} s`))
      }
      const timer = setTimeout(late, withinMs)
      this.#asked.set(number, { share, resolve: resolve as (answer: unknown) => void, reject, timer })
      this.#tell(share, { kind: 'ask', number, question })
    })
  }

  hear({ number, answer, fault }: Extract<FromAgent, { kind: 'answer' }>): void {
    const asked = this.#take(number)
    if (fault === null) asked?.resolve(answer)
    else asked?.reject(faultOf(fault))
  }

  /** Its thread is gone, and with it what it was asked. */
  ended(share: number): void {
    for (const [number, asked] of this.#asked) {
      if (asked.share !== share) continue
      this.#take(number)?.reject(
        new Fault('CALL_UNANSWERED', `share ${share} is being opened anew, or moves; ask again`),
      )
    }
  }

  #take(number: number): Asked | undefined {
    const asked = this.#asked.get(number)
    this.#asked.delete(number)
    clearTimeout(asked?.timer)
    return asked
  }
}
