// What is told again, to whom, and for how long: by RFC 6265bis, by what curl's own tests expect, and held against tough-cookie.

import fc from 'fast-check'
import { CookieJar as ToughJar } from 'tough-cookie'
import { describe, expect, test } from 'vitest'
import { readMaterial } from '../../test/material.ts'
import { CookieJar } from './cookie-jar.ts'
import { cookieDate } from './set-cookie.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const LIMITS = { perHost: 50, bytes: 2 ** 20 }

function hostOf(url: string): string {
  return new URL(url).hostname
}

/** A jar that was told these lines by a URL, asked at another. */
function sentTo(at: string, from: string, lines: readonly string[], laterMs = 0): string {
  const jar = new CookieJar(LIMITS)
  jar.take(hostOf(from), from, lines, NOW_MS)
  return jar.header(hostOf(at), at, NOW_MS + laterMs)
}

describe('a cookie', () => {
  test.each([
    ['is sent back', 'http://a.test/x/y', ['k=v'], 'http://a.test/x/z', 'k=v'],
    ['goes to no other host', 'http://a.test/', ['k=v'], 'http://b.test/', ''],
    ['of a domain stays with the host that set it', 'http://www.a.test/', ['k=v; Domain=a.test'], 'http://a.test/', ''],
    ['of its own domain is sent back', 'http://www.a.test/', ['k=v; Domain=.A.test'], 'http://www.a.test/', 'k=v'],
    ['of another host is refused', 'http://a.test/', ['k=v; Domain=b.test'], 'http://a.test/', ''],
    ['of a host below is refused', 'http://a.test/', ['k=v; Domain=www.a.test'], 'http://a.test/', ''],
    ['of the half of a name is refused', 'http://aa.test/', ['k=v; Domain=a.test'], 'http://aa.test/', ''],
    [
      'of a public suffix is refused',
      'http://a.co.uk/',
      ['k=v; Domain=.co.uk', 'l=w; Domain=uk'],
      'http://a.co.uk/',
      '',
    ],
    [
      'of everybody at a host of pages is refused',
      'http://me.github.io/',
      ['k=v; Domain=github.io'],
      'http://me.github.io/',
      '',
    ],
    [
      'of an address is the address’s',
      'http://127.0.0.1/',
      ['k=v; Domain=127.0.0.1', 'l=w; Domain=.0.0.1'],
      'http://127.0.0.1/',
      'k=v',
    ],
    ['of a single label is the host’s', 'http://localhost/', ['k=v; domain=localhost;'], 'http://localhost/', 'k=v'],
    ['knows no port', 'http://a.test:81/', ['k=v'], 'http://a.test:82/', 'k=v'],
    ['is sent below its path', 'http://a.test/', ['k=v; Path=/x'], 'http://a.test/x/y', 'k=v'],
    ['is not sent beside its path', 'http://a.test/', ['k=v; Path=/x'], 'http://a.test/xy', ''],
    ['has the folder of its page as a path', 'http://a.test/x/y', ['k=v'], 'http://a.test/', ''],
    ['with a nonsense path has that too', 'http://a.test/x/y', ['k=v; path="/"'], 'http://a.test/x/', 'k=v'],
    ['does not see the query', 'http://a.test/x?/y/', ['k=v'], 'http://a.test/z', 'k=v'],
    ['with Secure is not sent in the clear', 'https://a.test/', ['k=v; Secure'], 'http://a.test/', ''],
    ['with Secure is sent over TLS', 'https://a.test/', ['k=v; Secure'], 'https://a.test/', 'k=v'],
    ['with Secure is not taken in the clear', 'http://a.test/', ['k=v; Secure'], 'https://a.test/', ''],
    ['without a name is a value', 'http://a.test/', ['v'], 'http://a.test/', 'v'],
    ['without anything is none', 'http://a.test/', ['', ' = ', ';k=v'], 'http://a.test/', ''],
    ['keeps what is odd in its value', 'http://a.test/', ['k= "a=b" c ; Path=/'], 'http://a.test/', 'k="a=b" c'],
    ['named like an attribute is one', 'http://a.test/', ['domain=value;path=/'], 'http://a.test/', 'domain=value'],
    ['with a control character is none', 'http://a.test/', ['k=a\0b', 'k=a\x7fb'], 'http://a.test/', ''],
    ['of more than 4096 characters is none', 'http://a.test/', [`k=${'v'.repeat(4_096)}`], 'http://a.test/', ''],
    ['with two paths has the last', 'http://a.test/', ['k=v; path=/x; path=/'], 'http://a.test/', 'k=v'],
    ['set twice is the last', 'http://a.test/', ['k=v', 'l=w', 'k=x'], 'http://a.test/', 'k=x; l=w'],
    [
      'of a longer path goes first',
      'http://a.test/x/y',
      ['k=v; Path=/', 'k=w; Path=/x'],
      'http://a.test/x',
      'k=w; k=v',
    ],
    [
      'with __Host- must be of the host alone',
      'https://a.test/',
      [
        '__Host-a=1; Secure; Path=/',
        '__host-b=2; Secure; Path=/; Domain=a.test',
        '__Host-c=3; Path=/',
        '__Host-d=4; Secure',
      ],
      'https://a.test/',
      '__Host-a=1',
    ],
    [
      'with __Secure- must be',
      'https://a.test/',
      ['__Secure-a=1', '__SECURE-b=2; Secure', '__Secure-c'],
      'https://a.test/',
      '__SECURE-b=2',
    ],
  ] as const)('%s', (_what, from, lines, at, expected) => {
    expect(sentTo(at, from, lines)).toBe(expected)
  })

  test.each([
    ['k=v; Max-Age=10', 9_999, 'k=v'],
    ['k=v; Max-Age=10', 10_000, ''],
    ['k=v; Max-Age=-1', 0, ''],
    ['k=v; Max-Age=0; Expires=Thu, 01 Jan 2030 00:00:00 GMT', 0, ''],
    ['k=v; Max-Age=many', 0, 'k=v'],
    ['k=v; Expires=Thu, 01-Jan-26 00:00:05 GMT', 4_999, 'k=v'],
    ['k=v; Expires=Thu, 01-Jan-26 00:00:05 GMT', 5_000, ''],
    ['k=v; Expires=tomorrow', 0, 'k=v'],
    // Nothing is for ever.
    ['k=v; Expires=Fri Feb 13 11:56:27 GMT 2132', 401 * 86_400_000, ''],
  ])('%s, %i ms later, is %j', (line, laterMs, expected) => {
    expect(sentTo('http://a.test/', 'http://a.test/', [line], laterMs)).toBe(expected)
  })

  test('is taken back by one that has expired', () => {
    const jar = new CookieJar(LIMITS)
    expect(jar.take('a.test', 'http://a.test/', ['k=v'], NOW_MS)).toBe(true)
    expect(jar.take('a.test', 'http://a.test/', ['k=v; Max-Age=9'], NOW_MS)).toBe(false)
    expect(jar.take('a.test', 'http://a.test/', ['k=; Max-Age=0'], NOW_MS)).toBe(true)
    expect(jar.take('a.test', 'http://a.test/', ['k=; Max-Age=0'], NOW_MS)).toBe(false)
    expect(jar.figures).toEqual({ hosts: 0, cookies: 0, bytes: 0, refused: 0, dropped: 0 })
    expect(jar.isEmpty).toBe(true)
  })

  test('that is secure is not replaced in the clear', () => {
    const jar = new CookieJar(LIMITS)
    jar.take('a.test', 'https://a.test/', ['k=secret; Secure; Path=/x'], NOW_MS)
    jar.take('a.test', 'http://a.test/', ['k=1; Path=/x', 'k=2; Path=/x/y', 'l=3; Path=/x', 'k=4'], NOW_MS)
    expect(jar.header('a.test', 'https://a.test/x/y/z', NOW_MS)).toBe('k=secret; l=3; k=4')
  })
})

