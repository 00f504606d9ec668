// A pattern of a user means what it means in JavaScript, and no text makes it slow.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { boundPattern, patternComplaint } from './bounded-pattern.ts'

const found = (source: string, text: string): boolean => boundPattern(new RegExp(source)).test(text)

describe('a catastrophic pattern', () => {
  // Each takes the engine of the language longer than the age of the universe, or minutes at least, on the text beside it.
  test.each<[pattern: string, text: string]>([
    ['(a+)+$', `http://h/${'a'.repeat(2_000)}!`],
    ['(a|a)*!c', `http://h/${'a'.repeat(2_000)}!`],
    ['(a|aa)+$', `http://h/${'a'.repeat(2_000)}!`],
    ['(.*a){25}$', `http://h/${'a'.repeat(2_000)}!`],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(2_000)],
    ['(x+x+)+y', 'x'.repeat(2_000)],
    ['(\\w*\\w*)*\\d{3}-$', 'w'.repeat(2_000)],
    [`${'a?'.repeat(30)}${'a'.repeat(30)}b`, 'a'.repeat(60)],
    [
      '(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)c',
      'a'.repeat(2_000),
    ],
    ['(a|b)*a(a|b){20}c', 'ab'.repeat(1_000)],
  ])('%s is answered at once', (pattern, text) => {
    expect(patternComplaint(pattern)).toBeNull()
    const startMs = performance.now()
    expect(found(pattern, text)).toBe(false)
    // Between this and what it would take otherwise lie many powers of ten; a busy machine does not matter.
    expect(performance.now() - startMs).toBeLessThan(5_000)
  })
})

describe('what it means', () => {
  test.each<[pattern: string, text: string, expected: boolean]>([
    ['\\.pdf$', 'http://h/a.pdf', true],
    ['\\.pdf$', 'http://h/a.pdf?x', false],
    ['\\.(?:jpg|png)$', 'http://h/a.png', true],
    ['/a/\\d+', 'http://h/a/12', true],
    ['[?&]page=[3-5](&|$)', 'http://h/?page=4', true],
    ['^http://[^/]+/x{2}$', 'http://h/xx', true],
    // Where RE2 would read something else.
    ['\\z+', 'zz', true],
    ['\\Q+', 'Q', true],
    ['x*\\p{L}', 'p{L}', true],
    ['x*\\p{L}', 'é', false],
    ['[[:alpha:]]+', 'a]', true],
    ['[[:alpha:]]+', 'z]', false],
    ['\\u0041+', 'AA', true],
    ['(?<year>\\d+)', '2026', true],
    ['[^]+', 'x', true],
    ['a{', 'a{', true],
  ])('%s in %s', (pattern, text, expected) => {
    expect(patternComplaint(pattern)).toBeNull()
    expect([new RegExp(pattern).test(text), found(pattern, text)]).toEqual([expected, expected])
  })

  test('the same as in JavaScript, for any pattern and any URL', () => {
    const atom = fc.constantFrom('a', 'b', '/', '\\.', '\\d', '\\w', '[ab]', '[^a]', '.', '^', '$', '\\b', '%')
    const pattern = fc.letrec<{ all: string }>((tie) => ({
      all: fc.oneof(
        { maxDepth: 3 },
        atom,
        fc.tuple(tie('all'), tie('all')).map((two) => two.join('')),
        fc.tuple(tie('all'), tie('all')).map(([one, other]) => `(?:${one}|${other})`),
        fc.tuple(tie('all'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}')).map(([one, times]) => `(${one})${times}`),
      ),
    })).all
    const url = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '1', '%', '_'), maxLength: 10 })
    fc.assert(
      fc.property(pattern, url, (source, text) => {
        expect(found(source, text)).toBe(new RegExp(source).test(text))
      }),
      { numRuns: 2_000 },
    )
  })

  test('flags that remember nothing are kept', () => {
    for (const expression of [/A/gi, /A+/gi]) {
      const pattern = boundPattern(expression)
      expect([pattern.test('xa'), pattern.test('xa')]).toEqual([true, true])
    }
  })
})

describe('is refused', () => {
  test.each([
    ['(', 'is not a regular expression'],
    ['(?=x)a', 'looks ahead'],
    ['^(?!.*private)', 'looks ahead'],
    ['(?<!x)a', 'looks ahead'],
    ['(a)\\1', 'looks ahead'],
    ['(?<n>a)\\k<n>', 'looks ahead'],
    ['a{2000}', 'cannot be matched in bounded time'],
    ['((a{1,1000}){1,1000})', 'cannot be matched in bounded time'],
    ['x'.repeat(3_000), '2000 characters at most'],
  ])('%s', (pattern, words) => {
    expect(patternComplaint(pattern)).toContain(words)
  })

  test('any text is a pattern or a complaint, and never a throw', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'ab()[]{}?*+|\\^$.,-1:<=!kpQzu&'.split('')), maxLength: 12 }),
        (source) => {
          if (patternComplaint(source) !== null) return
          expect(found(source, 'http://h/ab')).toBeTypeOf('boolean')
        },
      ),
      { numRuns: 3_000 },
    )
  })
})
