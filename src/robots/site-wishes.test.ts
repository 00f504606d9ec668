// What a site asks of the use of its pages: by lines of robots.txt, by its tdmrep.json, and what a crawl makes of it.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OPT_OUTS, type OptOut } from '../base/index.ts'
import { type OptOutAction, OptOutPolicy } from './opt-out-policy.ts'
import { robotsOptions } from './options.ts'
import { parseRobots } from './parse-robots.ts'
import { SiteWishes } from './site-wishes.ts'
import { parseTdmFile, TDM_RULES_MAX } from './tdm-file.ts'

const asked = (robots: string, path: string, token = 'portolan'): string[] =>
  SiteWishes.of(parseRobots(Buffer.from(robots)).usageFor(token), [])
    ?.usageOf(path)
    .map(({ optOut }) => optOut) ?? []

describe('lines of robots.txt about use', () => {
  const draft =
    'User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: / train-ai=n\nContent-Usage: /ai-ok/ train-ai=y\n\n' +
    'User-Agent: ExampleBot\nAllow: /\nContent-Usage: / train-ai=y\n'
  test.each([
    ['/test', 'portolan', ['ai-train']],
    ['/ai-ok/test', 'portolan', []],
    ['/test', 'examplebot', []],
  ])('the example of the draft: %s for %s', (path, token, expected) => {
    expect(asked(draft, path, token)).toEqual(expected)
  })

  test.each<[robots: string, path: string, expected: string[]]>([
    ['User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /', '/', ['ai-train']],
    ['Content-signal: ai-input=no\nUser-agent: *\nDisallow:', '/a', ['ai-input']],
    ['User-agent: a\nContent-Signal: search=no\nUser-agent: *\nDisallow: /x', '/', ['noindex']],
    ['User-agent: other\nContent-Signal: ai-train=no', '/', []],
    // Of two that are as long, the one that denies; what a longer one does not speak of is left as it is.
    ['User-agent: *\nContent-Usage: / train-ai=y\nContent-Usage: / train-ai=n', '/', ['ai-train']],
    ['User-agent: *\nContent-Usage: / train-ai=n, search=n\nContent-Usage: /a train-ai=y', '/a', ['noindex']],
    ['User-agent: *\nContent-Usage: /*.pdf$ train-ai=n', '/x/y.pdf', ['ai-train']],
    ['User-agent: *\nContent-Usage: /only-a-path', '/only-a-path', []],
    ['User-agent: *\nContent-Usage:', '/', []],
  ])('%j asks for %s: %j', (robots, path, expected) => {
    expect(asked(robots, path)).toEqual(expected)
  })

  test('they allow and forbid nothing by themselves, and do not part a group', () => {
    const rules = parseRobots(
      Buffer.from('User-agent: portolan\nContent-Signal: ai-train=no\nUser-agent: other\nDisallow: /x'),
    ).rulesFor('portolan')
    expect([rules.decide('/').allowed, rules.decide('/x').allowed]).toEqual([true, false])
  })
})

describe('tdmrep.json', () => {
  const word = (content: unknown, path: string): unknown =>
    SiteWishes.of(
      [],
      parseTdmFile(Buffer.from(typeof content === 'string' ? content : JSON.stringify(content))),
    )?.tdmOf(path)?.isReserved ?? null
  const rule = (location: unknown, reservation: unknown): object => ({ location, 'tdm-reservation': reservation })

  test.each<[content: unknown, path: string, expected: boolean | null]>([
    [[rule('/', 1)], '/any?x', true],
    [[rule('/open/', 0), rule('/', 1)], '/open/a', false],
    [[rule('/', 1), rule('/open/', 0)], '/open/a', true],
    [[rule('/a/*.html$', 1)], '/a/b/c.html', true],
    [[rule('/a/*.html$', 1)], '/a/b/c.html?x', null],
    [[rule('/x', '1')], '/x', true],
    [rule('/x', 1), '/x', true],
    [[rule('/x', 2), rule('/x', true), rule('/x', null), rule(7, 1), null, 'x', []], '/x', null],
    ['{', '/x', null],
    ['', '/x', null],
    ['[{"__proto__":{"location":"/","tdm-reservation":1}}]', '/x', null],
  ])('%j says of %s: %j', (content, path, expected) => {
    expect(word(content, path)).toBe(expected)
  })

  test('takes any bytes, and so many rules at most', () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => Array.isArray(parseTdmFile(bytes))))
    fc.assert(fc.property(fc.json(), (text) => Array.isArray(parseTdmFile(Buffer.from(text)))))
    const many = Array.from({ length: 3 * TDM_RULES_MAX }, (_, i) => rule(`/${i}`, 1))
    expect(parseTdmFile(Buffer.from(JSON.stringify(many)))).toHaveLength(TDM_RULES_MAX)
    expect(({} as Record<string, unknown>)['location']).toBeUndefined()
  })
})

describe('what is done about it', () => {
  const policy = (options: object): OptOutPolicy => new OptOutPolicy(robotsOptions.parse(options))
  const actions = (options: object, mediaType = 'text/html'): Partial<Record<OptOut, OptOutAction>> => {
    const found: Partial<Record<OptOut, OptOutAction>> = {}
    for (const optOut of Object.keys(OPT_OUTS) as OptOut[]) {
      const { action } = policy(options).actionFor([optOut], mediaType)
      if (action !== 'note') found[optOut] = action
    }
    return found
  }

  test.each<[options: object, expected: object]>([
    [{}, { noarchive: 'unstored' }],
    [{ purpose: 'search' }, { noarchive: 'unstored', noindex: 'skip' }],
    [{ purpose: 'ai' }, { noarchive: 'unstored', noai: 'skip', 'ai-train': 'skip', 'ai-input': 'skip', tdm: 'skip' }],
    [{ purpose: 'ai', robots: 'ignore' }, {}],
    [{ optOuts: { noarchive: 'note', tdm: 'skip' } }, { tdm: 'skip' }],
  ])('%j: %j, the rest is noted', (options, expected) => {
    expect(actions(options)).toEqual(expected)
  })

  test('what is said of images binds images', () => {
    expect(actions({ purpose: 'ai' }, 'image/png')).toMatchObject({ noimageai: 'skip' })
  })

  test('the strictest counts, whatever the order', () => {
    const some = policy({ purpose: 'ai' })
    for (const optOuts of [['noarchive', 'noai'] as const, ['noai', 'noarchive'] as const]) {
      expect(some.actionFor(optOuts, null)).toEqual({ action: 'skip', by: 'noai' })
    }
  })

  test.each([
    [{}, false],
    [{ purpose: 'ai' }, true],
    [{ optOuts: { tdm: 'unstored' } }, true],
    [{ tdmFile: 'always' }, true],
    [{ tdmFile: 'always', robots: 'ignore' }, false],
    [{ purpose: 'ai', optOuts: { tdm: 'note' } }, false],
  ])('%j asks for tdmrep.json: %j', (options, expected) => {
    expect(policy(options).wantsTdmFile).toBe(expected)
  })

  test.each([{ purpose: 'money' }, { optOuts: { noai: 'obey' } }, { optOuts: { nofun: 'skip' } }])(
    '%j is refused',
    (options) => {
      expect(robotsOptions.safeParse(options).success).toBe(false)
    },
  )
})
