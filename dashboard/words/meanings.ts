// What names of outcomes and reasons mean: the one table of the crawler, and the names of what the API adds to it.

import { FAILURES, REFUSALS, SKIPS, STOPS } from '../../src/base/vocabulary.ts'
import type { CrawlState } from '../../src/control/paths.ts'

const MEANINGS: Readonly<Record<string, string>> = { ...FAILURES, ...REFUSALS, ...SKIPS, ...STOPS }

export function meaningOf(name: string): string {
  return MEANINGS[name] ?? ''
}

export type Tone = 'good' | 'moved' | 'warn' | 'bad' | 'silent' | 'idle' | 'accent'

export const STATES: Readonly<Record<CrawlState, { readonly tone: Tone; readonly text: string }>> = {
  starting: { tone: 'accent', text: 'its process is starting' },
  running: { tone: 'good', text: 'pages are being asked for' },
  paused: { tone: 'warn', text: 'its process runs and asks nobody' },
  stopping: { tone: 'warn', text: 'what is under way ends' },
  stopped: { tone: 'idle', text: 'no process works on it, and URLs wait' },
  finished: { tone: 'moved', text: 'nothing waits any more' },
}

export const HOST_STATES: Readonly<
  Record<
    'ready' | 'resting' | 'parked' | 'out' | 'idle',
    { readonly tone: Tone; readonly name: string; readonly text: string }
  >
> = {
  ready: { tone: 'good', name: 'ready', text: 'it may be asked' },
  resting: { tone: 'moved', name: 'resting', text: 'it was asked not long ago' },
  parked: { tone: 'idle', name: 'awaits robots', text: 'its robots.txt is being fetched' },
  out: { tone: 'accent', name: 'being asked', text: 'one of its URLs is being fetched' },
  idle: { tone: 'idle', name: 'idle', text: 'nothing of it waits' },
}

const ANSWERS: Readonly<Record<string, { readonly tone: Tone; readonly text: string }>> = {
  '2xx': { tone: 'good', text: 'answered with a page' },
  '3xx': { tone: 'moved', text: 'led elsewhere' },
  unchanged: { tone: 'accent', text: 'as it was before (304)' },
  '4xx': { tone: 'warn', text: 'not there, or not for us' },
  '5xx': { tone: 'bad', text: 'the server failed' },
  other: { tone: 'idle', text: 'without a status, like FTP' },
}

export function answerOf(name: string): { readonly tone: Tone; readonly text: string } {
  return ANSWERS[name] ?? { tone: 'idle', text: '' }
}

export function toneOfStatus(status: number): Tone {
  if (status === 304) return 'accent'
  const kind = Math.floor(status / 100)
  return kind === 2 ? 'good' : kind === 3 ? 'moved' : kind === 4 ? 'warn' : kind === 5 ? 'bad' : 'idle'
}

const BOTTLENECKS: Readonly<Record<string, string>> = {
  none: 'nothing: it grows',
  demand: 'no more hosts are due',
  ceiling: 'the limit of connections',
  cpu: 'the processor is busy',
  memory: 'memory',
  network: 'the network gives no more',
}

/** What stands in the way of more requests, of an agent. */
export function bottleneckOf(name: string): string {
  return BOTTLENECKS[name] ?? name
}

export const EFFECTS = {
  now: 'takes effect now',
  anew: 'opens the crawl anew: some seconds, nothing is lost',
  never: 'fixed when the crawl began',
} as const

/** Of a crawl at rest nothing takes effect before it is started again. */
export const EFFECT_AT_REST = 'holds from the next start on'
