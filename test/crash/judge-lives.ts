// What the server's log has against a crawl that was killed: pages asked for again, hosts asked too soon.
//
// What a kill may cost. T is when the last batch that counts was taken. A page whose answer came to nothing was settled after T or
// never, so at T it was being fetched or was not yet asked for:
//
//   answered and not in a batch  ≤  hosts being asked at T (connections)  +  requests begun since T
//
// The log has another clock than the batches, but a page of batch b was asked for before b was taken, and batches say how long
// after one another they were taken: T ≥ start of any page of b + time from b to the last batch. The latest of these is used,
// so the bound errs only to where it is larger, by milliseconds.
//
// Each agent has batches of its own: the bound is made for each, of the hosts that it asks, and added up.

import { type CommittedState, NOTHING } from './committed-state.ts'
import type { Life } from './killed-crawl.ts'
import { checkPoliteness, type LoggedRequest, type TestWeb } from '../../testweb/index.ts'

type Logged = Pick<TestWeb, 'log'>

export interface LivesRules {
  readonly delayMs: number
  /** Hosts that can be asked at once: hosts of the web, or --connections. */
  readonly atOnce: number
  /** What every 429 of the web asks for; null where it has none. */
  readonly retryAfterMs: number | null
}

/** What one kill cost. */
export interface KillFigures {
  readonly moment: Life['moment']
  readonly requests: number
  readonly batches: number
  /** Answers that were in no batch, and are asked for again. */
  readonly lost: number
  readonly bound: number
  /** From the last batch to the last request; null without a batch that has pages. */
  readonly sinceBatchMs: number | null
}

export interface LivesVerdict {
  readonly problems: readonly string[]
  readonly kills: readonly KillFigures[]
  /** Rests a server asked for in an answer that was in no batch. */
  readonly restsLost: number
}

/** Answers that are no page (yet): the connection broke, or the server asked to come again. */
const NOT_FINAL: ReadonlySet<number> = new Set([0, 429, 502, 503])

export function judgeLives(web: Logged, lives: readonly Life[], rules: LivesRules): LivesVerdict {
  const problems: string[] = []
  const kills: KillFigures[] = []
  const agentOf = agentsByHost(lives)
  for (const life of lives) {
    const settled = new Set(life.after.flatMap(({ pages, failures }) => [...pages, ...failures]).map(keyOfUrl))
    for (const request of web.log.requests(life.to)) {
      if (settled.has(keyOf(request))) problems.push(`${keyOf(request)} was asked for after a batch had its verdict`)
    }
    for (const [agent, { pages }] of life.before.entries()) {
      if (!isPrefix(pages, (life.after[agent] ?? NOTHING).pages)) problems.push('a page that was in a batch is gone')
    }
    problems.push(...judgeShown(life))
    if (!life.wasKilled) continue
    const figures = costOf(web, life, settled, rules.atOnce, agentOf)
    kills.push(figures)
    if (figures.lost > figures.bound)
      problems.push(`a kill lost ${figures.lost} answers, at most ${figures.bound} may be`)
  }
  const requests = endedRequests(web, lives)
  for (const { message } of checkPoliteness(requests.flat(), { delayMs: rules.delayMs })) problems.push(message)
  const restsLost =
    rules.retryAfterMs === null ? 0 : judgeRests(lives, requests, rules.retryAfterMs, (what) => problems.push(what))
  return { problems, kills, restsLost }
}

function costOf(
  web: Logged,
  life: Life,
  settled: ReadonlySet<string>,
  atOnce: number,
  agentOf: ReadonlyMap<string, number>,
): KillFigures {
  const started = new Map<string, number>()
  const lost = new Set<string>()
  const asked: LoggedRequest[] = []
  for (let i = life.from; i < life.to; i++) {
    const request = web.log.at(i)
    asked.push(request)
    if (request.path === '/robots.txt') continue
    started.set(keyOf(request), request.startMs)
    if (!NOT_FINAL.has(request.status) && !settled.has(keyOf(request))) lost.add(keyOf(request))
  }
  let bound = 0
  let batches = 0
  let takenLastMs = Number.NEGATIVE_INFINITY
  for (const [agent, after] of life.after.entries()) {
    const own = after.batches.filter(({ number }) => number > (life.before[agent] ?? NOTHING).lastNumber)
    const takenMs = lastTakenMs(own, started)
    takenLastMs = Math.max(takenLastMs, takenMs)
    batches += own.length
    // Of a host that came to nothing in all lives nobody knows whose it is: it counts with the first.
    const requests = asked.filter(({ host }) => (agentOf.get(host) ?? 0) === agent)
    const hosts = Math.min(atOnce, new Set(requests.map(({ host }) => host)).size)
    bound += Math.min(requests.length, hosts + requests.filter(({ startMs }) => startMs >= takenMs).length)
  }
  return {
    moment: life.moment,
    requests: asked.length,
    batches,
    lost: lost.size,
    bound,
    sinceBatchMs: Number.isFinite(takenLastMs) ? Math.max(0, (asked.at(-1)?.startMs ?? 0) - takenLastMs) : null,
  }
}

