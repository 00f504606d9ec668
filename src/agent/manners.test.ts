// How long a host rests after what just happened: one sentence for each row of the table at the head of manners.ts.

import { describe, expect, test } from 'vitest'
import { plainDocument } from '../../test/plain-document.ts'
import { ManualClock, Random } from '../base/index.ts'
import type { Document } from '../document/index.ts'
import { HostRules, MemoryFrontier } from '../frontier/index.ts'
import { frontierOptions } from '../frontier/options.ts'
import type { HostKey, Origin } from '../url/index.ts'
import { LearntRests, type MannersNote } from './learnt-rests.ts'
import { Manners } from './manners.ts'
import { Trouble } from './trouble.ts'

const HOST = 'a.test' as HostKey
const ORIGIN = 'http://a.test' as Origin
const START_MS = Date.UTC(2026, 10, 16, 12)

function answer(status: number, retryAfter: string | null = null, durationMs = 20): Document {
  const rawHeaders = retryAfter === null ? [] : ['Retry-After', retryAfter]
  return plainDocument('http://a.test/', '', { status, rawHeaders, durationMs })
}

function stand(options: Readonly<Record<string, unknown>> = {}) {
  const clock = new ManualClock(1_000, START_MS)
  const settings = frontierOptions.parse(options)
  const notes: MannersNote[] = []
  const rules = HostRules.of(settings.rules)
  const frontier = new MemoryFrontier({ clock, delayMs: settings.delay, ipDelayMs: 0, ipConnections: 8, rules })
  const learnt = new LearntRests(clock, settings.learntMax, (note) => notes.push(note))
  const trouble = new Trouble(clock, 60_000)
  const manners = new Manners({
    clock,
    random: new Random('manners'),
    frontier,
    trouble,
    learnt,
    rules,
    settings: {
      delayMs: settings.delay,
      latencyFactor: settings.latencyFactor,
      restMaxMs: settings.restMax,
      backoffBaseMs: settings.backoff,
      backoffMaxMs: settings.backoffMax,
      retryAfterMaxMs: settings.retryAfterMax,
    },
  })
  return { clock, frontier, learnt, trouble, manners, notes }
}

describe('after an answer a host rests', () => {
  test('for the longest of its delay, its Crawl-delay and five times what the answer took', () => {
    const { manners, frontier } = stand()
    expect(manners.restAfterAnswer(HOST, answer(200)).restMs).toBe(1_000)
    expect(manners.restAfterAnswer(HOST, answer(200, null, 700)).restMs).toBe(3_500)
    frontier.setLeastRest(HOST, 9_000)
    expect(manners.restAfterAnswer(HOST, answer(200, null, 700)).restMs).toBe(9_000)
  })

  test('as its own rule says, be it longer or shorter', () => {
    const rules = [
      { hosts: 'a.test', delay: '10s' },
      { hosts: 'b.test', delay: '50ms', latencyFactor: 1 },
      { hosts: 'c.test', delay: '0ms' },
    ]
    const { manners } = stand({ rules })
    const rest = (host: string): number => manners.restAfter(host as HostKey, 300)
    expect(['a.test', 'b.test', 'c.test', 'd.test'].map(rest)).toEqual([10_000, 300, 0, 1_500])
  })
})

describe('Retry-After', () => {
  test.each([301, 404, 413, 500])('is kept with a %i too, and remembered', (status) => {
    const { manners, notes } = stand()
    const { restMs, note } = manners.restAfterAnswer(HOST, answer(status, '120'))
    expect(restMs).toBe(120_000)
    expect(note).toEqual({ host: HOST, restMs: 120_000, why: `${status}, Retry-After: 120` })
    expect(notes).toMatchObject([{ host: HOST, untilWallMs: START_MS + 120_000, learnt: null }])
  })

  test('means nothing with a page, as nonsense, in the past, or when it asks for less than the host rests anyway', () => {
    const { manners, notes } = stand()
    for (const document of [
      answer(200, '120'),
      answer(404, 'soon'),
      answer(302, 'Mon, 16 Nov 2026 11:00:00 GMT'),
      answer(302, '1'),
    ]) {
      expect(manners.restAfterAnswer(HOST, document)).toEqual({ restMs: 1_000, note: null })
    }
    expect(notes).toEqual([])
  })

  test('is a date as well as seconds, and capped', () => {
    const { manners } = stand({ retryAfterMax: '1h' })
    expect(manners.restAfterAnswer(HOST, answer(302, 'Mon, 16 Nov 2026 12:10:00 GMT')).restMs).toBe(600_000)
    expect(manners.restAfterAnswer(HOST, answer(302, '99999999999')).restMs).toBe(3_600_000)
  })

  test('of any length leaves a short note', () => {
    const { manners, notes } = stand()
    expect(manners.pauseAfter(HOST, ORIGIN, answer(429, '9'.repeat(60_000))).why.length).toBeLessThan(100)
    expect(notes[0]?.why.length).toBeLessThan(100)
  })

  test('of 429 is lengthened by chance, never shortened: hosts behind one front come back one after another', () => {
    const { manners } = stand()
    const rests = Array.from({ length: 50 }, () => manners.pauseAfter(HOST, ORIGIN, answer(429, '1000')).restMs)
    expect(Math.min(...rests)).toBeGreaterThanOrEqual(1_000_000)
    expect(Math.max(...rests)).toBeLessThanOrEqual(1_060_000)
    expect(new Set(rests.map(Math.round)).size).toBeGreaterThan(40)
  })
})

