// What is admitted and what is refused by which name; the order of the questions; seeds.

import { describe, expect, test } from 'vitest'
import type { CanonicalUrl } from './canonical-url.ts'
import { compileScope, type Scope, type ScopeOptions } from './scope.ts'

const open: ScopeOptions = { scope: 'any', include: [], exclude: [], maxDepth: null, pathDepth: null, filter: null }

function scopeOf(options: Partial<ScopeOptions>, ...seeds: string[]): Scope {
  const scope = compileScope({ ...open, ...options })
  for (const seed of seeds) scope.addSeed(seed as CanonicalUrl)
  return scope
}

function judge(scope: Scope, url: string, depth = 1): string | null {
  return scope.judge(url as CanonicalUrl, depth)
}

describe('scope host', () => {
  const scope = scopeOf({ scope: 'host' }, 'http://example.org/a/b', 'http://[::1]:8080/')

  test.each(['http://example.org/', 'https://example.org:8443/x', 'ftp://example.org/', 'http://[::1]/'])(
    'admits %s',
    (url) => {
      expect(judge(scope, url)).toBeNull()
    },
  )

  test.each(['http://www.example.org/', 'http://example.org.evil.example/', 'http://example.com/', 'http://[::2]/'])(
    'refuses %s',
    (url) => {
      expect(judge(scope, url)).toBe('out-of-scope')
    },
  )

  test('admits nothing without a seed', () => {
    expect(judge(scopeOf({ scope: 'host' }), 'http://example.org/')).toBe('out-of-scope')
  })
})

describe('scope domain', () => {
  const scope = scopeOf(
    { scope: 'domain' },
    'http://news.bbc.co.uk/',
    'http://alice.github.io/',
    'http://127.0.0.1:81/',
  )

  test.each(['http://bbc.co.uk/', 'https://a.b.bbc.co.uk/', 'http://alice.github.io/x', 'http://127.0.0.1/'])(
    'admits %s',
    (url) => {
      expect(judge(scope, url)).toBeNull()
    },
  )

  test.each(['http://co.uk/', 'http://cbbc.co.uk/', 'http://bob.github.io/', 'http://github.io/', 'http://127.0.0.2/'])(
    'refuses %s',
    (url) => {
      expect(judge(scope, url)).toBe('out-of-scope')
    },
  )
})

describe('scope prefix', () => {
  const scope = scopeOf(
    { scope: 'prefix' },
    'http://h.example/docs/start.html?a/b',
    'http://h.example/blog/',
    'https://i.example',
  )

  test.each([
    'http://h.example/docs/',
    'http://h.example/docs/x/y',
    'http://h.example/docs/?q',
    'http://h.example/blog/1',
  ])('admits %s', (url) => {
    expect(judge(scope, url)).toBeNull()
  })

  test.each([
    'http://h.example/',
    'http://h.example/docs',
    'https://h.example/docs/',
    'http://h.example:81/docs/',
    'http://j.example/docs/',
  ])('refuses %s', (url) => {
    expect(judge(scope, url)).toBe('out-of-scope')
  })

  test('a seed above another takes its place', () => {
    const widened = scopeOf(
      { scope: 'prefix' },
      'http://h.example/a/b/',
      'http://h.example/a/',
      'http://h.example/a/c/',
    )
    expect(judge(widened, 'http://h.example/a/x')).toBeNull()
    expect(judge(widened, 'http://h.example/a/b/x')).toBeNull()
    expect(judge(widened, 'http://h.example/x')).toBe('out-of-scope')
  })
})

test('a seed added later counts at once, also for the host asked about last', () => {
  const scope = scopeOf({ scope: 'host' }, 'http://a.example/')
  expect(judge(scope, 'http://b.example/')).toBe('out-of-scope')
  scope.addSeed('http://b.example/' as CanonicalUrl)
  expect(judge(scope, 'http://b.example/')).toBeNull()
})

test('an origin is not taken for one that begins alike', () => {
  const scope = scopeOf({ scope: 'host' }, 'http://a.example/')
  expect(judge(scope, 'http://a.example/')).toBeNull()
  expect(judge(scope, 'http://a.example.org/')).toBe('out-of-scope')
  expect(judge(scope, 'http://a.example:8080/')).toBeNull()
})

