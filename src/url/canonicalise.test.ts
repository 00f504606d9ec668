// The canonical form by our own tables: what is made one, what stays distinct, what is refused and by which
// name. The vectors of others are in url-vectors.test.ts, the laws over random links in canonicalise.fuzz.ts.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { BaseUrl } from './base-url.ts'
import type { CanonicalUrl } from './canonical-url.ts'
import { canonicalise, compileCanonicaliser } from './canonicalise.ts'
import { defaultKey, Fingerprinter } from './fingerprint.ts'
import { REFUSED } from './refusal.ts'

const page = 'https://example.org/a/b/c.html?q=1' as CanonicalUrl

describe('what is made one', () => {
  test.each([
    ['HTTP://Example.ORG', 'http://example.org/', 'scheme and host in lower case, a path'],
    ['http://example.org:80/', 'http://example.org/', 'the default port of http goes'],
    ['https://example.org:443/x', 'https://example.org/x', 'the default port of https goes'],
    ['ftp://example.org:21/x', 'ftp://example.org/x', 'the default port of ftp goes'],
    ['gopher://example.org:70/1/x', 'gopher://example.org/1/x', 'the default port of gopher goes'],
    ['http://example.org:0081/', 'http://example.org:81/', 'a port loses its zeros'],
    ['http://example.org:/', 'http://example.org/', 'an empty port goes'],
    ['http://example.org/a#b', 'http://example.org/a', 'a fragment goes'],
    ['http://example.org/a#!b', 'http://example.org/a', 'a hash-bang goes like any fragment'],
    ['http://example.org/a#', 'http://example.org/a', 'an empty fragment goes'],
    ['http://example.org/a/./b/../c', 'http://example.org/a/c', 'dot segments are resolved'],
    ['http://example.org/a/%2e%2E/c', 'http://example.org/c', 'escaped dot segments too'],
    ['http://example.org/../../c', 'http://example.org/c', 'nothing lies above the root'],
    ['http://example.org/%7euser/%2d', 'http://example.org/~user/-', 'escapes of unreserved characters are undone'],
    ['http://example.org/?a=%7e', 'http://example.org/?a=~', 'in the query too'],
    ['http://example.org/%c3%a9?%e9', 'http://example.org/%C3%A9?%E9', 'escapes are in upper case'],
    ['http://example.org/é?é', 'http://example.org/%C3%A9?%C3%A9', 'other characters are escaped as UTF-8'],
    ['http://example.org/a b?c d', 'http://example.org/a%20b?c%20d', 'spaces are escaped'],
    [
      ' \thttp://exa\nmple.org/a\r\nb ',
      'http://example.org/ab',
      'white space around goes, tabs and line ends inside too',
    ],
    ['http:\\\\example.org\\a\\b', 'http://example.org/a/b', 'backslashes are slashes'],
    ['http:///example.org/x', 'http://example.org/x', 'superfluous slashes before the host go'],
    ['http:example.org', 'http://example.org/', 'missing slashes before the host come'],
    ['http://example.org./x', 'http://example.org/x', 'the dot at the end of a host goes'],
    ['http://example.org.:8080/x', 'http://example.org:8080/x', 'before a port too'],
    ['http://bücher.example/', 'http://xn--bcher-kva.example/', 'international names are in ASCII'],
    ['http://xn--bcher-kva.example/', 'http://xn--bcher-kva.example/', 'and stay so'],
    ['http://b%C3%BCcher.example/', 'http://xn--bcher-kva.example/', 'escapes in a host are undone'],
    ['http://[2001:DB8:0:0:0:0:0:1]:8080/', 'http://[2001:db8::1]:8080/', 'IPv6 literals in their short form'],
    ['http://0x7f.1/', 'http://127.0.0.1/', 'IPv4 addresses in their usual form'],
    ['file:///a/./b%41?q#f', 'file://localhost/a/bA', 'a file is of this machine, and its path is all of it'],
    ['file://LOCALHOST/a', 'file://localhost/a', 'a file is of this machine, whoever says so'],
    ['ftps://EXAMPLE.org:990/a b', 'ftps://example.org/a%20b', 'the default port of ftps goes'],
    ['gopher://EXAMPLE.org', 'gopher://example.org/', 'a gopher host is read as any other'],
    ['http://@example.org/', 'http://example.org/', 'an empty user name is none'],
  ])('%s is %s: %s', (href, expected) => {
    expect(canonicalise(href)).toBe(expected)
  })
})

