// What is lent and what is not; what helpers bring and what they leave to the owner.

import { describe, expect, test } from 'vitest'
import { entryOf } from '../../test/frontier-entry.ts'
import { plainDocument } from '../../test/plain-document.ts'
import { ManualClock } from '../base/index.ts'
import { LentTurns } from '../exchange/index.ts'
import type { FetchOutcome } from '../fetch/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import { BrokenVisits } from './broken-visits.ts'
import { help } from './helping.ts'
import { Lending } from './lending.ts'
import type { PacedFetcher } from './paced-fetcher.ts'

const GIANT = 'giant.test' as HostKey
const turn = { host: GIANT, errand: null, entries: [] }
const urlOf = (name: string): CanonicalUrl => `http://giant.test/${name}` as CanonicalUrl

describe('the owner', () => {
  function stand() {
    const clock = new ManualClock()
    const turns = new LentTurns({
      clock,
      self: 0,
      agents: 2,
      requestMs: 1_000,
      leaseLeftMs: () => 5_000,
      onFirst: () => {},
    })
    const facts = { isShort: true, waiting: 11, out: 0 }
    const abort = new AbortController()
    const lending = new Lending({
      turns,
      frontier: {
        inspect: (host) => ({
          host,
          waiting: facts.waiting,
          state: 'out',
          restUntilMs: clock.nowMs(),
          leastRestMs: 0,
          address: null,
        }),
      },
      giantHost: 10,
      isShort: () => facts.isShort,
      open: async (answer) => plainDocument(answer.url, answer.wire),
      onLent: (by) => (facts.out += by),
      signal: abort.signal,
      broken: new BrokenVisits(() => false),
    })
    turns.hear(1, { kind: 'lend-offer', id: 1 })
    return { turns, facts, lending, abort }
  }

  test('lends turns of giant hosts, where it is short of room and somebody has time', () => {
    const { facts, lending } = stand()
    const entry = entryOf(GIANT, 'a')
    expect(lending.wants(turn, entry)).toBe(true)
    facts.waiting = 10
    expect(lending.wants(turn, entry)).toBe(false)
    facts.waiting = 11
    facts.isShort = false
    expect(lending.wants(turn, entry)).toBe(false)
  })

  test.each([{ tries: 1 }, { pauses: 1 }, { url: 'ftp://giant.test/a' as CanonicalUrl }])(
    'asks itself for what is %o',
    (odd) => {
      expect(stand().lending.wants(turn, entryOf(GIANT, 'a', odd))).toBe(false)
    },
  )

  test('asks a host itself that has set cookies', () => {
    const { lending } = stand()
    lending.keep(GIANT)
    expect(lending.wants(turn, entryOf(GIANT, 'a'))).toBe(false)
  })

  test('asks itself for what another could not bring, and has no turn out then', async () => {
    const { turns, facts, lending } = stand()
    const lent = lending.lend([urlOf('a'), urlOf('b')], [])
    expect(facts.out).toBe(1)
    turns.hear(1, { kind: 'lend-done', id: 1, answers: [], next: 2 })
    expect((await lent).size).toBe(0)
    expect(facts.out).toBe(0)
    expect(lending.wants(turn, entryOf(GIANT, 'a'))).toBe(false)
    expect(lending.wants(turn, entryOf(GIANT, 'b'))).toBe(true)
  })

  test('waits for nobody when it is cut', async () => {
    const { lending, abort } = stand()
    const lent = lending.lend([urlOf('a')], [])
    abort.abort()
    expect((await lent).size).toBe(0)
  })
})

describe('a helper', () => {
  async function helped(outcomes: readonly (FetchOutcome | null)[]): Promise<{ brought: string[]; asked: number }> {
    let asked = 0
    const fetcher = { fetch: async () => outcomes[asked++] ?? null } as unknown as PacedFetcher
    const urls = outcomes.map((_, i) => urlOf(String(i)))
    const borrowed = { urls, addresses: [], mayWrite: () => true, signal: new AbortController().signal }
    let helping = 0
    const { signal } = new AbortController()
    const answers = await help(borrowed, { fetcher, onHelp: (by) => (helping += by), signal, onFault: () => {} })
    expect(helping).toBe(0)
    return { brought: answers.map(({ kind }) => kind), asked }
  }
  const page = (facts: Parameters<typeof plainDocument>[2] = {}, bytes = 10): FetchOutcome => ({
    kind: 'fetched',
    document: plainDocument(urlOf('x'), Buffer.alloc(bytes), facts),
  })
  const skipped: FetchOutcome = { kind: 'skipped', reason: 'type-filtered', detail: '' }
  const failed: FetchOutcome = { kind: 'failed', code: 'FETCH_TIMEOUT', detail: '', durationMs: 1 }

  test('asks for one URL after the other', async () => {
    expect(await helped([page(), skipped, page()])).toEqual({ brought: ['fetched', 'skipped', 'fetched'], asked: 3 })
  })

  test('stops when the server asks for patience, and brings that', async () => {
    expect(await helped([page({ status: 503 }), page()])).toEqual({ brought: ['fetched'], asked: 1 })
    const rawHeaders = ['Retry-After', '5']
    expect(await helped([page({ status: 404, rawHeaders }), page()])).toEqual({ brought: ['fetched'], asked: 1 })
  })

  test.each<[string, FetchOutcome | null]>([
    ['fails', failed],
    ['is too long', page({}, 600_000)],
    ['sets cookies', { ...page(), hasNewCookies: true } as FetchOutcome],
    ['is not asked for, since its agent stops', null],
  ])('stops at what %s, and leaves it to the owner', async (_, outcome) => {
    expect(await helped([page(), outcome, page()])).toEqual({ brought: ['fetched'], asked: 2 })
  })
})
