import { describe, expect, test } from 'vitest'
import type { CanonicalUrl } from '../url/index.ts'
import { Calendars, dateIn } from './calendars.ts'
import { trapsOptions } from './options.ts'

const NOW_MS = Date.UTC(2026, 4, 1)
const url = (path: string): CanonicalUrl => `http://h.test${path}` as CanonicalUrl

describe('a date in a URL', () => {
  test.for([
    ['/calendar/2026/5', 'http://h.test/calendar/‹date›', 2026, 5],
    ['/2026/05/13/story.html', 'http://h.test/‹date›/story.html', 2026, 5],
    ['/events-2026-12-31.html', 'http://h.test/events-‹date›.html', 2026, 12],
    ['/day/20260513', 'http://h.test/day/‹date›', 2026, 5],
    ['/cal?month=2026-05', 'http://h.test/cal?month=‹date›', 2026, 5],
    ['/cal?y=2026&m=5&d=3', 'http://h.test/cal‹date›', 2026, 5],
  ] as const)('%s', ([path, shape, year, month]) => {
    expect(dateIn(url(path))).toMatchObject({ shape, month: year * 12 + month - 1 })
  })

  test.for(['/', '/p123.html', '/2026/13', '/12026/5', '/v/2026', '/cal?y=2026', '/20261399', '/x/2026-5x9999'])(
    '%s has none',
    (path) => {
      expect(dateIn(url(path))?.month ?? null).toSatisfy((month) => month === null || path.includes('2026-5'))
    },
  )
})

describe('a calendar', () => {
  const walk = (calendars: Calendars, from: number, to: number, more: string[] = []): void => {
    const step = Math.sign(to - from)
    const at = (month: number): CanonicalUrl => url(`/cal/${Math.floor(month / 12)}/${(month % 12) + 1}`)
    for (let month = from + step; month !== to + step; month += step) {
      const leads = [at(month + step), ...more.map((path) => url(`${path}${month}`))]
      calendars.learn(
        at(month),
        at(month - step),
        leads.map((lead) => ({ url: lead })),
        NOW_MS,
      )
    }
  }
  const start = 2026 * 12 + 4
  const judge = (calendars: Calendars, path: string): string | null => calendars.judge(url(path), NOW_MS)

  test('is one once it has turned the year twice; then its far future is not asked for', () => {
    const calendars = new Calendars(trapsOptions.parse({}))
    expect(judge(calendars, '/cal/2031/1')).toBeNull()
    walk(calendars, start, start + 12)
    expect(judge(calendars, '/cal/2031/1')).toBeNull()
    walk(calendars, start + 12, start + 24)
    expect(judge(calendars, '/cal/2031/1')).toContain('2 years ahead')
    expect(judge(calendars, '/cal/2028/5')).toBeNull()
    expect(judge(calendars, '/other/2031/1')).toBeNull()
  })

  test('is followed far back where its pages lead somewhere, and not where they lead to dates only', () => {
    const newspaper = new Calendars(trapsOptions.parse({}))
    walk(newspaper, start, start - 60, ['/story/'])
    expect(judge(newspaper, '/cal/1890/1')).toBeNull()
    const empty = new Calendars(trapsOptions.parse({}))
    walk(empty, start, start - 60)
    expect(judge(empty, '/cal/1890/1')).toContain('30 years back')
    expect(judge(empty, '/cal/1999/1')).toBeNull()
  })

  test('is none where numbers only look like dates', () => {
    const calendars = new Calendars(trapsOptions.parse({}))
    for (let issue = 2_900; issue < 3_200; issue++) {
      for (let page = 1; page < 12; page++) {
        calendars.learn(url(`/issue/${issue}/${page + 1}`), url(`/issue/${issue}/${page}`), [], NOW_MS)
      }
    }
    expect(judge(calendars, '/issue/9000/5')).toBeNull()
  })
})
