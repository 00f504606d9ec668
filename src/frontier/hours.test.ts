import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hoursSchema, zoneSchema } from './host-rules-schema.ts'
import { Hours } from './hours.ts'

const MINUTE_MS = 60_000
const at = (text: string): number => Date.parse(text)
const opens = (hours: Hours, when: string): string => new Date(hours.opensAtMs(at(when))).toISOString()
const night = hoursSchema.parse('22:00-06:00')

describe('hours', () => {
  test.each([
    ['2026-11-16T21:59:59Z', '2026-11-16T22:00:00.000Z'],
    ['2026-11-16T22:00:00Z', '2026-11-16T22:00:00.000Z'],
    ['2026-11-17T05:59:59.999Z', '2026-11-17T05:59:59.999Z'],
    ['2026-11-17T06:00:00Z', '2026-11-17T22:00:00.000Z'],
  ])('over midnight: at %s it may be asked at %s', (when, opening) => {
    expect(opens(new Hours(night), when)).toBe(opening)
  })

  test('a day is the one on which the window opens', () => {
    const friday = new Hours(night, ['fri'])
    expect(opens(friday, '2026-11-21T03:00:00Z')).toBe('2026-11-21T03:00:00.000Z')
    expect(opens(friday, '2026-11-20T03:00:00Z')).toBe('2026-11-20T22:00:00.000Z')
    expect(opens(friday, '2026-11-21T06:00:00Z')).toBe('2026-11-27T22:00:00.000Z')
  })

  test('are of their zone, in winter and in summer', () => {
    const berlin = new Hours(night, undefined, 'Europe/Berlin')
    expect(opens(berlin, '2026-01-10T12:00:00Z')).toBe('2026-01-10T21:00:00.000Z')
    expect(opens(berlin, '2026-07-10T12:00:00Z')).toBe('2026-07-10T20:00:00.000Z')
  })

  test('that the turn of the clock leaves out begin with the turn; those that come twice are open twice', () => {
    // 29 March 2026: from 02:00 the clock goes to 03:00. 25 October: from 03:00 back to 02:00.
    const early = new Hours(hoursSchema.parse('02:15-03:30'), undefined, 'Europe/Berlin')
    expect(opens(early, '2026-03-29T00:00:00Z')).toBe('2026-03-29T01:00:00.000Z')
    const twice = new Hours(hoursSchema.parse('02:30-02:45'), undefined, 'Europe/Berlin')
    expect(opens(twice, '2026-10-25T00:00:00Z')).toBe('2026-10-25T00:30:00.000Z')
    expect(opens(twice, '2026-10-25T00:50:00Z')).toBe('2026-10-25T01:30:00.000Z')
    const never = new Hours(hoursSchema.parse('02:10-02:50'), undefined, 'Europe/Berlin')
    expect(opens(never, '2026-03-29T00:00:00Z')).toBe('2026-03-30T00:10:00.000Z')
  })

  test.each(['22-6', '25:00-06:00', '24:00-06:00', '22:60-06:00', '', '22:00'])('%j are none', (text) => {
    expect(hoursSchema.safeParse(text).success).toBe(false)
  })

  test('a zone that nobody knows is refused', () => {
    expect(zoneSchema.safeParse('Europe/Atlantis').success).toBe(false)
    expect(zoneSchema.safeParse('America/St_Johns').success).toBe(true)
  })

  test('the time it opens is the first at which the clock of its zone says so', () => {
    const zones = [
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
      'America/St_Johns',
    ]
    const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const
    const minute = fc.nat({ max: 1_439 })
    /** As slowly as possible: what the clock shows at a moment, and whether that lies in the window. */
    const isOpen = (wallMs: number, from: number, to: number, on: readonly string[], format: Intl.DateTimeFormat) => {
      const parts = new Map(format.formatToParts(wallMs).map(({ type, value }) => [type, value]))
      const now = Number(parts.get('hour')) * 60 + Number(parts.get('minute'))
      const today = days.findIndex((day) => day === parts.get('weekday')?.toLowerCase())
      const isDay = (day: number): boolean => on.includes(days[(day + 7) % 7] ?? '')
      if (from < to) return now >= from && now < to && isDay(today)
      return (now >= from && isDay(today)) || (now < to && isDay(today - 1))
    }
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        // Around both turns of the clock of most zones, and anywhere else.
        fc.oneof(
          fc.integer({ min: at('2026-03-06T00:00Z'), max: at('2026-04-07T00:00Z') }),
          fc.integer({ min: at('2026-10-02T00:00Z'), max: at('2026-11-03T00:00Z') }),
          fc.integer({ min: at('2026-01-01T00:00Z'), max: at('2030-01-01T00:00Z') }),
        ),
        minute,
        minute,
        fc.subarray([...days], { minLength: 1 }),
        (zone, wallMs, from, to, on) => {
          const format = new Intl.DateTimeFormat('en-US', {
            timeZone: zone,
            hourCycle: 'h23',
            weekday: 'short',
            hour: 'numeric',
            minute: 'numeric',
          })
          const openMs = new Hours({ from, to }, on, zone).opensAtMs(wallMs)
          expect(isOpen(openMs, from, to, on, format)).toBe(true)
          expect(openMs - wallMs).toBeLessThanOrEqual(8 * 86_400_000)
          // Closed at every minute before; a sample of them, and all of the last two hours, where an error would lie.
          const first = Math.floor(wallMs / MINUTE_MS)
          const last = Math.ceil(openMs / MINUTE_MS) - 1
          const step = Math.max(1, Math.floor((last - first) / 60))
          if (openMs === wallMs) return
          for (let one = first; one <= last; one += one > last - 120 ? 1 : step) {
            expect(isOpen(one * MINUTE_MS, from, to, on, format)).toBe(false)
          }
        },
      ),
      { numRuns: 150 },
    )
  })

  test('the answer does not depend on what was asked before', () => {
    const hours = new Hours(night, ['mon', 'sat'], 'America/New_York')
    const start = at('2026-10-30T00:00Z')
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 10 * 86_400_000 }), { maxLength: 8 }), (offsets) => {
        for (const offset of offsets) {
          const alone = new Hours(night, ['mon', 'sat'], 'America/New_York')
          expect(hours.opensAtMs(start + offset)).toBe(alone.opensAtMs(start + offset))
        }
      }),
      { numRuns: 60 },
    )
  })
})
