import { describe, expect, test } from 'vitest'
import type { CanonicalUrl } from '../url/index.ts'
import { pathLoop } from './path-loops.ts'

const loopIn = (path: string): string | null => pathLoop(`http://h.test${path}` as CanonicalUrl, 3)

test('the longest paths there are cost no more than they should', () => {
  const paths = ['1', 'ab', '1/2', ''].map((name) => `/x/${`${name}/`.repeat(2_000 / (name.length + 1))}`)
  paths.push(`/${Array.from({ length: 1_000 }, (_, at) => (at * at * 7 + (at >> 3)) % 9).join('/')}`)
  const before = process.cpuUsage()
  for (let round = 0; round < 20; round++) for (const path of paths) loopIn(path)
  const { user } = process.cpuUsage(before)
  // Some tenths of a millisecond each; without a bound on runs it is more than a second.
  expect(user / 1_000 / (20 * paths.length)).toBeLessThan(20)
})

describe('a path loops', () => {
  test.for([
    ['/a/b/a/b/a/b/', 'a/b'],
    ['/a/b/a/b/a/b', 'a/b'],
    ['/x/x/x/x/', 'x'],
    ['/en/shop/x/x/x/x/page.html?q=1', 'x'],
    ['/1/a/2/a/1/a/2/a/1/a/2/a/', '1/a/2/a'],
    ['/c/a/b/a/b/a/b/z', 'a/b'],
  ] as const)('%s', ([path, run]) => {
    expect(loopIn(path)).toBe(run)
  })

  test.for([
    '/',
    '/a/b/c/d/e/f/g/h',
    '/x/x/x/',
    '/a/b/a/b/',
    '/1/1/1/1/1/',
    '/2011/11/11/11/11/',
    '//////////',
    '/page?p=/a/a/a/a/a/a',
    '/usr/share/doc/doc/doc/index.html',
  ])('%s does not', (path) => {
    expect(loopIn(path)).toBeNull()
  })
})
