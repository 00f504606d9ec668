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
  for (const life of lives) {
    const settled = new Set([...life.after.pages, ...life.after.failures].map(keyOfUrl))
    for (const request of web.log.requests(life.to)) {
      if (settled.has(keyOf(request))) problems.push(`${keyOf(request)} was asked for after a batch had its verdict`)
    }
    if (!isPrefix(life.before.pages, life.after.pages)) problems.push('a page that was in a batch is gone')
    if (!life.wasKilled) continue
    const figures = costOf(web, life, settled, rules.atOnce)
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

function costOf(web: Logged, life: Life, settled: ReadonlySet<string>, atOnce: number): KillFigures {
  const started = new Map<string, number>()
  const lost = new Set<string>()
  const starts: number[] = []
  for (let i = life.from; i < life.to; i++) {
    const request = web.log.at(i)
    starts.push(request.startMs)
    if (request.path === '/robots.txt') continue
    started.set(keyOf(request), request.startMs)
    if (!NOT_FINAL.has(request.status) && !settled.has(keyOf(request))) lost.add(keyOf(request))
  }
  const batches = life.after.batches.filter(({ number }) => number > life.before.lastNumber)
  const lastAtMs = batches.at(-1)?.atMs ?? 0
  let takenMs = Number.NEGATIVE_INFINITY
  for (const { pages, atMs } of batches) {
    for (const url of pages) takenMs = Math.max(takenMs, (started.get(keyOfUrl(url)) ?? -Infinity) + lastAtMs - atMs)
  }
  const since = starts.filter((startMs) => startMs >= takenMs).length
  return {
    moment: life.moment,
    requests: life.to - life.from,
    batches: batches.length,
    lost: lost.size,
    bound: Math.min(starts.length, atOnce + since),
    sinceBatchMs: Number.isFinite(takenMs) ? Math.max(0, (starts.at(-1) ?? 0) - takenMs) : null,
  }
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
    for (const { number, rests } of life.after.batches) {
      if (number <= life.before.lastNumber) continue
      for (const { host } of rests) asked.set(host, (asked.get(host) ?? 0) - 1)
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