describe('memory is bounded', () => {
  test('by cookies of a host: what is not secure goes first, then the oldest', () => {
    const jar = new CookieJar({ perHost: 3, bytes: 2 ** 20 })
    jar.take('a.test', 'https://a.test/', ['s=1; Secure', 'a=1', 'b=1', 'c=1'], NOW_MS)
    expect(jar.header('a.test', 'https://a.test/', NOW_MS)).toBe('s=1; b=1; c=1')
    jar.take('a.test', 'https://a.test/', ['t=1; Secure', 'u=1; Secure', 'v=1; Secure'], NOW_MS)
    expect(jar.header('a.test', 'https://a.test/', NOW_MS)).toBe('t=1; u=1; v=1')
    expect(jar.figures.dropped).toBe(4)
  })

  test('by bytes in all: the host that was not asked for longest goes first', () => {
    const jar = new CookieJar({ perHost: 50, bytes: 3_000 })
    for (const host of ['a.test', 'b.test', 'c.test']) {
      jar.take(host, `http://${host}/`, [`k=${'v'.repeat(600)}`], NOW_MS)
      jar.header('a.test', 'http://a.test/', NOW_MS)
    }
    expect(jar.figures).toMatchObject({ hosts: 3, cookies: 3, dropped: 0 })
    jar.take('d.test', 'http://d.test/', [`k=${'v'.repeat(600)}`], NOW_MS)
    expect(jar.header('b.test', 'http://b.test/', NOW_MS)).toBe('')
    expect(jar.header('a.test', 'http://a.test/', NOW_MS)).not.toBe('')
    expect(jar.figures).toMatchObject({ hosts: 3, cookies: 3, dropped: 1 })
    expect(jar.figures.bytes).toBeLessThanOrEqual(3_000)
  })

  test('and a header is never longer than servers take', () => {
    const jar = new CookieJar(LIMITS)
    const lines = Array.from({ length: 20 }, (_, i) => `k${i}=${'v'.repeat(2_000)}`)
    jar.take('a.test', 'http://a.test/', lines, NOW_MS)
    expect(jar.header('a.test', 'http://a.test/', NOW_MS).length).toBeLessThanOrEqual(8_190)
  })
})

