// What is honest passes, what is a trap does not, and what was learnt is learnt for good.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../base/index.ts'
import { scanHtml, type Sketch, spansOfText } from '../parse/index.ts'
import { parseOptions } from '../parse/options.ts'
import { type CanonicalUrl, hostKeyOf } from '../url/index.ts'
import { type TrapsOptions, trapsOptions } from './options.ts'
import { type Lesson, TrapWatch } from './trap-watch.ts'

const HTML = parseOptions.parse({})

function sketchOf(text: string): Sketch | null {
  return scanHtml(Buffer.from(text), { charset: 'utf-8' }, HTML).sketch
}

/** Some hundred words that are all of a seed. */
function textOf(seed: string | number): string {
  return Array.from(
    { length: 200 },
    (_, at) => `w${(at * 7919 + String(seed).length * 31) ^ (at * Number(seed))}`,
  ).join(' ')
}

function directory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-test-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

function open(options: Partial<TrapsOptions> = {}, dir = directory()): Promise<TrapWatch> {
  const all = trapsOptions.parse(options)
  return TrapWatch.open({
    options: all,
    budgets: { hosts: all.domainHosts, pages: all.domainPages },
    clock: systemClock,
    pagesOf: () => 0,
    path: join(dir, 'traps.jsonl'),
  })
}

const at = (path: string): CanonicalUrl => (path.startsWith('http') ? path : `http://h.test${path}`) as CanonicalUrl

function visit(
  watch: TrapWatch,
  path: string,
  text: string,
  leads: readonly string[] = [],
  more: Partial<Lesson> = {},
): string | null {
  const url = at(path)
  const candidate = { url, host: hostKeyOf(url), isSeed: false }
  const refused = watch.judge(candidate)
  if (refused !== null) return refused.reason
  watch.asked(candidate)
  watch.learn({
    ...candidate,
    via: null,
    status: 200,
    sketch: sketchOf(text),
    title: null,
    charset: 'utf-8',
    leads: leads.map((lead) => ({ url: at(lead), host: hostKeyOf(at(lead)) })),
    leadsAway: 0,
    spans: spansOfText([]),
    html: null,
    ...more,
  })
  return null
}

/** The first refusal of so many visits, and after how many. */
function firstRefusal(count: number, one: (index: number) => string | null): { reason: string | null; after: number } {
  for (let index = 0; index < count; index++) {
    const reason = one(index)
    if (reason !== null) return { reason, after: index }
  }
  return { reason: null, after: count }
}

describe('floods', () => {
  test('the same text that feeds itself is closed after the pages that were set', async () => {
    const watch = await open({ floodPages: 50 })
    const same = textOf(1)
    const first = firstRefusal(100, (n) => visit(watch, `/p/${n}`, `${same} ${n}`, [`/p/${n + 1}`]))
    expect(first).toEqual({ reason: 'near-duplicates', after: 50 })
    expect(visit(watch, '/other/1', same)).toBeNull()
  })

  test.for<[why: string, one: (watch: TrapWatch, n: number) => string | null]>([
    ['every page brings a text of its own', (watch, n) => visit(watch, `/p/${n}`, textOf(n), [`/p/${n + 1}`])],
    ['they are mostly menu and all known from the start', (watch, n) => visit(watch, `/p/${n}`, textOf(1))],
    ['each shows another picture', (watch, n) => visit(watch, `/p/${n}`, textOf(1), [`/p/${n + 1}`, `/img/${n}.jpg`])],
    ['versions of a manual look alike', (watch, n) => visit(watch, `/v${n}/x.html`, textOf(1), [`/v${n + 1}/x.html`])],
    [
      'what they lead to is of another agent',
      (watch, n) => visit(watch, `/p/${n}`, textOf(1), [`/p/${n + 1}`], { leadsAway: 1 }),
    ],
  ])('an honest directory stays open: %s', async ([, one]) => {
    const watch = await open({ floodPages: 50, pathLoops: 0 })
    expect(firstRefusal(400, (n) => one(watch, n))).toEqual({ reason: null, after: 400 })
  })

  test('a soft 404 is known by the host’s own 404', async () => {
    const watch = await open({ softMissing: 20 })
    const body = Buffer.from(`<p>${textOf(3)}`)
    visit(watch, '/gone', '', [], { status: 404, sketch: null, html: { bytes: () => body } })
    const first = firstRefusal(60, (n) => visit(watch, `/p/${n}`, textOf(3), [`/p/${n + 1}`]))
    expect(first).toEqual({ reason: 'soft-404', after: 20 })
  })

  test('a host’s own 404 is not read for every dead link', async () => {
    const watch = await open()
    const body = Buffer.from(`<p>${textOf(3)}`)
    let read = 0
    const html = { bytes: () => (read++, body) }
    for (let n = 0; n < 500; n++) visit(watch, `/gone/${n}`, '', [], { status: 404, sketch: null, html })
    expect(read).toBe(16)
  })

  test('a soft 404 is known by what its title says, again and again', async () => {
    const watch = await open({ softMissing: 20 })
    const title = 'Página no encontrada'
    const first = firstRefusal(60, (n) => visit(watch, `/p/${n}`, textOf(3), [`/p/${n + 1}`], { title }))
    expect(first).toEqual({ reason: 'soft-404', after: 20 })
  })
})

