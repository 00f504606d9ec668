// What is remembered of one host.

import type { MissingPages } from './missing-pages.ts'
import type { Evidence } from './session-ids.ts'

export interface HostLessons {
  isBegun: boolean
  /** Detectors that have noticed something: only those are asked. */
  calendars: number
  sessions: number
  facets: number
  floods: number
  echoes: number
  parameters: Map<string, Evidence> | null
  missing: MissingPages | null
  /** Answers of 404 and 410 that were read in this run. */
  missingRead: number
}

export type SavedHost = readonly [
  host: string,
  counts: readonly [begun: number, calendars: number, sessions: number, facets: number, floods: number, echoes: number],
  parameters: readonly (readonly [string, Evidence])[],
  missing: MissingPages,
]

export function newHost(): HostLessons {
  return {
    isBegun: false,
    calendars: 0,
    sessions: 0,
    facets: 0,
    floods: 0,
    echoes: 0,
    parameters: null,
    missing: null,
    missingRead: 0,
  }
}

export function savedHost(host: string, lessons: HostLessons): SavedHost {
  const { isBegun, calendars, sessions, facets, floods, echoes, parameters, missing } = lessons
  const counts = [isBegun ? 1 : 0, calendars, sessions, facets, floods, echoes] as const
  return [host, counts, [...(parameters ?? [])], missing ?? []]
}

export function restoredHost([, counts, parameters, missing]: SavedHost): HostLessons {
  const [begun, calendars, sessions, facets, floods, echoes] = counts
  return {
    isBegun: begun === 1,
    calendars,
    sessions,
    facets,
    floods,
    echoes,
    parameters: parameters.length === 0 ? null : new Map(parameters),
    missing: missing.length === 0 ? null : [...missing],
    missingRead: 0,
  }
}
