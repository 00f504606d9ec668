// Names that mean one thing each, and patterns that listen as NATS does.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { layoutOf } from './layout.ts'
import { checkCrawlName, checkName, checkPattern, hasPrefix, matches } from './names.ts'

const part = fc.stringMatching(/^[\w-]{1,8}$/)
const name = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'))

test('a pattern matches what its words and wildcards say', () => {
  for (const [pattern, subject, isMatch] of [
    ['a.b', 'a.b', true],
    ['a.b', 'a.b.c', false],
    ['a.*', 'a.b', true],
    ['a.*', 'a', false],
    ['a.*', 'a.b.c', false],
    ['a.>', 'a.b.c', true],
    ['a.>', 'a', false],
    ['>', 'a', true],
    ['*.b', 'a.b', true],
    ['*.b', 'a.c', false],
    ['a.*.c', 'a.b.c', true],
  ] as const) {
    expect(matches(pattern, subject), `${pattern} ${subject}`).toBe(isMatch)
  }
})

test('every name matches itself, and itself with parts made wildcards', () => {
  fc.assert(
    fc.property(name, fc.nat(3), (subject, at) => {
      checkName(subject)
      const parts = subject.split('.')
      const stars = parts.map((one, index) => (index === at ? '*' : one)).join('.')
      const rest = [...parts.slice(0, at), '>'].join('.')
      checkPattern(stars)
      checkPattern(rest)
      expect(matches(subject, subject)).toBe(true)
      expect(matches(stars, subject)).toBe(true)
      expect(matches(rest, subject)).toBe(at < parts.length)
    }),
  )
})

test('a prefix is whole parts', () => {
  fc.assert(
    fc.property(name, name, (one, other) => {
      expect(hasPrefix(`${one}.${other}`, one)).toBe(true)
      expect(hasPrefix(one, one)).toBe(true)
      expect(hasPrefix(`${one}x.${other}`, one)).toBe(false)
    }),
  )
})

test('the name of a crawl is refused with a sentence where it could not be part of a subject', () => {
  for (const good of ['a', 'My_crawl-2', '0', 'x'.repeat(64)]) expect(() => checkCrawlName(good)).not.toThrow()
  for (const bad of ['', '-a', '_a', 'a.b', 'a b', 'a*', 'a>', 'a=b', 'ä', 'x'.repeat(65), '../a']) {
    expect(() => checkCrawlName(bad), bad).toThrow(/the name of a crawl is/)
  }
})

test('no two things of any crawls are kept in one stream', () => {
  const crawl = fc.stringMatching(/^[a-z][\w-]{0,6}$/)
  const streams = (of: string, log: string): string[] => {
    const { records, beats, objects, log: logOf } = layoutOf(of)
    return [records.stream, beats.stream, objects.stream, logOf(log).stream]
  }
  fc.assert(
    fc.property(crawl, name, crawl, name, (one, log, other, otherLog) => {
      fc.pre(one !== other || log !== otherLog)
      const shared = streams(one, log).filter((stream) => streams(other, otherLog).includes(stream))
      expect(shared).toHaveLength(one === other ? 3 : 0)
    }),
  )
})