describe('session ids', () => {
  const id = (n: number): string => `k${(n * 7919 + 13).toString(36)}x9`

  test('a parameter that changes nothing is learnt, and a page is still visited once', async () => {
    const watch = await open()
    const first = firstRefusal(50, (n) => visit(watch, `/a?sid=${id(n)}`, textOf(1), [`/a?sid=${id(n + 1)}`]))
    expect(first).toEqual({ reason: 'session-id', after: 9 })
    expect(visit(watch, `/b?sid=${id(90)}`, textOf(2))).toBeNull()
    expect(visit(watch, `/b?sid=${id(91)}`, textOf(2))).toBe('session-id')
    expect(visit(watch, `http://other.test/a?sid=${id(1)}`, textOf(1))).toBeNull()
  })

  test('none where that is switched off', async () => {
    const watch = await open({ sessionIds: 0 })
    expect(firstRefusal(50, (n) => visit(watch, `/a?sid=${id(n)}`, textOf(1), [`/a?sid=${id(n + 1)}`])).reason).toBe(
      null,
    )
  })

  test('a path parameter too', async () => {
    const watch = await open()
    const path = (n: number): string => `/a;jsessionid=${id(n)}`
    expect(firstRefusal(50, (n) => visit(watch, path(n), textOf(1), [path(n + 1)])).reason).toBe('session-id')
  })

  test.for<[why: string, one: (watch: TrapWatch, n: number) => string | null]>([
    ['it changes the text', (watch, n) => visit(watch, `/a?id=${id(n)}`, textOf(n), [`/a?id=${id(n + 1)}`])],
    ['it changes the picture', (watch, n) => visit(watch, `/a?id=${id(n)}`, textOf(1), [`/i/${id(n)}.jpg`])],
    ['it is a number', (watch, n) => visit(watch, `/a?id=${n}`, textOf(1), [`/a?id=${n + 1}`])],
    [
      'the title says another thing',
      (watch, n) => visit(watch, `/a?id=${id(n)}`, textOf(1), [`/a?id=${id(n + 1)}`], { title: `${n}` }),
    ],
  ])('another parameter is not taken for one: %s', async ([, one]) => {
    const watch = await open({ floodPages: 0 })
    expect(firstRefusal(100, (n) => one(watch, n)).reason).toBeNull()
  })
})

describe('facets', () => {
  const path = (n: number): string =>
    `/shop?${['a', 'b', 'c', 'd'].flatMap((name, at) => (((n >> (2 * at)) & 3) === 0 ? [] : [`${name}=${(n >> (2 * at)) & 3}`])).join('&')}`

  test('combinations that lead nowhere are not all asked for; one parameter alone always is', async () => {
    const watch = await open({ facetPages: 100 })
    const first = firstRefusal(256, (n) => visit(watch, path(255 - n), textOf(n), n < 3 ? ['/item/1'] : []))
    expect(first).toEqual({ reason: 'query-explosion', after: 100 })
    expect(visit(watch, '/shop?a=1', textOf(1))).toBeNull()
    expect(visit(watch, '/shop?a=1&page=7', textOf(1))).toBeNull()
    expect(visit(watch, '/shop?a=1&b=2&page=7', textOf(1))).toBe('query-explosion')
  })

  test('pictures in all sizes are none', async () => {
    const watch = await open({ facetPages: 100 })
    const picture = { sketch: null, spans: null }
    expect(firstRefusal(256, (n) => visit(watch, path(255 - n), '', [], picture)).reason).toBeNull()
  })

  test('ids are none, nor combinations that lead to items', async () => {
    const ids = await open({ facetPages: 100 })
    expect(firstRefusal(400, (n) => visit(ids, `/x?id=${n}&lang=${n % 3}`, textOf(n))).reason).toBeNull()
    const items = await open({ facetPages: 100 })
    expect(firstRefusal(256, (n) => visit(items, path(n), textOf(n), [`/item/${n}`])).reason).toBeNull()
  })
})

