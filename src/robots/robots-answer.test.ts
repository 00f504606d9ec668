// What an answer to GET /robots.txt means, by status, and how long it is relied on.

import { describe, expect, test } from 'vitest'
import { judgeRobotsAnswer, ROBOTS_HOPS_MAX, robotsLifeMs, type RobotsVerdict } from './robots-answer.ts'

const HOUR_MS = 3_600_000

describe('the verdict', () => {
  test.each<[number | null, RobotsVerdict]>([
    [200, 'parse'],
    [204, 'parse'],
    [400, 'allow-all'],
    [401, 'allow-all'],
    [403, 'allow-all'],
    [404, 'allow-all'],
    [410, 'allow-all'],
    [451, 'allow-all'],
    [429, 'disallow-all'],
    [500, 'disallow-all'],
    [503, 'disallow-all'],
    [599, 'disallow-all'],
    [600, 'disallow-all'],
    [101, 'disallow-all'],
    [null, 'disallow-all'],
  ])('on %s is %s', (status, verdict) => {
    expect(judgeRobotsAnswer({ status, location: null, hops: 0 })).toBe(verdict)
  })

  test('on a redirect is to follow it five times, then to take the file as missing', () => {
    const verdicts = Array.from({ length: 7 }, (_, hops) =>
      judgeRobotsAnswer({ status: 301, location: 'https://elsewhere.example/robots.txt', hops }),
    )
    expect(verdicts.filter((verdict) => verdict === 'follow')).toHaveLength(ROBOTS_HOPS_MAX)
    expect(verdicts.slice(ROBOTS_HOPS_MAX)).toEqual(['allow-all', 'allow-all'])
  })

  test('on a redirect to nowhere is that the file is missing', () => {
    expect(judgeRobotsAnswer({ status: 302, location: null, hops: 0 })).toBe('allow-all')
  })
})

describe('an answer is relied on', () => {
  const life = { ttlMs: 24 * HOUR_MS, ttlMinMs: HOUR_MS, unreachableTtlMs: 600_000 }

  test.each([
    [null, 24],
    ['public', 24],
    ['max-age=7200', 2],
    ['public, Max-Age="7200", must-revalidate', 2],
    ['max-age=0', 1],
    ['no-cache', 1],
    ['no-store, max-age=86400', 1],
    ['max-age=31536000', 24],
    ['max-age=soon', 24],
    ['s-maxage=60', 24],
  ])('with Cache-Control %s for %i h', (cacheControl, hours) => {
    expect(robotsLifeMs('parse', cacheControl, life)).toBe(hours * HOUR_MS)
  })

  test('for a short time only when the file was unreachable, whatever the error page says', () => {
    expect(robotsLifeMs('disallow-all', 'max-age=86400', life)).toBe(600_000)
  })
})