/** No earlier than this the last of these batches was taken, by the server's clock; −∞ where nothing says. */
function lastTakenMs(batches: CommittedState['batches'], started: ReadonlyMap<string, number>): number {
  const lastAtMs = batches.at(-1)?.atMs ?? 0
  let takenMs = Number.NEGATIVE_INFINITY
  for (const { pages, atMs } of batches) {
    for (const url of pages) takenMs = Math.max(takenMs, (started.get(keyOfUrl(url)) ?? -Infinity) + lastAtMs - atMs)
  }
  return takenMs
}

/** Which agent asks a host: the one that has verdicts on its URLs. */
function agentsByHost(lives: readonly Life[]): ReadonlyMap<string, number> {
  const agents = new Map<string, number>()
  for (const [agent, { pages, failures }] of (lives.at(-1)?.after ?? []).entries()) {
    for (const url of [...pages, ...failures]) agents.set(new URL(url).hostname, agent)
  }
  return agents
}

/** What all agents show together is what they have committed, each page once, or a part of it. */
function judgeShown({ shown, after, wasKilled }: Life): string[] {
  if (shown === null) return []
  const problems: string[] = []
  const committed = new Set(after.flatMap(({ pages }) => pages))
  const ahead = shown.filter((url) => !committed.has(url))
  if (ahead.length > 0) problems.push(`pages.jsonl shows what is in no batch: ${ahead[0]}`)
  if (new Set(shown).size < shown.length) problems.push('pages.jsonl shows a page twice')
  if (!wasKilled && shown.length < committed.size)
    problems.push('pages.jsonl lacks pages, after a process that ended well')
  return problems
}

/** The requests of each life. One that was never answered ended with the process that had asked. */
function endedRequests(web: Logged, lives: readonly Life[]): LoggedRequest[][] {
  return lives.map(({ from, to, endedAtMs }) =>
    Array.from({ length: to - from }, (_, i) => {
      const request = web.log.at(from + i)
      return Number.isFinite(request.endMs) ? request : { ...request, endMs: Math.max(request.startMs, endedAtMs) }
    }),
  )
}

/** A rest that is in a batch is kept whole, by whatever process comes next. Returns how many were in none. */
function judgeRests(
  lives: readonly Life[],
  requests: readonly LoggedRequest[][],
  restMs: number,
  complain: (what: string) => void,
): number {
  let lost = 0
  /** By host: when the last answer that asked for a rest had ended. */
  const restsFrom = new Map<string, number>()
  for (const [i, life] of lives.entries()) {
    const asked = new Map<string, number>()
    for (const { host, status, startMs, endMs } of requests[i] ?? []) {
      const fromMs = restsFrom.get(host)
      if (fromMs !== undefined && startMs - fromMs < restMs) {
        complain(`${host} asked for a rest of ${restMs} ms and had ${Math.round(startMs - fromMs)} in life ${i + 1}`)
      }
      restsFrom.delete(host)
      if (status !== 429) continue
      restsFrom.set(host, endMs)
      asked.set(host, (asked.get(host) ?? 0) + 1)
    }
    for (const [agent, { batches }] of life.after.entries()) {
      for (const { number, rests } of batches) {
        if (number <= (life.before[agent] ?? NOTHING).lastNumber) continue
        for (const { host } of rests) asked.set(host, (asked.get(host) ?? 0) - 1)
      }
    }
    for (const [host, count] of asked) {
      if (count <= 0) continue
      if (!life.wasKilled) complain(`${host} asked for a rest and no batch of a process that ended well has it`)
      restsFrom.delete(host)
      lost += count
    }
  }
  return lost
}

function isPrefix(before: readonly string[], after: readonly string[]): boolean {
  return before.every((url, i) => after[i] === url)
}

export function keyOfUrl(url: string): string {
  const { hostname, pathname, search } = new URL(url)
  return hostname + pathname + search
}

function keyOf({ host, path }: LoggedRequest): string {
  return host + path
}