describe('429 and 503', () => {
  test('teach: the rest after later answers is longer, and fades with them', () => {
    const { manners, trouble, learnt } = stand()
    manners.pauseAfter(HOST, ORIGIN, answer(429))
    trouble.answered(ORIGIN)
    const first = manners.restAfterAnswer(HOST, answer(200)).restMs
    expect(first).toBeGreaterThan(1_400)
    for (let i = 0; i < 1_000; i++) manners.restAfterAnswer(HOST, answer(200))
    expect(learnt.size).toBe(0)
    expect(manners.restAfterAnswer(HOST, answer(200)).restMs).toBe(1_000)
  })

  test('teach once in a row: what comes after a pause says nothing of the pace', () => {
    const { manners, learnt } = stand()
    for (let i = 0; i < 6; i++) manners.pauseAfter(HOST, ORIGIN, answer(503))
    expect(learnt.restMsOf(HOST)).toBe(1_500)
  })

  test('a 500 is no sign that the pace is borne', () => {
    const { manners, learnt } = stand()
    manners.pauseAfter(HOST, ORIGIN, answer(429))
    manners.restAfterAnswer(HOST, answer(500))
    expect(learnt.restMsOf(HOST)).toBe(1_500)
  })

  test('teach nothing where the delay is 0ms, for all or for this host, or where they may not', () => {
    const rules = [{ hosts: 'a.test', delay: '0ms' }]
    for (const options of [{ delay: '0ms' }, { rules }, { learntMax: '0ms' }]) {
      const { manners, learnt, notes } = stand(options)
      manners.pauseAfter(HOST, ORIGIN, answer(429))
      expect(learnt.size).toBe(0)
      // The pause is noted, for whoever asks why the host is not.
      expect(notes).toMatchObject([{ why: '429', learnt: null }])
    }
  })
})

describe('what was learnt', () => {
  test('is known to the next run as far as it was noted, and forgotten when it is old', () => {
    const { manners, notes, trouble, clock } = stand()
    manners.pauseAfter(HOST, ORIGIN, answer(429))
    trouble.answered(ORIGIN)
    for (let i = 0; i < 15; i++) manners.restAfterAnswer(HOST, answer(200))
    const restored = (): LearntRests => {
      const learnt = new LearntRests(clock, 60_000, () => {})
      for (const note of notes) learnt.restore(note)
      return learnt
    }
    expect(restored().restMsOf(HOST)).toBeGreaterThan(1_000)
    expect(restored().restMsOf(HOST)).toBeLessThan(1_300)
    clock.advance(8 * 86_400_000)
    expect(restored().size).toBe(0)
  })

  test('means nothing where there are no rests now, and is no longer than may be taught now', () => {
    const learnt = { restMs: 50_000, refusedMs: 40_000, refusals: 3, answers: 0 }
    const note = { host: HOST, atWallMs: START_MS, untilWallMs: 0, why: '429', learnt }
    const restless = stand({ delay: '0ms' })
    restless.learnt.restore(note)
    for (let i = 0; i < 500; i++) expect(restless.manners.restAfterAnswer(HOST, answer(200)).restMs).toBe(0)
    expect(restless.notes).toEqual([])
    const lowered = stand({ learntMax: '10s' })
    lowered.learnt.restore(note)
    expect(lowered.learnt.restMsOf(HOST)).toBe(10_000)
  })

  test('is forgotten by those who taught first when there is no room', () => {
    const clock = new ManualClock()
    const learnt = new LearntRests(clock, 60_000, () => {})
    for (let i = 0; i < 50_010; i++) learnt.paused(`h${i}` as HostKey, 1, '429', 1_000)
    expect(learnt).toMatchObject({ size: 50_000, forgotten: 10 })
    expect(learnt.restMsOf('h0' as HostKey)).toBe(0)
    expect(learnt.restMsOf('h50009' as HostKey)).toBe(1_500)
  })
})

describe('hours', () => {
  test('keep a host closed until they begin, by the clock on the wall', () => {
    const { manners, clock } = stand({ rules: [{ hosts: '*.test', hours: '22:00-06:00', zone: 'Europe/Berlin' }] })
    // 12:00 UTC is 13:00 in Berlin.
    expect(manners.closedMs(HOST)).toBe(9 * 3_600_000)
    expect(manners.closedMs('a.example' as HostKey)).toBe(0)
    clock.advance(9 * 3_600_000)
    expect(manners.closedMs(HOST)).toBe(0)
  })
})