describe('depth', () => {
  test('counts links from the seeds, which have 0', () => {
    const scope = scopeOf({ maxDepth: 1 })
    expect(judge(scope, 'http://h/', 0)).toBeNull()
    expect(judge(scope, 'http://h/', 1)).toBeNull()
    expect(judge(scope, 'http://h/', 2)).toBe('too-deep')
    expect(judge(scopeOf({ maxDepth: 0 }), 'http://h/', 1)).toBe('too-deep')
    expect(judge(scope, 'http://h/', 1_000_000)).toBe('too-deep')
  })

  test('of a path counts directories, not slashes of the query', () => {
    const scope = scopeOf({ pathDepth: 1 })
    expect(judge(scope, 'http://h/a/b?c/d/e')).toBeNull()
    expect(judge(scope, 'http://h/a/b/')).toBe('path-too-deep')
    expect(judge(scope, 'http://h/a/b/c')).toBe('path-too-deep')
    expect(judge(scopeOf({ pathDepth: 0 }), 'http://h/a')).toBeNull()
  })
})

describe('patterns', () => {
  test('exclude wins over include', () => {
    const scope = scopeOf({ include: [/\/a/], exclude: [/\/ab/] })
    expect(judge(scope, 'http://h/a')).toBeNull()
    expect(judge(scope, 'http://h/ab')).toBe('excluded')
    expect(judge(scope, 'http://h/b')).toBe('not-included')
  })

  test('include widens nothing: what is out of scope stays out', () => {
    const scope = scopeOf({ scope: 'host', include: [/./] }, 'http://a.example/')
    expect(judge(scope, 'http://b.example/')).toBe('out-of-scope')
  })

  test('a seed need not match an include, but no exclude', () => {
    const scope = scopeOf({ include: [/\/articles\//], exclude: [/secret/] })
    expect(judge(scope, 'http://h/', 0)).toBeNull()
    expect(judge(scope, 'http://h/secret', 0)).toBe('excluded')
  })

  test('a pattern with a memory answers alike every time', () => {
    const scope = scopeOf({ exclude: [/x/g, /^y/y] })
    for (let i = 0; i < 3; i++) expect(judge(scope, 'http://h/x')).toBe('excluded')
  })
})

test('the filter of the configuration binds seeds too', () => {
  const scope = scopeOf({ filter: { not: { extension: 'zip' } } })
  expect(judge(scope, 'http://h/a.ZIP', 0)).toBe('filtered')
  expect(judge(scope, 'http://h/a.html')).toBeNull()
})

test('the first reason is named: depth, scope, path, exclude, include, filter', () => {
  const scope = scopeOf(
    { scope: 'host', maxDepth: 5, pathDepth: 1, exclude: [/x/], include: [/i/], filter: { protocol: 'https' } },
    'http://h/',
  )
  expect(judge(scope, 'http://other/a/b/c/x', 6)).toBe('too-deep')
  expect(judge(scope, 'http://other/a/b/c/x', 5)).toBe('out-of-scope')
  expect(judge(scope, 'http://h/a/b/c/x', 5)).toBe('path-too-deep')
  expect(judge(scope, 'http://h/a/x', 5)).toBe('excluded')
  expect(judge(scope, 'http://h/a/', 5)).toBe('not-included')
  expect(judge(scope, 'http://h/i/', 5)).toBe('filtered')
  expect(judge(scope, 'https://h/i/', 5)).toBeNull()
})

describe('a black list', () => {
  const scope = scopeOf({ block: ['Spam.example', 'ads.example.org', '127.0.0.9'] })

  test.each([
    'http://spam.example/',
    'https://www.a.spam.example:8443/x',
    'http://ads.example.org/',
    'http://b.ads.example.org/',
    'http://127.0.0.9:81/',
  ])('blocks %s, seeds not excepted', (url) => {
    expect(judge(scope, url)).toBe('blocked')
    expect(judge(scope, url, 0)).toBe('blocked')
  })

  test.each([
    'http://nospam.example/',
    'http://example.org/ads.example.org/',
    'http://example.org/',
    'http://127.0.0.19/',
  ])('admits %s, whatever was asked about before', (url) => {
    expect(judge(scope, 'http://spam.example/')).toBe('blocked')
    expect(judge(scope, url)).toBeNull()
  })

  test('goes by origin', () => {
    expect(scope.goesByOrigin).toBe(true)
  })
})
