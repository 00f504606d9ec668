// A pattern must agree with the plain reading of the RFC (`*` is any run of characters, `$` the end, all
// else itself) on every path, and must not take long over any of them.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normaliseRulePath, normaliseUrlPath, PathPattern, plainQuery } from './path-pattern.ts'

/** The obvious matcher, by a table over (pattern, path): quadratic and easy to believe. */
function obviouslyMatches(pattern: string, path: string): boolean {
  const isAnchored = pattern.endsWith('$')
  const body = isAnchored ? pattern.slice(0, -1) : pattern
  let reachable = new Set([0])
  for (const character of body) {
    const next = new Set<number>()
    for (const at of reachable) {
      if (character === '*') for (let to = at; to <= path.length; to++) next.add(to)
      else if (path[at] === character) next.add(at + 1)
    }
    reachable = next
  }
  return isAnchored ? reachable.has(path.length) : reachable.size > 0
}

const octets = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')
/** Any UTF-16 unit, halves of pairs too; `%` comes from escape(). */
const character = (unit: number): string => (unit === 0x25 ? 'a' : String.fromCharCode(unit))
const escape = (octet: number): string => `%${octet.toString(16).padStart(2, '0')}`
const covers = (rule: string, path: string): boolean => {
  const pattern = new PathPattern(normaliseRulePath(octets(rule)))
  const normal = normaliseUrlPath(path)
  return pattern.matches(pattern.namesQuery ? plainQuery(normal) : normal)
}

describe('a pattern', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 14 })
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*', '*'), maxLength: 10 })

  test('matches exactly what the plain reading of stars and dollars matches', () => {
    fc.assert(
      fc.property(pattern, fc.boolean(), letters, (body, isAnchored, path) => {
        const rule = isAnchored ? `${body}$` : body
        expect(new PathPattern(rule).matches(path)).toBe(obviouslyMatches(rule, path))
      }),
      { numRuns: 5_000 },
    )
  })

  test.each([
    ['/fish', '/fish', true],
    ['/fish', '/fishheads/yummy.html', true],
    ['/fish', '/Fish.asp', false],
    ['/fish', '/catfish', false],
    ['/fish*', '/fish', true],
    ['/fish/', '/fish', false],
    ['/*.php', '/index?f=filename.php/', true],
    ['/*.php$', '/filename.php?parameters', false],
    ['/*.php$', '/a.php/b.php', true],
    ['/$', '/', true],
    ['/$', '/a', false],
    ['/*$', '/anything', true],
    ['/a*$', '/b', false],
    ['*.gif$', '/image.gif', true],
    ['/a*a$', '/a', false],
    ['/a$b', '/a$b', true],
    ['/a$b', '/a', false],
    ['fish', '/fish', false],
    ['/**a', '/xa', true],
  ])('%s on %s: %s', (rule, path, expected) => {
    expect(covers(rule, path)).toBe(expected)
  })

  test('a rule of many stars takes no longer than its length and the length of the path', () => {
    // Backtracking would need more steps here than there are atoms; CPU time, with room for a busy machine.
    const path = `/${'a'.repeat(100_000)}`
    const rules = [
      `/${'*a'.repeat(100_000)}b`,
      `/${'*a'.repeat(50)}b`,
      `/${'a*'.repeat(100_000)}$`,
      `/*${'a'.repeat(1_000)}b`,
    ]
    const before = process.cpuUsage()
    for (const rule of rules) covers(rule, path)
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000)
  })
})

describe('escapes', () => {
  test.each([
    ['/foo/bar/ツ', '/foo/bar/%E3%83%84', true],
    ['/foo/bar/%E3%83%84', '/foo/bar/ツ', true],
    ['/foo/bar/%e3%83%84', '/foo/bar/%E3%83%84', true],
    ['/foo/bar/%62%61%7A', '/foo/bar/baz', true],
    ['/foo/bar/baz', '/foo/bar/%62%61%7a', true],
    ['/%7Ejoe', '/~joe/index.html', true],
    ['/a%2Fb', '/a/b', false],
    ['/a/b', '/a%2Fb', false],
    ['/*%2F', '/path/index.html', false],
    ['/a%2fb', '/a%2Fb', true],
    ['/star-%2A.html', '/star-*.html', true],
    ['/star-%2A.html', '/star-x.html', false],
    ['/money-%24', '/money-$', true],
    ['/money-%24', '/money-', false],
    ['/a b', '/a%20b', true],
    ["/q?s='x'", '/q?s=%27x%27', true],
    ['/{id}', '/%7Bid%7D', true],
    ['/*?tag[]=', '/list?tag%5B%5D=a', true],
    ['/%a%a', '/%a%a/index.html', true],
    ['/100%', '/100%', true],
    ['/*%', '/caf%C3%A9', true],
  ])('%s on %s: %s', (rule, path, expected) => {
    expect(covers(rule, path)).toBe(expected)
  })

  test.each([
    ['/foo?baz=https://foo.bar', '/foo?baz=https%3A%2F%2Ffoo.bar', true],
    ['/foo?baz=https%3A%2F%2Ffoo.bar', '/foo?baz=https://foo.bar', true],
    ['/*/print', '/x?back=/print', true],
    ['/*%2F', '/x?back=%2Fprint', true],
    ['/a%2Fb?c', '/a/b?c', false],
    ['/q?a=1%26b', '/q?a=1&b', false],
  ])(
    'in a query a separator means the same escaped or not, where the rule names the query: %s on %s: %s',
    (rule, path, expected) => {
      expect(covers(rule, path)).toBe(expected)
    },
  )

  test('the normal form of a URL is its own normal form, and plain ASCII', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.nat(0xffff).map(character), fc.nat(0xff).map(escape))), (parts) => {
        const text = parts.join('')
        const once = normaliseUrlPath(text)
        expect(once).toMatch(/^[\x21-\x7e]*$/)
        expect(normaliseUrlPath(once)).toBe(once)
      }),
    )
  })

  test('a path without stars and dollars is covered by the rule that spells it, escaped or not', () => {
    const path = fc.string({ unit: 'grapheme' }).filter((text) => !/[*$%]/.test(text))
    fc.assert(
      fc.property(path, (text) => {
        expect(covers(`/${text}`, `/${text}`)).toBe(true)
        expect(covers(`/${text}`, `/${encodeURI(text)}`)).toBe(true)
        expect(covers(`/${encodeURI(text)}`, `/${text}`)).toBe(true)
      }),
    )
  })
})