interface CurlTest {
  readonly test: number
  readonly replies: readonly { readonly text?: string; readonly base64?: string }[]
  readonly requestsSent: string
}

/** Tests of curl in which a server's cookies come back, by number, with the scheme of each request. Of 427 it has another order. */
const CURL = new Map<number, readonly ('http' | 'https')[]>([
  [27, ['http', 'http', 'http']],
  [414, ['https', 'http', 'https']],
  [1024, ['http', 'http', 'http']],
  [1258, ['http', 'http']],
  [1562, ['https', 'https', 'https']],
  [1629, ['http', 'http']],
])

const curl = readMaterial<{ readonly tests: readonly CurlTest[] }>('http', 'curl-http-tests.json')

describe.skipIf(curl === null)('requests carry the cookies that curl’s tests expect', () => {
  test.each([...CURL])('test %i', (number, schemes) => {
    const found = curl?.tests.find((one) => one.test === number)
    const requests = found?.requestsSent.split(/^GET /m).slice(1) ?? []
    expect(requests.length).toBe(schemes.length)
    const jar = new CookieJar(LIMITS)
    for (const [i, request] of requests.entries()) {
      const path = request.slice(0, request.indexOf(' '))
      const host = (/^Host: (.*)$/m.exec(request)?.[1] ?? '').replace('%HOSTIP', '127.0.0.1').replace(/:%.*$/, '')
      const url = `${schemes[i]}://${host}${path}`
      expect(jar.header(host, url, NOW_MS)).toBe(/^Cookie: (.*?)\r?$/m.exec(request)?.[1] ?? '')
      const { text, base64 = '' } = found?.replies[i] ?? found?.replies[0] ?? {}
      const reply = text ?? Buffer.from(base64, 'base64').toString('latin1')
      jar.take(
        host,
        url,
        [...reply.matchAll(/^Set-Cookie: (.*?)\r?$/gm)].map(([, line = '']) => line),
        NOW_MS,
      )
    }
  })
})

describe('as tough-cookie does it', () => {
  const path = fc.constantFrom('', '; Path=/', '; Path=/a', '; Path=/a/', '; path=/a/b', '; Path=a')
  // Not the host's own name: there the RFC it goes by knows one cookie, and browsers two.
  const domain = fc.constantFrom('', '; Domain=.a.test', '; Domain=test', '; Domain=b.test')
  const life = fc.constantFrom(
    '',
    '; Max-Age=60',
    '; Max-Age=0',
    '; Expires=Fri, 02 Jan 2099 00:00:00 GMT',
    '; Expires=Fri, 02 Jan 1998 00:00:00 GMT',
  )
  const pair = fc
    .tuple(fc.constantFrom('a', 'b', ' c '), fc.constantFrom('1', '', 'x y', '"q"'))
    .map((two) => two.join('='))
  const line = fc
    .tuple(pair, path, domain, life, fc.constantFrom('', '; Secure', '; HttpOnly'))
    .map((all) => all.join(''))
  const url = fc.constantFrom('', 'a', 'a/', 'a/b', 'a/b/c?d/e').map((one) => `https://www.a.test/${one}`)

  test('any lines, from any page, give the same header for any other', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(url, line), { maxLength: 8 }), url, (told, asked) => {
        const jar = new CookieJar(LIMITS)
        const tough = new ToughJar(undefined, { looseMode: true })
        for (const [from, said] of told) {
          jar.take('www.a.test', from, [said], Date.now())
          tough.setCookieSync(said, from, { ignoreError: true })
        }
        const expected = tough.getCookieStringSync(asked)
        expect(sorted(jar.header('www.a.test', asked, Date.now()))).toEqual(sorted(expected))
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    ['Wed, 09 Jun 2021 10:18:14 GMT', Date.UTC(2021, 5, 9, 10, 18, 14)],
    ['Sunday, 06-Nov-94 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Sun Nov  6 08:49:37 1994', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['06 NOVEMBER 69 8:49:37', Date.UTC(2069, 10, 6, 8, 49, 37)],
    ['Fri Feb 13 11:56:27 ......GMT 2132', Date.UTC(2132, 1, 13, 11, 56, 27)],
    ['31 Feb 2026 00:00:00', null],
    ['01 Jan 1600 00:00:00', null],
    ['01 Jan 2026 24:00:00', null],
    ['01 Jan 2026', null],
    ['', null],
  ])('%j is %j', (text, ms) => {
    expect(cookieDate(text)).toBe(ms)
  })
})

/** tough-cookie goes by the millisecond of a cookie's creation, which is one and the same here. */
function sorted(header: string): string[] {
  return header.split('; ').toSorted()
}
