// What hosts that misbehave do, page after page in turn. Each is a behaviour of `nasty/`, and what must come of
// it is known here without looking at bytes.

import type { FailureCode } from '../../src/base/index.ts'
import type { Host } from './host.ts'
import type { Variant } from './variant.ts'

interface Misdeed {
  /** What a crawler is left with: a page without links, or a failure. */
  readonly comesTo: { readonly status: number } | { readonly failed: FailureCode }
  /** The connection carries further requests. */
  readonly goesOn: boolean
}

const page = { comesTo: { status: 200 }, goesOn: false } as const
const failed = (code: FailureCode): Misdeed => ({ comesTo: { failed: code }, goesOn: false })

export const MISDEEDS = {
  'gzip-bomb': { ...page, goesOn: true },
  'brotli-bomb': { ...page, goesOn: true },
  'gzip-not-gzip': { ...page, goesOn: true },
  'slowloris-body': page,
  'rst-mid-body': page,
  'cl-too-large': page,
  'chunk-bad-size': page,
  'accept-no-reply': failed('FETCH_HEAD_TIMEOUT'),
  'rst-after-request': failed('FETCH_CONNECTION_LOST'),
  'empty-reply': failed('FETCH_CONNECTION_LOST'),
  'http-0.9': failed('FETCH_HEAD_MALFORMED'),
  'header-bomb-lines': failed('FETCH_HEAD_TOO_LONG'),
} satisfies Record<string, Misdeed>

export type MisdeedName = keyof typeof MISDEEDS

export function misdeedOf(name: MisdeedName): Misdeed {
  return MISDEEDS[name]
}

/** In this order, beside misdeeds of honest servers that are variants of pages. */
const TURNS: readonly (MisdeedName | Variant)[] = [
  'rst-after-request',
  'error',
  'gzip-bomb',
  'redirect-loop',
  'slowloris-body',
  'busy',
  'http-0.9',
  'throttled-seconds',
  'accept-no-reply',
  'rst-mid-body',
  'gzip-not-gzip',
  'empty-reply',
  'unavailable',
  'chunk-bad-size',
  'header-bomb-lines',
  'brotli-bomb',
  'missing',
  'cl-too-large',
]

export function isMisdeed(name: MisdeedName | Variant): name is MisdeedName {
  return name in MISDEEDS
}

/**
 * What a page does where its host is one of the share that misbehaves, else null. Every second page does, so that there is
 * a way on; exhibits are themselves. Hosts begin at different places of the list.
 */
export function turnAt(share: number, host: Pick<Host, 'index' | 'pages'>, page: number): MisdeedName | Variant | null {
  if (share === 0 || page % 2 === 0 || page >= host.pages || !misbehaves(host.index, share)) return null
  return TURNS[(host.index * 5 + (page >> 1)) % TURNS.length] ?? null
}

/** Spread evenly: of the first n hosts, n times the share misbehave. */
function misbehaves(hostIndex: number, share: number): boolean {
  return hostIndex >= 0 && Math.floor((hostIndex + 1) * share) > Math.floor(hostIndex * share)
}
