// Runs URL vectors of others against ours. A vector agrees, or a listing says why it does not; a listing that
// covers a vector that agrees, or that covers none, is wrong too, so that no list outlives its reason.

import { expect } from 'vitest'
import { canonicalise, type Canonicalise, surt } from '../src/url/index.ts'

export interface JudgedVector {
  readonly input: string
  readonly expected: unknown
  readonly got: unknown
}

export interface Listing<V> {
  readonly reason: string
  readonly covers: (vector: V) => boolean
}

/** Runs every vector; those that a listing covers must differ, all others agree. */
export function checkVectors<V extends JudgedVector>(vectors: readonly V[], listing: readonly Listing<V>[]): void {
  expect(vectors.length, 'vectors').toBeGreaterThan(0)
  const wrong: string[] = []
  const used = new Set<string>()
  for (const vector of vectors) {
    const listed = listing.find(({ covers }) => covers(vector))
    const agrees = vector.got === vector.expected
    if (listed === undefined ? !agrees : agrees) {
      wrong.push(
        `${JSON.stringify(vector.input)}: ${String(vector.got)}, not ${String(vector.expected)} (${listed?.reason ?? 'not listed'})`,
      )
    }
    if (listed !== undefined) used.add(listed.reason)
  }
  expect(wrong).toEqual([])
  expect(
    listing.map(({ reason }) => reason).filter((reason) => !used.has(reason)),
    'reasons nobody needs',
  ).toEqual([])
}

export function inputs(...list: readonly string[]): (vector: { input: string }) => boolean {
  const set = new Set(list)
  return ({ input }) => set.has(input)
}

export function withoutFragment(url: string | null): string | null {
  return url === null ? null : url.replace(/#.*$/s, '')
}

/** The canonical form of a whole URL, or null where it is refused. */
export function canonicalOrNull(
  input: string,
  encoding = 'utf-8',
  canonicaliser: Canonicalise = canonicalise,
): string | null {
  const url = canonicaliser(input, null, encoding)
  return typeof url === 'string' ? url : null
}

/** Our form of what others expect; left as it is where we refuse it, so that a refusal on both sides is no agreement. */
export function ourFormOf(expected: string): string {
  return canonicalOrNull(expected) ?? expected
}

/** The look-up key of a whole URL, or null where it is refused. */
export function keyOrNull(input: string, encoding = 'utf-8'): string | null {
  const url = canonicalise(input, null, encoding)
  return typeof url === 'string' ? surt(url) : null
}

/** The key of what others expect; as ourFormOf(). */
export function ourKeyOf(expected: string): string {
  return keyOrNull(expected) ?? expected
}

/** As the parser reads it: without tabs and line ends, control characters and spaces around. */
function asRead(input: string): string {
  return input.replace(/[\t\n\r]/g, '').replace(/^[\0- ]+|[\0- ]+$/g, '')
}

/** Reasons that every collection of URLs needs. */
export const FOREIGN_SCHEME: Listing<{ input: string }> = {
  reason: 'a scheme that is not crawled is refused',
  covers: ({ input }) => /^(?!(?:https?|ftps?|gopher|file):)[a-z][a-z0-9+.-]*:/i.test(asRead(input)),
}

export const FILES: Listing<{ input: string; expected: unknown; got: unknown }> = {
  reason: 'a file is one of this machine, named by its path alone; ftps wants a host as gopher does',
  covers: ({ input, expected, got }) => /^(?:file|ftps):/i.test(asRead(input)) && expected !== got,
}

export const NO_SCHEME: Listing<{ input: string }> = {
  reason: 'a scheme is not guessed, and a relative link is none without its page',
  covers: ({ input }) => !/^[a-z][a-z0-9+.-]*:/i.test(asRead(input)),
}

export const USERINFO: Listing<{ input: string }> = {
  reason: 'user names and passwords are refused by name: neither sent on nor dropped',
  covers: ({ input }) => /^[a-z]+:[\\/]*(?!:?@[^@\\/?#]*(?:[\\/?#]|$))[^\\/?#]*@/i.test(asRead(input)),
}

export const NO_HOST: Listing<{ input: string }> = {
  reason:
    'WHATWG: a host with a space, a % or # behind its escapes is none; nor is one of nothing but dots (decision 0002)',
  covers: ({ input }) =>
    /^https?:[\\/]*(?:(?:%2e)+\/|%\/|%20| |\x01|[^/]*(?:%23|%EF%BF%BD|\.\.\.\/|%20\/))/i.test(asRead(input)),
}
