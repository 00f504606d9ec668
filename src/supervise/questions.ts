// Questions that a node has asked its agents, each of which waits for an answer of all.

import { Fault } from '../base/index.ts'
import type { AgentQuestion, AnswerTo } from './agent-questions.ts'
import type { FromAgent } from './agent-messages.ts'
import { faultOf } from './plain-fault.ts'

interface Asked {
  readonly question: AgentQuestion
  readonly answers: Map<number, unknown>
  readonly resolve: (answers: readonly unknown[]) => void
  readonly reject: (fault: unknown) => void
  readonly timer: NodeJS.Timeout
}

/** A preview takes some seconds of a thread that is busy otherwise; an agent that is started again may take as long. */
const ANSWER_WITHIN_MS = 60_000
/** More at once is somebody's mistake. */
const ASKED_MAX = 100

export class Questions {
  readonly #agents: number
  readonly #tell: (agent: number, number: number, question: AgentQuestion) => void
  readonly #asked = new Map<number, Asked>()
  #last = 0
  #isOver = false

  constructor(agents: number, tell: (agent: number, number: number, question: AgentQuestion) => void) {
    this.#agents = agents
    this.#tell = tell
  }

  /** One answer of each agent, by agent. */
  ask<Q extends AgentQuestion>(question: Q): Promise<readonly AnswerTo<Q>[]> {
    if (this.#isOver) return Promise.reject(isEnding())
    if (this.#asked.size >= ASKED_MAX) {
      return Promise.reject(new Fault('CALL_UNANSWERED', `${ASKED_MAX} questions wait already; ask again later`))
    }
    const number = ++this.#last
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#asked.delete(number)
        const seconds = ANSWER_WITHIN_MS / 1_000
        reject(new Fault('CALL_UNANSWERED', `not all agents have answered within ${seconds} s; ask again`))
      }, ANSWER_WITHIN_MS)
      this.#asked.set(number, {
        question,
        answers: new Map(),
        resolve: resolve as (answers: readonly unknown[]) => void,
        reject,
        timer,
      })
      for (let agent = 0; agent < this.#agents; agent++) this.#tell(agent, number, question)
    })
  }

  hear(agent: number, { number, answer, fault }: Extract<FromAgent, { kind: 'answer' }>): void {
    const asked = this.#asked.get(number)
    if (asked === undefined) return
    if (fault !== null) return this.#end(number, () => asked.reject(faultOf(fault)))
    asked.answers.set(agent, answer)
    if (asked.answers.size < this.#agents) return
    const inOrder = Array.from({ length: this.#agents }, (_, one) => asked.answers.get(one))
    this.#end(number, () => asked.resolve(inOrder))
  }

  /** It is back, and knows nothing of what it was asked. */
  isBack(agent: number): void {
    for (const [number, { question, answers }] of this.#asked) {
      if (!answers.has(agent)) this.#tell(agent, number, question)
    }
  }

  /** Nobody answers any more. */
  end(): void {
    this.#isOver = true
    for (const [number, { reject }] of this.#asked) this.#end(number, () => reject(isEnding()))
  }

  #end(number: number, settle: () => void): void {
    clearTimeout(this.#asked.get(number)?.timer)
    this.#asked.delete(number)
    settle()
  }
}

function isEnding(): Fault {
  return new Fault('CALL_UNANSWERED', 'the crawl is ending, or is being opened anew; ask again')
}
