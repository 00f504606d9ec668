// Which pages `portolan requeue --pages` means: of what age, with what status, of which host.

import { parseDuration } from '../base/index.ts'
import type { Problem } from '../config/index.ts'
import type { PageRecord } from '../store/index.ts'
import { type CanonicalUrl, hostKeyOf } from '../url/index.ts'
import { quote } from './config-flags.ts'

export interface PageChoice {
  /** Fetched before this moment; null for any. */
  readonly beforeMs: number | null
  /** Whole ones, '404', or classes, '5xx'; none means all. */
  readonly statuses: readonly string[]
}

const STATUS = /^[1-9](?:\d\d|xx)$/

/** Null where no page is meant. Adds what is wrong to `problems`. */
export function readPageChoice(
  isPages: boolean,
  olderThan: string | undefined,
  statuses: readonly string[],
  nowMs: number,
  problems: Problem[],
): PageChoice | null {
  if (!isPages) {
    if (olderThan !== undefined) problems.push({ where: '--older-than', what: 'is said of pages: add --pages' })
    if (statuses.length > 0) problems.push({ where: '--status', what: 'is said of pages: add --pages' })
    return null
  }
  const ageMs = olderThan === undefined ? null : parseDuration(olderThan)
  if (olderThan !== undefined && ageMs === null) {
    const what = `${quote(olderThan)} is not a duration; write it with a unit, like 12h, 7d`
    problems.push({ where: '--older-than', what })
  }
  for (const status of statuses) {
    if (STATUS.test(status.toLowerCase())) continue
    problems.push({ where: '--status', what: `${quote(status)} is not a status; write it like 404 or 5xx` })
  }
  return { beforeMs: ageMs === null ? null : nowMs - ageMs, statuses: statuses.map((one) => one.toLowerCase()) }
}

export function isChosenPage({ beforeMs, statuses }: PageChoice, host: string | null, page: PageRecord): boolean {
  if (host !== null && hostKeyOf(page.url as CanonicalUrl) !== host) return false
  if (beforeMs !== null && Date.parse(page.fetchedAt) >= beforeMs) return false
  const status = String(page.status)
  return statuses.length === 0 || statuses.includes(status) || statuses.includes(`${status[0]}xx`)
}
