// What somebody who looks at a running crawl, or steers it, asks of its agents, and how each answers. Plain data: it crosses threads.
//
//   node    ask ──▶                      answers of all, joined by whoever asked
//   agents       answer ──▶
//
// An agent that dies before it has answered is asked again when it is back: every question may be asked twice.

import { setTimeout as sleep } from 'node:timers/promises'
import type { AdmittedSeeds, Crawl, ScopePreview } from '../agent/index.ts'
import { Fault, systemClock } from '../base/index.ts'
import type { HostState } from '../frontier/index.ts'
import type { CanonicalUrl, HostKey, UrlOptions } from '../url/index.ts'
import type { PlainFault } from './agent-messages.ts'
import { faultOf } from './plain-fault.ts'

export type AgentQuestion =
  | { readonly ask: 'seeds'; readonly seeds: readonly CanonicalUrl[] }
  | { readonly ask: 'preview'; readonly url: UrlOptions }
  /** States of these hosts, of those that the agent knows. */
  | { readonly ask: 'hosts'; readonly hosts: readonly string[] }
  /** The hosts with most waiting, of those whose names have this text in them. */
  | { readonly ask: 'waiting'; readonly limit: number; readonly text: string }
  | { readonly ask: 'trace'; readonly url: string }

/** A host as its agent knows it; times as what is left, for threads have clocks of their own. */
export interface HostStanding extends Pick<HostState, 'host' | 'waiting' | 'state' | 'address' | 'leastRestMs'> {
  /** What is left of its rest; 0 where it does not rest. */
  readonly restMs: number
}

export interface WaitingHosts {
  readonly hosts: readonly { readonly host: string; readonly waiting: number }[]
  /** Hosts with something waiting, as far as it was looked. */
  readonly count: number
  readonly isComplete: boolean
}

export interface AgentAnswers {
  readonly seeds: AdmittedSeeds
  readonly preview: ScopePreview
  readonly hosts: readonly HostStanding[]
  readonly waiting: WaitingHosts
  readonly trace: null
}

export type AnswerTo<Q extends AgentQuestion> = AgentAnswers[Q['ask']]

const HOSTS_STEP = 500
const HOSTS_OWN_MS_MAX = 1_000

/** On the agent's thread. */
export async function answerQuestion(crawl: Crawl, question: AgentQuestion): Promise<AgentAnswers[keyof AgentAnswers]> {
  switch (question.ask) {
    case 'seeds':
      return crawl.addSeeds(question.seeds)
    case 'preview':
      return crawl.previewScope(question.url)
    case 'hosts':
      return standingsOf(crawl, question.hosts)
    case 'waiting':
      return mostWaiting(crawl, question.limit, question.text)
    case 'trace':
      crawl.trace(question.url)
      return null
  }
}

async function standingsOf(crawl: Crawl, hosts: readonly string[]): Promise<HostStanding[]> {
  const standings: HostStanding[] = []
  for (const name of hosts) {
    const state = await crawl.hostState(name as HostKey)
    if (state === null) continue
    const { host, waiting, state: word, restUntilMs, leastRestMs, address } = state
    const restMs = word === 'resting' ? Math.max(0, restUntilMs - systemClock.nowMs()) : 0
    standings.push({ host, waiting, state: word, restMs, leastRestMs, address })
  }
  return standings
}

/** Bounded in time; keeps no more than twice what is asked for. */
async function mostWaiting(crawl: Crawl, limit: number, text: string): Promise<WaitingHosts> {
  let kept: { readonly host: string; readonly waiting: number }[] = []
  const sort = (): void => {
    kept.sort((one, two) => two.waiting - one.waiting || (one.host < two.host ? -1 : 1))
    kept = kept.slice(0, limit)
  }
  let count = 0
  let ownMs = 0
  let isComplete = true
  let stepMs = systemClock.nowMs()
  for await (const one of crawl.waitingHosts()) {
    if (text !== '' && !one.host.includes(text)) continue
    count++
    kept.push(one)
    if (kept.length >= 2 * limit) sort()
    if (count % HOSTS_STEP !== 0) continue
    const tookMs = systemClock.nowMs() - stepMs
    ownMs += tookMs
    if (ownMs > HOSTS_OWN_MS_MAX) {
      isComplete = false
      break
    }
    await sleep(tookMs)
    stepMs = systemClock.nowMs()
  }
  sort()
  return { hosts: kept, count, isComplete }
}

export type AnswerMessage = {
  readonly kind: 'answer'
  readonly number: number
  readonly answer: AgentAnswers[keyof AgentAnswers] | null
  readonly fault: PlainFault | null
}

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

/** The node's side: questions that wait for answers of all agents. */
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

  hear(agent: number, { number, answer, fault }: AnswerMessage): void {
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
