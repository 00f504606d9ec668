// A crawl that goes on with other options than it had: what that means for what waits already.
//
//   raised  --max-depth, --max-pages-per-host   what they kept out comes in
//   other   scope, filters, lowered limits      what waits is judged again before it is asked for; what was refused stays so
//   other   sessionIds                          refused: the same page would have another URL, and be met twice
//
// Whatever else changes (delays, speeds, agents' names, archives) holds from now on and concerns nothing that waits.

import { Fault } from '../base/index.ts'
import type { CrawlSettings } from './options.ts'

/** What a crawl remembers of its last run's options, in its batches. */
export interface RememberedOptions {
  readonly maxDepth: number | null
  readonly hostPages: number | null
  readonly sessionIds: readonly string[]
  /** Everything that decides about a URL, in one text. */
  readonly scope: string
  /** The scope was another one once: there may be URLs waiting that it would refuse now. */
  readonly wasRescoped: boolean
}

export interface OptionChanges {
  readonly remembered: RememberedOptions
  readonly isDeeper: boolean
  readonly hasMoreHostPages: boolean
  readonly isScopeChanged: boolean
}

export function compareOptions(
  { url, agent }: Pick<CrawlSettings, 'url' | 'agent'>,
  before: RememberedOptions | null,
): OptionChanges {
  const { sessionIds, urlLength: _, block, ...others } = url
  // Crawls that were begun before there was one have none, and are not changed by that.
  const deciding = block.length === 0 ? others : { ...others, block }
  const scope = JSON.stringify(deciding, (__, value: unknown) => (value instanceof RegExp ? String(value) : value))
  if (before !== null && String(before.sessionIds) !== String(sessionIds)) {
    const names = before.sessionIds.length === 0 ? 'none' : before.sessionIds.join(', ')
    throw new Fault(
      'CONFIG_INVALID',
      `sessionIds cannot change while a crawl lives (it was begun with ${names}): the URLs it has met would have other names. Start in a new directory`,
    )
  }
  const isScopeChanged = before !== null && before.scope !== scope
  const { maxDepth } = url
  const { hostPages } = agent
  return {
    remembered: { maxDepth, hostPages, sessionIds, scope, wasRescoped: isScopeChanged || before?.wasRescoped === true },
    isDeeper: before !== null && isRaised(before.maxDepth, maxDepth),
    hasMoreHostPages: before !== null && isRaised(before.hostPages, hostPages),
    isScopeChanged,
  }
}

/**
 * What agents that went on with other options at different times remember, as one: whatever one of them has still to do follows
 * from it, and doing it again does no harm.
 */
export function joinOptions(all: readonly RememberedOptions[]): RememberedOptions | null {
  const [first] = all
  if (first === undefined) return null
  const least = (limits: readonly (number | null)[]): number | null => {
    const limit = Math.min(...limits.map((one) => one ?? Infinity))
    return limit === Infinity ? null : limit
  }
  return {
    maxDepth: least(all.map(({ maxDepth }) => maxDepth)),
    hostPages: least(all.map(({ hostPages }) => hostPages)),
    sessionIds: first.sessionIds,
    // No scope has an empty text: it will count as changed.
    scope: all.every(({ scope }) => scope === first.scope) ? first.scope : '',
    wasRescoped: all.some(({ wasRescoped }) => wasRescoped),
  }
}

/** Null is no limit. */
function isRaised(before: number | null, now: number | null): boolean {
  return before !== null && (now === null || now > before)
}
