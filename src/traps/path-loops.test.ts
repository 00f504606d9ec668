import { describe, expect, test } from 'vitest'
import type { CanonicalUrl } from '../url/index.ts'
import { pathLoop } from './path-loops.ts'

const loopIn = (path: string): string | null => pathLoop(`http://h.test${path}` as CanonicalUrl, 3)

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