describe('path loops by content', () => {
  test('directories that show what the one above shows are not followed down', async () => {
    const watch = await open()
    const first = firstRefusal(9, (n) => {
      const names = ['q/', 'r/', 's/', 't/', 'u/', 'v/', 'w/', 'x/', 'y/']
      const here = `/${names.slice(0, n + 1).join('')}`
      return visit(watch, here, textOf(1), [`${here}${names[n + 1]}`, `${here}z/`])
    })
    expect(first).toEqual({ reason: 'path-loop', after: 4 })
  })

  test('nor those whose text differs a little, where the same names are below each', async () => {
    const watch = await open()
    const first = firstRefusal(9, (n) => {
      const here = `/${['q/', 'r/', 'q/', 'q/', 'r/', 'r/', 'q/', 'r/', 'q/'].slice(0, n + 1).join('')}`
      return visit(watch, here, `${textOf(1)} ${textOf(2)} made at ${n} o’clock`, [`${here}r/`, `${here}q/`])
    })
    expect(first).toEqual({ reason: 'path-loop', after: 4 })
  })
})

describe('subdomains', () => {
  const begin = (watch: TrapWatch, n: number): string | null =>
    visit(watch, `http://s${n}.many.test/`, textOf(1), [`http://s${n + 1}.many.test/`])

  test('hosts that all begin with the same page are enough at some time; known ones go on', async () => {
    const watch = await open({ echoHosts: 20 })
    const first = firstRefusal(60, (n) => begin(watch, n))
    expect(first).toEqual({ reason: 'subdomains', after: 20 })
    expect(visit(watch, 'http://s1.many.test/more', textOf(5))).toBeNull()
    expect(visit(watch, 'http://s99.others.test/', textOf(1))).toBeNull()
  })

  test('hosts with pages of their own are never too many', async () => {
    const watch = await open({ echoHosts: 20 })
    expect(firstRefusal(300, (n) => visit(watch, `http://s${n}.many.test/`, textOf(n))).reason).toBeNull()
  })
})

describe('what was learnt', () => {
  test('is known after a restart, with every budget spent so far', async () => {
    const dir = directory()
    const options = { floodPages: 30, echoHosts: 20, prefixPages: 100, domainPages: 200 }
    const watch = await open(options, dir)
    for (let n = 0; n < 31; n++) visit(watch, `/p/${n}`, textOf(1), [`/p/${n + 1}`])
    for (let n = 0; n < 20; n++) visit(watch, `http://s${n}.many.test/`, textOf(1), [`http://s${n + 1}.many.test/`])
    for (let n = 0; n < 20; n++) visit(watch, `/a?sid=k${n}7x${n}`, textOf(2), [`/a?sid=k${n + 1}7x${n + 1}`])
    for (let n = 0; n < 99; n++) visit(watch, `/b/x${n}`, textOf(n))
    await watch.close()
    const again = await open(options, dir)
    expect(again.warning).toBeNull()
    expect(visit(again, '/p/999', textOf(1))).toBe('near-duplicates')
    expect(visit(again, 'http://s77.many.test/', textOf(1))).toBe('subdomains')
    expect(visit(again, '/a?sid=k99x99', textOf(2))).toBe('session-id')
    expect(visit(again, '/b/one', textOf(1))).toBeNull()
    expect(visit(again, '/b/two', textOf(2))).toBe('prefix-budget')
    await again.close()
    const third = await open(options, dir)
    await third.close()
    expect(readFileSync(join(dir, 'traps.jsonl'), 'utf8')).toContain('near-duplicates')
  })

  test('is bounded: what was not used for long is forgotten', async () => {
    const dir = directory()
    const watch = await open({ hostsKept: 5, placesKept: 7 }, dir)
    for (let n = 0; n < 100; n++) {
      visit(watch, `http://h${n}.d${n}.test/a${n}/b${n}/?sid=${n}a${n}b${n}`, textOf(n))
      visit(watch, `http://h${n}.d${n}.test/a${n}/b${n}/c`, textOf(n))
    }
    await watch.close()
    const kinds = readFileSync(join(dir, 'traps.jsonl'), 'utf8').match(/^\["[a-z]+"/gm) ?? []
    for (const kind of new Set(kinds)) expect(kinds.filter((one) => one === kind).length, kind).toBeLessThanOrEqual(7)
  })
})

test('a seed is always asked for', async () => {
  const watch = await open({ domainHosts: 1, domainPages: 1, prefixPages: 1 })
  const seeds = ['http://a.d.test/x/x/x/x/x/', 'http://b.d.test/1', 'http://b.d.test/2', 'http://b.d.test/3'].map(at)
  for (const url of seeds) {
    const candidate = { url, host: hostKeyOf(url), isSeed: true }
    expect(watch.judge(candidate)).toBeNull()
    watch.asked(candidate)
  }
})
