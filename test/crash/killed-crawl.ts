// A crawl that is killed again and again, and gone on with by the same command until it is done.
//
//   life 1 ──✂── life 2 ──✂── life 3 ────── done          ✂ SIGKILL, at a moment drawn from a seed:
//
//   opening   while Node starts, files are cut back, the journal is replayed, the first hosts are asked
//   working   after some number of requests and a little more: before, in and after commits
//   closing   a little after Ctrl-C: last batch, checkpoint of the frontier, runs of the seen set, index, report
//
// The seed fixes what is drawn, not what the machine does meanwhile: a fault found so is seldom found again by its seed alone.
// The test web runs in this process: its log says what was asked in each life.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Random, systemClock } from '../../src/base/index.ts'
import type { TestWeb } from '../../testweb/index.ts'
import { type Finished, startPortolan } from '../cli/portolan.ts'
import { type CommittedState, readCommitted, readShown } from './committed-state.ts'

export const MOMENTS = ['opening', 'working', 'closing'] as const
export type Moment = (typeof MOMENTS)[number]

/** One process, from its start to its end. */
export interface Life {
  readonly moment: Moment
  readonly wasKilled: boolean
  /** Its requests in the server's log. */
  readonly from: number
  readonly to: number
  /** When its end was known, by the server's clock. */
  readonly endedAtMs: number
  /** By agent. Before the first batch nobody knows how many there will be. */
  readonly before: readonly CommittedState[]
  readonly after: readonly CommittedState[]
  /** Pages that all agents show together at its end; null where there is one agent. */
  readonly shown: readonly string[] | null
}

export interface KilledCrawl {
  readonly lives: readonly Life[]
  /** What the last process printed. */
  readonly summary: Readonly<Record<string, unknown>>
}

export interface KillingPlan {
  readonly web: TestWeb
  /** The whole command after `portolan`, the directory included. */
  readonly command: readonly string[]
  readonly dir: string
  readonly random: Random
  /** After so many kills it is let live. */
  readonly killsMax: number
  /** Requests a life may make before it is killed, at most. */
  readonly requestsPerLife: number
}

const DONE = new Set(['finished', 'max-pages'])
/** Longest pause between the number of requests that was drawn and the kill: two ticks of the journal. */
const WORKING_MS = 200
/** A process that was told to stop takes about as long to close. */
const CLOSING_MS = 400
/** Until the first request of the first life is known. */
const OPENING_MS = 500
/** More lives than this is a crawl that does not get on. */
const STOPS_MAX = 50

export async function killAgainAndAgain(plan: KillingPlan): Promise<KilledCrawl> {
  const { web, random, killsMax, dir } = plan
  const lives: Life[] = []
  let kills = 0
  let openingMs = OPENING_MS
  let after = await readCommitted(dir)
  while (lives.length < killsMax + STOPS_MAX) {
    // The first life is to do something, or the second has nothing to go on with.
    const moment = lives.length === 0 ? 'working' : random.pick(MOMENTS)
    const from = web.log.length
    const startMs = systemClock.nowMs()
    const { child, finished } = startPortolan(plan.command)
    let ended: Finished | null = null
    void finished.then((result) => (ended = result))
    const isOver = (): boolean => ended !== null
    if (kills < killsMax) {
      await reach(moment, plan, from, openingMs, isOver, () => child.kill('SIGINT'))
      child.kill('SIGKILL')
    }
    const result = await finished
    await readEverythingSent()
    const endedAtMs = systemClock.nowMs()
    const wasKilled = result.signal === 'SIGKILL'
    if (wasKilled) kills++
    const before = after
    after = await readCommitted(dir)
    const shown = await readShown(dir)
    lives.push({ moment, wasKilled, from, to: web.log.length, endedAtMs, before, after, shown })
    if (lives.length === 1 && web.log.length > from) openingMs = web.log.at(from).startMs - startMs
    const summary = wasKilled ? null : summaryOf(result)
    if (summary !== null && DONE.has(String(summary['stoppedBecause']))) return { lives, summary }
  }
  throw new Error(`not done after ${lives.length} lives`)
}

/** Resolves when the moment to kill has come, or the process is over. */
async function reach(
  moment: Moment,
  { web, random, requestsPerLife }: KillingPlan,
  from: number,
  openingMs: number,
  isOver: () => boolean,
  interrupt: () => void,
): Promise<void> {
  if (moment === 'opening') return sleep(random.fraction() * openingMs * 1.2)
  const requests = 1 + random.below(requestsPerLife)
  const pauseMs = random.fraction() * (moment === 'working' ? WORKING_MS : CLOSING_MS)
  while (web.log.length < from + requests && !isOver()) await sleep(2)
  if (moment === 'closing') interrupt()
  return sleep(pauseMs)
}

/**
 * A process that is gone may have sent what the server has not read: the kernel has it, and a server in this process reads all
 * of it within a few rounds of the event loop (a connection is accepted in one, read in the next).
 */
async function readEverythingSent(): Promise<void> {
  for (let round = 0; round < 10; round++) await new Promise((resolve) => void setImmediate(resolve))
}

/** Whatever was done to it, a process that ends by itself ends well. */
function summaryOf({ code, stdout, stderr }: Finished): Readonly<Record<string, unknown>> {
  if (code !== 0 && code !== 3) throw new Error(`a process that was not killed ended with ${code}: ${stdout}${stderr}`)
  return JSON.parse(stdout) as Readonly<Record<string, unknown>>
}
