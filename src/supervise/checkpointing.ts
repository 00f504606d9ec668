// A copy of a crawl that runs, seen from its node: all agents hold still at once, each copies what is its own.
//
//   node     hold ──▶          copy ──▶                       own files, merged files, the name
//   agents         held ──▶          links made, goes on … copied ──▶
//
// Laws
//   - Nobody goes on before everybody holds: so no share in the copy knows of a batch that another share does not have.
//   - Whatever happens to an agent, the others go on: one that breaks, or does not hold in time, ends the attempt, not the crawl.
//   - What an attempt leaves behind is removed when nobody writes to it any more.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type CheckpointFigures, copySharedCrawl } from '../agent/index.ts'
import { type Clock, Fault } from '../base/index.ts'
import type { FromAgent, ToAgent } from './agent-messages.ts'
import { faultOf } from './plain-fault.ts'

export interface CheckpointingParts {
  readonly dir: string
  /** Of the shares inside the directory, by agent; null where one agent has all of it. */
  readonly names: readonly string[] | null
  readonly clock: Clock
  readonly tell: (agent: number, message: ToAgent) => void
  /** Agents that are not there any more, and will not be again. */
  readonly isDead: (agent: number) => boolean
  readonly holdWithinMs?: number
}

type Answer = Extract<FromAgent, { kind: 'held' | 'copied' }>

/** What somebody waits for: one answer of every agent. */
interface Awaited {
  readonly attempt: number
  readonly kind: Answer['kind']
  readonly answers: Map<number, Answer | Fault>
  readonly settle: () => void
}

/** A commit and the writing of a frontier's store may have to end first. Meanwhile the others commit nothing. */
const HOLD_WITHIN_MS = 60_000

export class Checkpointing {
  readonly #parts: CheckpointingParts
  readonly #agents: readonly number[]
  #attempt = 0
  #awaited: Awaited | null = null
  /** One at a time. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: CheckpointingParts) {
    this.#parts = parts
    this.#agents = parts.names === null ? [0] : [...parts.names.keys()]
  }

  /** `to` must not exist. */
  make(to: string): Promise<CheckpointFigures> {
    const made = this.#last.then(() => this.#make(to))
    this.#last = made.catch(() => {})
    return made
  }

  /** Resolves when no copy is being made, or waits to be. */
  async idle(): Promise<void> {
    await this.#last
  }

  /** Something an agent says to it. */
  hear(agent: number, answer: Answer): void {
    if (answer.attempt === this.#awaited?.attempt) this.#answered(agent, answer.kind, answer)
  }

  /** The thread of an agent is gone. It may be there again soon, but holds and writes nothing any more. */
  lost(agent: number): void {
    const awaited = this.#awaited
    if (awaited === null) return
    // It may have said that it holds: that is over. What it has copied stays copied.
    if (awaited.kind === 'held') awaited.answers.delete(agent)
    this.#answered(agent, awaited.kind, brokeDuring(agent))
  }

  #answered(agent: number, kind: Answer['kind'], answer: Answer | Fault): void {
    const awaited = this.#awaited
    if (awaited === null || awaited.kind !== kind || awaited.answers.has(agent)) return
    awaited.answers.set(agent, answer)
    // Nobody waits for the rest to hold when one does not; all copies must have ended, however they did.
    const isHopeless = kind === 'held' && faultIn(answer) !== null
    if (isHopeless || awaited.answers.size === this.#agents.length) awaited.settle()
  }

  async #make(to: string): Promise<CheckpointFigures> {
    const { dir, names } = this.#parts
    if (names !== null) {
      return await copySharedCrawl({
        dir,
        to,
        copyShares: (partial) => this.#copyAll((agent) => [join(partial, names[agent] as string), partial]),
      })
    }
    try {
      const [figures] = await this.#copyAll(() => [to, to])
      return figures as CheckpointFigures
    } catch (fault) {
      // The agent removes it itself, unless it is what broke.
      await rm(`${to}.partial`, { recursive: true, force: true }).catch(() => {})
      throw fault
    }
  }

  /** `place` says where an agent's share goes, and where its archive. */
  async #copyAll(
    place: (agent: number) => readonly [share: string, crawl: string],
  ): Promise<readonly CheckpointFigures[]> {
    const { clock } = this.#parts
    const attempt = ++this.#attempt
    const fromMs = clock.nowMs()
    try {
      await this.#ask(attempt, 'held', () => ({ kind: 'hold', attempt }), this.#parts.holdWithinMs ?? HOLD_WITHIN_MS)
      const holdingMs = clock.nowMs() - fromMs
      const copied = await this.#ask(attempt, 'copied', (agent) => {
        const [to, crawlTo] = place(agent)
        return { kind: 'copy', attempt, to, crawlTo }
      })
      return copied.map(({ figures }) => {
        const { heldMs, ...counts } = figures as CheckpointFigures
        return { ...counts, heldMs: holdingMs + heldMs }
      })
    } finally {
      // Where all went well there is nothing to let go of.
      for (const agent of this.#agents) this.#parts.tell(agent, { kind: 'release', attempt })
    }
  }

  /** Tells every agent something, and waits for what each says to it. Throws the first fault. */
  async #ask<K extends Answer['kind']>(
    attempt: number,
    kind: K,
    message: (agent: number) => ToAgent,
    withinMs: number | null = null,
  ): Promise<Extract<Answer, { kind: K }>[]> {
    const answers = new Map<number, Answer | Fault>()
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#awaited = { attempt, kind, answers, settle: resolve }
      if (withinMs !== null) timer = setTimeout(resolve, withinMs)
      for (const agent of this.#agents) {
        if (this.#parts.isDead(agent)) this.#answered(agent, kind, brokeDuring(agent))
        else this.#parts.tell(agent, message(agent))
      }
    })
    clearTimeout(timer)
    this.#awaited = null
    for (const answer of answers.values()) {
      const fault = faultIn(answer)
      if (fault !== null) throw fault
    }
    return this.#agents.map((agent) => {
      const answer = answers.get(agent)
      if (answer === undefined) throw heldNot(agent, withinMs ?? 0)
      return answer as Extract<Answer, { kind: K }>
    })
  }
}

function faultIn(answer: Answer | Fault): Error | null {
  if (answer instanceof Fault) return answer
  return answer.fault === null ? null : faultOf(answer.fault)
}

function brokeDuring(agent: number): Fault {
  return new Fault('DISK_FAILED', `agent ${agent} broke while the copy was made; ask again`)
}

function heldNot(agent: number, withinMs: number): Fault {
  return new Fault('DISK_FAILED', `agent ${agent} did not hold still within ${withinMs / 1_000} s; ask again`)
}
