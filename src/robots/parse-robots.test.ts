// What a robots.txt says, by our own table of the facts that matter, and that nothing makes the parser fail.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normaliseRulePath, normaliseUrlPath, PathPattern, plainQuery } from './path-pattern.ts'
import { parseRobots, ROBOTS_BYTES_MAX } from './parse-robots.ts'
import { productTokenOf } from './product-token.ts'

const file = (text: string): ReturnType<typeof parseRobots> => parseRobots(Buffer.from(text, 'utf8'))
const isAllowed = (text: string, path: string, agent = 'portolan'): boolean =>
  file(text).rulesFor(agent).decide(path).allowed

describe('groups', () => {
  test('an empty file allows everything', () => {
    expect(file('').rulesFor('portolan').decide('/x')).toEqual({ allowed: true, line: null, rule: null })
  })

  test('all groups that name the crawler are one group', () => {
    const text =
      'user-agent: portolan\ndisallow: /a\n\nuser-agent: other\ndisallow: /b\n\nuser-agent: PORTOLAN\ndisallow: /c'
    expect(['/a', '/b', '/c'].map((path) => isAllowed(text, path))).toEqual([false, true, false])
  })

  test('all groups for * are one group, and hold only for crawlers not named anywhere', () => {
    const text = 'user-agent: *\ndisallow: /a\nuser-agent: portolan\ndisallow: /b\nuser-agent: *\ndisallow: /c'
    expect(['/a', '/b', '/c'].map((path) => isAllowed(text, path, 'other'))).toEqual([false, true, false])
    expect(['/a', '/b', '/c'].map((path) => isAllowed(text, path))).toEqual([true, false, true])
  })

  test('a crawler named in a group without rules may ask for everything', () => {
    expect(isAllowed('user-agent: *\ndisallow: /\n\nuser-agent: portolan', '/x')).toBe(true)
  })

  test('several names before a rule share it, whatever other lines stand between', () => {
    const text = 'user-agent: a\nsitemap: /s.xml\ncrawl-delay: 2\nunknown: x\n\nuser-agent: b\ndisallow: /'
    expect([isAllowed(text, '/', 'a'), isAllowed(text, '/', 'b'), isAllowed(text, '/', 'c')]).toEqual([
      false,
      false,
      true,
    ])
  })

  test('rules before any User-agent line hold for nobody', () => {
    expect(isAllowed('disallow: /\nuser-agent: other\ndisallow: /', '/x')).toBe(true)
  })

  test.each([
    ['portolan', 'portolan'],
    ['Portolan/1.0', 'portolan'],
    ['portolan bot of somebody', 'portolan'],
    ['PORTOLAN-Bot', 'portolan-bot'],
    ['MJ12bot', 'mj12bot'],
  ])('a line "User-agent: %s" speaks to %s', (line, agent) => {
    expect(isAllowed(`user-agent: ${line}\ndisallow: /`, '/x', agent)).toBe(false)
  })

  test.each(['port', 'portolan-bot', 'bot'])('a line "User-agent: portolan" does not speak to %s', (agent) => {
    expect(isAllowed('user-agent: portolan\ndisallow: /', '/x', agent)).toBe(true)
  })

  test('names of properties of objects are names like any other', () => {
    expect(isAllowed('user-agent: *\ndisallow: /', '/x', '__proto__')).toBe(false)
    expect(isAllowed('user-agent: constructor\ndisallow: /', '/x', 'toString')).toBe(true)
  })
})

