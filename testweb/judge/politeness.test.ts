// The judge finds every planted offence and never accuses a polite crawler.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LoggedRequest } from './access-log.ts'
import { checkPoliteness } from './politeness.ts'

function request(startMs: number, endMs: number, more: Partial<LoggedRequest> = {}): LoggedRequest {
  return {
    startMs,
    endMs,
    host: 'a',
    ip: '127.1.0.1',
    connection: 0,
    scheme: 'http',
    path: `/${startMs}`,
    status: 200,
    ...more,
  }
}

const rulesBroken = (...args: Parameters<typeof checkPoliteness>): string[] =>
  checkPoliteness(...args).map((each) => each.rule)

describe('on a host', () => {
  test('a rest kept to the millisecond is polite', () => {
    expect(checkPoliteness([request(0, 5), request(105, 110), request(210, 215)], { delayMs: 100 })).toEqual([])
  })

  test('a rest cut short is caught, and both requests are named', () => {
    const [violation] = checkPoliteness([request(0, 5), request(104, 110)], { delayMs: 100 })
    expect(violation).toMatchObject({ rule: 'host-delay', key: 'a', gapMs: 99 })
    expect(violation?.message).toContain('a/104')
    expect(violation?.message).toContain('a/0 ')
    expect(violation?.message).toContain('rested 99ms instead of 100ms')
  })

  test('two at once are caught even with no delay, over different connections', () => {
    expect(rulesBroken([request(0, 50), request(20, 60, { connection: 1 })], { delayMs: 0 })).toEqual(['host-overlap'])
  })

  test('an answer that never ended overlaps with everything after it', () => {
    expect(rulesBroken([request(0, Number.POSITIVE_INFINITY), request(1e6, 1e6)], { delayMs: 0 })).toEqual([
      'host-overlap',
    ])
  })

  test('the rest counts from the answer that ended last', () => {
    const long = request(0, 500)
    expect(rulesBroken([long, request(100, 110), request(520, 530)], { delayMs: 50 })).toEqual([
      'host-overlap',
      'host-delay',
    ])
  })

  test('the tolerance forgives delays, never overlaps', () => {
    const rules = { delayMs: 100, toleranceMs: 2 }
    expect(checkPoliteness([request(0, 5), request(103.5, 110)], rules)).toEqual([])
    expect(rulesBroken([request(0, 5), request(4.9, 110)], rules)).toEqual(['host-overlap'])
  })

  test('each host has its own delay, if asked for', () => {
    const log = [
      request(0, 1),
      request(11, 12),
      request(0, 1, { host: 'b', ip: 'x' }),
      request(11, 12, { host: 'b', ip: 'x' }),
    ]
    const violations = checkPoliteness(log, { delayMs: (host) => (host === 'b' ? 1_000 : 10) })
    expect(violations.map((each) => each.key)).toEqual(['b'])
  })

  test('robots.txt counts like any request', () => {
    expect(rulesBroken([request(0, 5, { path: '/robots.txt' }), request(6, 7)], { delayMs: 100 })).toEqual([
      'host-delay',
    ])
  })

  test('the order of the log does not matter', () => {
    expect(rulesBroken([request(104, 110), request(0, 5)], { delayMs: 100 })).toEqual(['host-delay'])
  })
})

describe('on an address', () => {
  const two = [request(0, 50), request(20, 60, { host: 'b' })]

  test('hosts that share it may be asked at once, unless a rule says how many', () => {
    expect(checkPoliteness(two, { delayMs: 10 })).toEqual([])
    expect(checkPoliteness(two, { delayMs: 10, ipConnections: 2 })).toEqual([])
    expect(rulesBroken(two, { delayMs: 10, ipConnections: 1 })).toEqual(['ip-overlap'])
  })

  test('it has a rest of its own, over all its hosts', () => {
    const log = [request(0, 5), request(10, 12, { host: 'b' })]
    expect(checkPoliteness(log, { delayMs: 100, ipDelayMs: 5 })).toEqual([])
    expect(rulesBroken(log, { delayMs: 100, ipDelayMs: 20 })).toEqual(['ip-delay'])
  })
})

test('a crawler that keeps its rests is never accused, one that skips a rest always is', () => {
  const steps = fc.array(
    fc.record({ host: fc.integer({ min: 0, max: 3 }), takesMs: fc.nat(50), extraMs: fc.nat(30) }),
    { minLength: 2, maxLength: 40 },
  )
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 100 }), fc.nat(), (plan, delayMs, culprit) => {
      const freeAt = new Map<string, number>()
      const log: LoggedRequest[] = []
      for (const { host, takesMs, extraMs } of plan) {
        const name = `h${host}`
        const startMs = (freeAt.get(name) ?? 0) + extraMs
        log.push(request(startMs, startMs + takesMs, { host: name, ip: name }))
        freeAt.set(name, startMs + takesMs + delayMs)
      }
      expect(checkPoliteness(log, { delayMs })).toEqual([])

      const victim = log[culprit % log.length]!
      const tooSoon = request(victim.endMs + delayMs / 2, victim.endMs + delayMs / 2, { host: victim.host })
      expect(checkPoliteness([...log, tooSoon], { delayMs }).length).toBeGreaterThan(0)
    }),
  )
})

describe('on a domain', () => {
  const rules = { delayMs: 0, domainDelayMs: 50 }

  test('its hosts are one: at once, or too soon after each other, is caught', () => {
    const shop = (startMs: number, endMs: number, host: string): LoggedRequest => request(startMs, endMs, { host })
    expect(rulesBroken([shop(0, 5, 'a.x.test'), shop(55, 60, 'b.x.test')], rules)).toEqual([])
    expect(rulesBroken([shop(0, 5, 'a.x.test'), shop(54, 60, 'b.x.test')], rules)).toEqual(['domain-delay'])
    expect(rulesBroken([shop(0, 5, 'a.x.test'), shop(4, 6, 'b.x.test')], rules)).toEqual(['domain-overlap'])
    expect(rulesBroken([shop(0, 5, 'a.x.test'), shop(4, 6, 'a.y.test')], rules)).toEqual([])
  })
})

test('a request outside of the hours of a host is caught', () => {
  const isOpen = (host: string, startMs: number): boolean => host !== 'a' || startMs >= 100
  expect(rulesBroken([request(99, 100), request(101, 102)], { delayMs: 0, isOpen })).toEqual(['closed'])
})