describe('what stays distinct', () => {
  test.each([
    ['http://www.example.org/', 'http://example.org/', 'www'],
    ['http://example.org/a/', 'http://example.org/a', 'a slash at the end'],
    ['http://example.org/index.html', 'http://example.org/', 'the name of an index'],
    ['http://example.org/?a=1&b=2', 'http://example.org/?b=2&a=1', 'the order of parameters'],
    ['http://example.org/?', 'http://example.org/', 'an empty query'],
    ['http://example.org/?a=', 'http://example.org/?a', 'an empty value'],
    ['http://example.org//a', 'http://example.org/a', 'an empty segment'],
    ['http://example.org/A', 'http://example.org/a', 'the case of a path'],
    ['http://example.org/', 'https://example.org/', 'the scheme'],
    ['http://example.org/', 'http://example.org:8080/', 'a port'],
    ['http://example.org/%2F', 'http://example.org//', 'an escaped slash'],
    ['http://example.org/%2541', 'http://example.org/%41', 'an escape escaped'],
    ['http://example.org/%', 'http://example.org/%25', 'a percent sign alone'],
    ['http://example.org/%%341', 'http://example.org/%41', 'a percent sign before an escape'],
    ['http://example.org/%4%31', 'http://example.org/%41', 'half an escape before an escape'],
    ['http://example.org/?sid=1', 'http://example.org/?sid=2', 'session ids, unless there is a rule'],
  ])('%s and %s: %s', (one, other) => {
    expect(typeof canonicalise(one)).toBe('string')
    expect(canonicalise(one)).not.toBe(canonicalise(other))
  })
})

describe('what is refused, by name', () => {
  test.each([
    ['javascript:void(0)', 'scheme'],
    ['JavaScript:x', 'scheme'],
    [' java\tscript:x', 'scheme'],
    ['mailto:a@example.org', 'scheme'],
    ['data:text/html,x', 'scheme'],
    ['tel:+4912345', 'scheme'],
    ['file://other.example/etc/passwd', 'invalid-url'],
    ['ftps:/example.org', 'invalid-url'],
    ['ftps://user@example.org/', 'userinfo'],
    ['ws://example.org/', 'scheme'],
    ['about:blank', 'scheme'],
    ['blob:https://example.org/1', 'scheme'],
    ['unknown-scheme://[', 'scheme'],
    ['http://user@example.org/', 'userinfo'],
    ['http://user:password@example.org/', 'userinfo'],
    ['http://:password@example.org/', 'userinfo'],
    ['gopher://user@example.org/', 'userinfo'],
    ['', 'invalid-url'],
    ['a/b', 'invalid-url'],
    ['//example.org/', 'invalid-url'],
    ['http://', 'invalid-url'],
    ['http://?a', 'invalid-url'],
    ['http://a b/', 'invalid-url'],
    ['http://[::1/', 'invalid-url'],
    ['http://1.2.3.256/', 'invalid-url'],
    ['http://example.org:65536/', 'invalid-url'],
    ['http://./', 'invalid-url'],
    ['http://example.org../', 'invalid-url'],
    ['http://xn--a.ß/', 'invalid-url'],
    ['gopher:/example.org', 'invalid-url'],
    ['gopher://exa mple/', 'invalid-url'],
    [`http://example.org/${'a'.repeat(2_065)}`, 'too-long'],
  ] as const)('%s: %s', (href, reason) => {
    expect(canonicalise(href)).toBe(REFUSED[reason])
  })

  test('the longest URL accepted has 2,083 characters', () => {
    const url = `http://example.org/${'a'.repeat(2_064)}`
    expect(url).toHaveLength(2_083)
    expect(canonicalise(url)).toBe(url)
  })

  test('length is measured on the canonical form, where a fragment does not count and an escape does', () => {
    expect(canonicalise(`http://example.org/#${'a'.repeat(9_000)}`)).toBe('http://example.org/')
    expect(canonicalise(`http://example.org/${'é'.repeat(400)}`)).toBe(REFUSED['too-long'])
  })
})

