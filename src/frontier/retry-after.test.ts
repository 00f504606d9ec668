import { describe, expect, test } from 'vitest'
import { parseRetryAfter } from './retry-after.ts'

/** Sun, 06 Nov 1994 08:49:37 GMT, the example of the RFC. */
const NOW = Date.UTC(1994, 10, 6, 8, 49, 37)

describe('Retry-After', () => {
  test.each([
    ['120', 120_000],
    [' 120 ', 120_000],
    ['0', 0],
    ['007', 7_000],
    ['Sun, 06 Nov 1994 08:50:37 GMT', 60_000],
    ['Sunday, 06-Nov-94 08:50:37 GMT', 60_000],
    ['Sun Nov  6 08:50:37 1994', 60_000],
    ['Wed Nov 16 08:49:37 1994', 10 * 86_400_000],
    ['Sun, 06 Nov 1994 08:49:60 GMT', 23_000],
    ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
    ['Tue, 29 Feb 2000 00:00:00 GMT', Date.UTC(2000, 1, 29) - NOW],
  ])('%j asks for %i ms', (value, ms) => {
    expect(parseRetryAfter(value, NOW)).toBe(ms)
  })

  test('a number of any length is bounded and exact', () => {
    const ms = parseRetryAfter('9'.repeat(400), NOW)
    expect(Number.isSafeInteger(ms)).toBe(true)
  })

  test('a two-digit year more than fifty years ahead is of the past century', () => {
    const wallMs = Date.UTC(2026, 0, 1)
    expect(parseRetryAfter('Friday, 01-Jan-27 00:00:00 GMT', wallMs)).toBe(365 * 86_400_000)
    expect(parseRetryAfter('Friday, 01-Jan-77 00:00:00 GMT', wallMs)).toBe(0)
    expect(parseRetryAfter('Friday, 01-Jan-76 00:00:00 GMT', wallMs)).toBeGreaterThan(0)
  })

  test.each([
    '',
    'soon',
    '-5',
    '1.5',
    '1e3',
    '0x10',
    '10 seconds',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 CET',
    'Sun, 31 Jun 1994 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:49:37 GMT',
    'Sun, 06 Nov 1994 08:60:37 GMT',
    'Tue, 29 Feb 1900 00:00:00 GMT',
    '1994-11-06T08:49:37Z',
    '120, 240',
  ])('%j is nonsense', (value) => {
    expect(parseRetryAfter(value, NOW)).toBeNull()
  })
})
