// How a run is steered, beside the settings of its crawl: kept for the process that goes on with it.
//
//   settings.json    how the crawl is meant, for all runs to come
//   steering.json    of this run: whether it is paused, its limits, what was changed against its command line, speeds of single agents
//
// Whoever starts a crawl by hand wants it to go on: it is not paused then, and its command line has the last word. A crawl that its guard
// starts again after a crash goes on as it was left, paused or not. Speeds of single agents hold in both cases.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Speed } from '../agent/index.ts'
import { diskFault, Fault } from '../base/index.ts'
import { writeAtomically } from '../disk/index.ts'
import { printable } from '../report/index.ts'
import type { SaidOptions } from './steered-crawl.ts'

export interface KeptSteering {
  /** Of which guard, where it has one: with another, somebody has started it by hand since. */
  readonly guard: string | null
  readonly isPaused: boolean
  /** Limits of a run, as they were said: maxPages, maxTime, maxWait. */
  readonly limits: Readonly<Record<string, unknown>>
  /** Options that were changed while it ran; null: as usual again. */
  readonly changed: SaidOptions
  /** By the agent's number. */
  readonly speeds: Readonly<Record<string, Partial<Speed>>>
}

/** Options that say a speed, and what they are called where it is set. */
export const SPEED_OPTIONS = {
  maxRate: 'ratePerSecond',
  maxBandwidth: 'bytesPerSecond',
  connections: 'connections',
} as const satisfies Readonly<Record<string, keyof Speed>>

/** Of a crawl that was never steered. */
export const NOT_STEERED: KeptSteering = { guard: null, isPaused: false, limits: {}, changed: {}, speeds: {} }

function pathIn(dir: string): string {
  return join(dir, 'state/steering.json')
}

export async function loadSteering(dir: string): Promise<KeptSteering> {
  const path = pathIn(dir)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return NOT_STEERED
    throw diskFault(`reading ${printable(path)}`, cause)
  }
  try {
    const kept: unknown = JSON.parse(text)
    if (isKept(kept)) return kept
    throw new Error('it has another shape')
  } catch (cause) {
    const what = `${printable(path)} is damaged; delete it, and the crawl goes on without a pause, limits of its run, and speeds of single agents`
    throw new Fault('LEDGER_CORRUPT', what, cause)
  }
}

/** By hand: a crawl that nobody looks at loads no checks of the API. */
function isKept(value: unknown): value is KeptSteering {
  if (!isObject(value)) return false
  const { guard, isPaused, limits, changed, speeds } = value
  return (
    (guard === null || typeof guard === 'string') &&
    typeof isPaused === 'boolean' &&
    isObject(limits) &&
    isObject(changed) &&
    Object.values(changed).every(isObject) &&
    isObject(speeds) &&
    Object.entries(speeds).every(([agent, speed]) => /^\d+$/.test(agent) && isObject(speed) && isSpeed(speed))
  )
}

function isSpeed({ connections, ...limits }: Record<string, unknown>): boolean {
  const isLimit = (value: unknown): boolean => value === null || (typeof value === 'number' && value > 0)
  const isCount = connections === undefined || (Number.isInteger(connections) && (connections as number) > 0)
  return isCount && Object.entries(limits).every(([name, value]) => LIMITS.has(name) && isLimit(value))
}

const LIMITS: ReadonlySet<string> = new Set(['ratePerSecond', 'bytesPerSecond'] satisfies (keyof Speed)[])

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Durable when it resolves. */
export async function storeSteering(dir: string, kept: KeptSteering): Promise<void> {
  await writeAtomically(pathIn(dir), `${JSON.stringify(kept, null, 2)}\n`)
}