describe('relative links', () => {
  test.each([
    ['', 'https://example.org/a/b/c.html?q=1'],
    ['#top', 'https://example.org/a/b/c.html?q=1'],
    ['?x', 'https://example.org/a/b/c.html?x'],
    ['?', 'https://example.org/a/b/c.html?'],
    ['d', 'https://example.org/a/b/d'],
    ['./d', 'https://example.org/a/b/d'],
    ['.', 'https://example.org/a/b/'],
    ['..', 'https://example.org/a/'],
    ['../d', 'https://example.org/a/d'],
    ['../../../d', 'https://example.org/d'],
    ['.././d', 'https://example.org/a/d'],
    ['...', 'https://example.org/a/b/...'],
    ['.d', 'https://example.org/a/b/.d'],
    ['/d?e=/../f', 'https://example.org/d?e=/../f'],
    ['//other.example/d', 'https://other.example/d'],
    ['//other.example', 'https://other.example/'],
    ['https:d', 'https://example.org/a/b/d'],
    ['http:d', 'http://d/'],
    [':23', 'https://example.org/a/b/:23'],
    ['d;p=1', 'https://example.org/a/b/d;p=1'],
    ['a:b', REFUSED.scheme],
  ])('%s', (href, expected) => {
    expect(canonicalise(href, page)).toBe(expected)
    expect(canonicalise(href, BaseUrl.of(page))).toBe(expected)
  })

  test('links of a gopher page stay on it', () => {
    expect(canonicalise('../0/x', 'gopher://example.org/1/a/b' as CanonicalUrl)).toBe('gopher://example.org/1/0/x')
  })
})

function resolve(href: string, baseHref: string | null): unknown {
  return canonicalise(href, BaseUrl.ofPage(page, baseHref))
}

describe('the base of a page', () => {
  test('is its own URL without a base element', () => {
    expect(resolve('d', null)).toBe('https://example.org/a/b/d')
  })

  test('is the base element, itself relative to the page', () => {
    expect(resolve('d', '/x/')).toBe('https://example.org/x/d')
    expect(resolve('d', 'http://other.example:80/x/y?z#f')).toBe('http://other.example/x/d')
    expect(resolve('', 'http://other.example/x?y#f')).toBe('http://other.example/x?y')
  })

  test('is its own URL when the base element holds no URL, or a data: or javascript: one', () => {
    expect(resolve('d', 'http://[')).toBe('https://example.org/a/b/d')
    expect(resolve('d', 'data:text/html,x')).toBe('https://example.org/a/b/d')
    expect(resolve('d', 'javascript:x')).toBe('https://example.org/a/b/d')
  })

  test('may be one whose links are refused', () => {
    expect(resolve('d', 'http://user@other.example/')).toBe(REFUSED.userinfo)
    expect(resolve('d', 'sftp://a.example/')).toBe(REFUSED.scheme)
    expect(resolve('#x', 'mailto:a@b')).toBe(REFUSED.scheme)
    expect(resolve('http://third.example/d', 'http://user@other.example/')).toBe('http://third.example/d')
  })
})

describe('session ids', () => {
  const dropping = compileCanonicaliser({ urlLength: 2_083, sessionIds: ['PHPSESSID', 'jsessionid'] })

  test.each([
    ['http://example.org/?phpsessid=1&a=2', 'http://example.org/?a=2'],
    ['http://example.org/?a=2&PHPSESSID=1', 'http://example.org/?a=2'],
    ['http://example.org/?PHPSESSID=1', 'http://example.org/'],
    ['http://example.org/?PHPSESSID', 'http://example.org/'],
    ['http://example.org/a;jsessionid=1?b', 'http://example.org/a?b'],
    ['http://example.org/a;jsessionid=1/b;v=2', 'http://example.org/a/b;v=2'],
    ['http://example.org/?a&&b', 'http://example.org/?a&&b'],
    ['http://example.org/?', 'http://example.org/?'],
    ['http://example.org/?xPHPSESSID=1', 'http://example.org/?xPHPSESSID=1'],
    ['http://example.org/?a=PHPSESSID=1', 'http://example.org/?a=PHPSESSID=1'],
  ])('%s is %s under a rule', (href, expected) => {
    expect(dropping(href)).toBe(expected)
  })

  test('a URL is measured after its session id was dropped', () => {
    expect(dropping(`http://example.org/?phpsessid=${'1'.repeat(3_000)}`)).toBe('http://example.org/')
  })
})

test('a fingerprinted URL keeps the text of its page no longer alive', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const fingerprinter = new Fingerprinter(defaultKey)
  const kept: CanonicalUrl[] = []
  for (let i = 0; i < 60; i++) {
    const text = `${Buffer.alloc(1_000_000, 97 + (i % 26)).toString('latin1')}/a/long/path/to/page-${i}.html`
    const url = canonicalise(text.slice(1_000_000), page) as CanonicalUrl
    fingerprinter.compute(url)
    kept.push(url)
  }
  collect()
  const { heapUsed } = process.memoryUsage()
  expect(kept).toHaveLength(60)
  kept.length = 0
  collect()
  // Sixty pages are sixty megabytes; what the URLs themselves hold is nothing beside one page.
  expect(heapUsed - process.memoryUsage().heapUsed).toBeLessThan(1_000_000)
})