describe('lines', () => {
  const lineEnds = [
    ['LF', '\n'],
    ['CR', '\r'],
    ['CRLF', '\r\n'],
  ] as const

  test.each(lineEnds)('%s ends a line and is counted once', (_, end) => {
    const text = ['# a comment', '', 'User-agent: *', 'Disallow: /x # here', 'Allow: /'].join(end)
    expect(file(text).rulesFor('a').decide('/x')).toEqual({ allowed: false, line: 4, rule: 'Disallow: /x' })
  })

  test.each([
    ['a byte order mark', Buffer.from('\uFEFFuser-agent: *\ndisallow: /')],
    ['half a byte order mark', Buffer.from([0xef, 0xbb, ...Buffer.from('user-agent: *\ndisallow: /')])],
    ['UTF-16, little end first', Buffer.from('\uFEFFuser-agent: *\ndisallow: /', 'utf16le')],
    ['UTF-16, big end first', Buffer.from('\uFEFFuser-agent: *\ndisallow: /', 'utf16le').swap16()],
  ])('%s is read past', (_, bytes) => {
    expect(parseRobots(bytes).rulesFor('a').decide('/x').allowed).toBe(false)
  })

  test.each([
    'DISALLOW: /x',
    '  disallow :/x  ',
    '\tdisallow:\t/x\t# why',
    'disallow /x',
    'Dissallow: /x',
    'disalow: /x',
    'Disallow: /x<br>',
  ])('"%s" forbids /x', (line) => {
    expect(isAllowed(`user-agent: *\n${line}`, '/x')).toBe(false)
  })

  test.each(['disallow', 'disallow:', 'disallow /x /y', 'xdisallow: /x', ': /x', 'no-index: /x', '<p>Disallow', '\0'])(
    '"%s" forbids nothing',
    (line) => {
      expect(isAllowed(`user-agent: *\n${line}`, '/x')).toBe(true)
    },
  )

  test('a path may end in an octet that is a space in other encodings', () => {
    expect(isAllowed('user-agent: *\ndisallow: /voilà', '/voil%C3%A0')).toBe(false)
    expect(isAllowed('user-agent: *\ndisallow: /voilà', '/voil%C3')).toBe(true)
  })

  test('a path in Latin-1 is compared octet by octet', () => {
    const latin1 = parseRobots(Buffer.from('user-agent: *\ndisallow: /b\u00FCcher', 'latin1'))
    expect(latin1.rulesFor('a').decide('/b%FCcher').allowed).toBe(false)
  })

  test('every line that says something is listed, in words and by number', () => {
    expect(file('\nuser-agent: *\n# nothing\nhost: x\nallow: /ü # ok').lines).toEqual([
      { number: 2, kind: 'user-agent', value: '*', text: 'user-agent: *' },
      { number: 4, kind: 'unknown', value: '', text: 'host: x' },
      { number: 5, kind: 'allow', value: '/ü', text: 'allow: /ü' },
    ])
  })

  test('sitemaps are listed once each, wherever they stand', () => {
    const text =
      'sitemap: http://a/1.xml\nuser-agent: x\nSitemap: /2.xml\ndisallow: /\nSITEMAP: http://a/1.xml\nsitemap:'
    expect(file(text).sitemaps).toEqual(['http://a/1.xml', '/2.xml'])
  })
})

