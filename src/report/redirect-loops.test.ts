// Chains of redirects: which of them never end.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { RedirectLoops } from './redirect-loops.ts'

const urlOf = (name: string | number): string => `http://a.example/${name}`

function loopsOf(redirects: readonly (readonly [from: string, location: string])[], max?: number): [string, string][] {
  const loops = new RedirectLoops(max)
  for (const [from, location] of redirects) loops.note(urlOf(from), 302, location, null)
  const found = loops.loops()
  expect(loops.loopCount).toBe(found.length)
  return found.map(({ url, detail }) => [url.slice(urlOf('').length), detail])
}

test.each(['http://a.example/x', '/x', 'x', 'HTTP://A.example:80/x#top', './x'])(
  'a page that sends its reader to %s, which is itself, is broken',
  (location) => expect(loopsOf([['x', location]])).toEqual([['x', 'redirect loop: leads to itself']]),
)

test('two pages that send their reader to each other are broken, and so is what leads to them', () => {
  expect(
    loopsOf([
      ['in', '/a'],
      ['a', '/b'],
      ['b', '/a'],
      ['far', '/in'],
    ]),
  ).toEqual([
    ['in', 'leads into a redirect loop'],
    ['a', 'redirect loop of 2 URLs'],
    ['b', 'redirect loop of 2 URLs'],
    ['far', 'leads into a redirect loop'],
  ])
})

test('a redirect that arrives somewhere is not broken', () => {
  expect(
    loopsOf([
      ['a', '/b'],
      ['b', 'https://a.example/b'],
      ['c', 'mailto:c@a.example'],
      ['d', '/a'],
      ['e', ''],
    ]),
  ).toEqual([['e', 'redirect loop: leads to itself']])
})

test('beyond the bound only redirects to themselves are noticed', () => {
  expect(
    loopsOf(
      [
        ['a', '/b'],
        ['b', '/a'],
        ['c', '/c'],
      ],
      1,
    ),
  ).toEqual([['c', 'redirect loop: leads to itself']])
})

test('exactly those are broken from which so many steps as there are redirects do not lead out', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(30), { maxLength: 25 }), (targets) => {
      const neverEnds = (from: number): boolean => {
        let at: number | undefined = from
        for (let step = 0; step <= targets.length && at !== undefined; step++) at = targets[at]
        return at !== undefined
      }
      const found = loopsOf(targets.map((target, from) => [String(from), `/${target}`]))
      expect(found.map(([url]) => Number(url))).toEqual([...targets.keys()].filter(neverEnds))
    }),
  )
})