describe('decisions', () => {
  test('the longest matching rule decides, an allow before a disallow of its length', () => {
    const text = 'user-agent: *\ndisallow: /a\nallow: /a/b\ndisallow: /a/b/c\ndisallow: /d\nallow: /d'
    expect(['/a', '/a/b', '/a/b/c', '/d', '/e'].map((path) => file(text).rulesFor('x').decide(path).line)).toEqual([
      2,
      3,
      4,
      6,
      null,
    ])
  })

  test('/robots.txt itself is always allowed, but not what only begins like it', () => {
    expect(isAllowed('user-agent: *\ndisallow: /', '/robots.txt')).toBe(true)
    expect(isAllowed('user-agent: *\ndisallow: /', '/robots.txt.bak')).toBe(false)
  })

  test('no path at all is the root', () => {
    expect(isAllowed('user-agent: *\ndisallow: /', '')).toBe(false)
    expect(isAllowed('user-agent: *\ndisallow: /?q', '?q=1')).toBe(false)
  })

  test('equal those of reading every rule and taking the longest', () => {
    const path = fc.string({ unit: fc.constantFrom('a', 'b', '/', '%61', '%2F', '?'), maxLength: 8 })
    const rule = fc.record({
      isAllow: fc.boolean(),
      path: fc
        .tuple(fc.constantFrom('/', '/', '*'), path, fc.constantFrom('', '*', '$', '*a'))
        .map((parts) => parts.join('')),
    })
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 8 }), path, (rules, asked) => {
        const text = rules.map((one) => `${one.isAllow ? 'allow' : 'disallow'}: ${one.path}`).join('\n')
        const decision = file(`user-agent: *\n${text}`).rulesFor('x').decide(`/${asked}`)
        const normal = normaliseUrlPath(`/${asked}`)
        const matching = rules
          .map((one, index) => ({ ...one, line: index + 2, pattern: new PathPattern(normaliseRulePath(one.path)) }))
          .filter(({ pattern }) => pattern.matches(pattern.namesQuery ? plainQuery(normal) : normal))
        const longest = Math.max(0, ...matching.map((one) => one.pattern.length))
        const best = matching.filter((one) => one.pattern.length === longest)
        expect(decision.allowed).toBe(best.length === 0 || best.some((one) => one.isAllow))
        expect(decision.line === null).toBe(best.length === 0)
        if (decision.line !== null) expect(best.map((one) => one.line)).toContain(decision.line)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('delays', () => {
  test.each([
    ['10', 10_000],
    ['0.5', 500],
    ['.25', 250],
    ['0', 0],
    ['2.', 2_000],
    ['1.2.1', null],
    ['10a', null],
    ['-1', null],
    ['1e3', null],
    ['', null],
    ['Infinity', null],
  ])('"Crawl-delay: %s" is %s ms', (value, expected) => {
    expect(file(`user-agent: *\ncrawl-delay: ${value}`).rulesFor('x').crawlDelayMs).toBe(expected)
  })

  test.each([
    ['1/5', 5_000],
    ['1/5s', 5_000],
    ['10/1m', 6_000],
    ['1 / 1h', 3_600_000],
    ['1/10 0600-0845', 10_000],
    ['0/5', null],
    ['1/', null],
    ['1/5d', null],
    ['often', null],
  ])('"Request-rate: %s" is a delay of %s ms', (value, expected) => {
    expect(file(`user-agent: *\nrequest-rate: ${value}`).rulesFor('x').crawlDelayMs).toBe(expected)
  })

  test('a delay speaks to the names right above it, not to those after it', () => {
    const robots = file(
      'user-agent: a\ncrawl-delay: 1\nuser-agent: b\nuser-agent: c\ncrawl-delay: 9\nuser-agent: d\ndisallow: /',
    )
    expect(['a', 'b', 'c', 'd'].map((agent) => robots.rulesFor(agent).crawlDelayMs)).toEqual([
      1_000,
      9_000,
      9_000,
      null,
    ])
  })

  test('a named crawler does not inherit the delay for *', () => {
    expect(
      file('user-agent: *\ncrawl-delay: 5\ndisallow:\nuser-agent: a\ndisallow: /x').rulesFor('a').crawlDelayMs,
    ).toBeNull()
  })

  test('of two delays the longer counts', () => {
    expect(file('user-agent: a\ncrawl-delay: 5\ncrawl-delay: 2').rulesFor('a').crawlDelayMs).toBe(5_000)
  })
})

describe('bounds', () => {
  const head = 'user-agent: *\ndisallow: /kept\n'
  const filler = `${'#'.repeat(99)}\n`

  test('rules within the first 500 KiB count, later ones do not, and half a line never does', () => {
    const body = head + filler.repeat(Math.ceil(ROBOTS_BYTES_MAX / filler.length))
    const cutInLine = `${body.slice(0, ROBOTS_BYTES_MAX - 12)}\ndisallow: /private`
    const robots = file(`${cutInLine}\ndisallow: /late`)
    expect(robots.isCut).toBe(true)
    expect(['/kept', '/private', '/late', '/'].map((path) => robots.rulesFor('x').decide(path).allowed)).toEqual([
      false,
      true,
      true,
      true,
    ])
  })

  test('a file of exactly the limit is whole, last line included', () => {
    const tail = '\ndisallow: /end'
    const text = (head + filler.repeat(6_000)).slice(0, ROBOTS_BYTES_MAX - tail.length) + tail
    expect(text.length).toBe(ROBOTS_BYTES_MAX)
    expect(file(text).isCut).toBe(false)
    expect(isAllowed(text, '/end')).toBe(false)
  })

  test('a reader that cut the file can say so', () => {
    const cut = parseRobots(Buffer.from('user-agent: *\ndisallow: /a\ndisallow: /'), true)
    expect(cut.rulesFor('x').decide('/b').allowed).toBe(true)
  })

  test('any bytes are a robots.txt, and any path can be decided', () => {
    const line = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom('user-agent: *', 'disallow: /*a$', 'allow: ', 'crawl-delay: 1', '<', '>', '%', '\uFEFF')
        .map((text) => Buffer.from(text)),
    )
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(0xffff)), (lines, units) => {
        const path = String.fromCharCode(...units)
        const robots = parseRobots(Buffer.concat(lines.flatMap((bytes) => [bytes, Buffer.from('\n')])))
        expect(typeof robots.rulesFor(path).decide(path).allowed).toBe('boolean')
        expect(robots.lines.every((one) => one.text !== '')).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test('half a megabyte of anything is read in time that grows with its length', () => {
    const hostile = [
      '<',
      '< ',
      'a:',
      '\r',
      'disallow ',
      'user-agent: a\n',
      'disallow:/*a\n',
      'user-agent:a\ndisallow:/\n',
      ' ',
    ]
    const before = process.cpuUsage()
    for (const text of hostile)
      file(text.repeat(Math.floor(ROBOTS_BYTES_MAX / text.length)))
        .rulesFor('x')
        .decide('/a')
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000)
  })
})

test.each([
  ['Portolan/0.1 (+https://portolan.example/)', 'portolan'],
  ['portolan', 'portolan'],
  ['  Foo_Bar-Baz bot', 'foo_bar-baz'],
  ['Go!Zilla/2.0', 'go!zilla'],
  ['(nothing)', ''],
  ['', ''],
])('the product token of "%s" is "%s"', (userAgent, token) => {
  expect(productTokenOf(userAgent)).toBe(token)
})
