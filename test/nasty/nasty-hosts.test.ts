// Every nasty host of the test web, asked by the fetcher itself: what each comes to has a name, the host
// is asked once, and its connection carries nothing into the next request.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Document } from '../../src/document/index.ts'
import { locationOf } from '../../src/document/index.ts'
import type { FetchOutcome } from '../../src/fetch/index.ts'
import { canonicalise, type CanonicalUrl } from '../../src/url/index.ts'
import { BEHAVIOURS, FAMILIES, NOT_SHOWN } from '../../testweb/index.ts'
import { readMaterial } from '../material.ts'
import { EXPECTED } from './expected.ts'
import type { Expected, ExpectedPage } from './expected-outcome.ts'
import { type NastyStand, openNastyStand } from './nasty-stand.ts'

/** Small, so that what has no end is over soon. */
const LIMITS = { bodyMax: '64KiB', decodedMax: '64KiB' }
/** Behaviours that are about these limits; the others are asked with usual ones. */
const LIMITED = new Set(['chunk-limit', 'infinite-body', 'infinite-chunks', 'gzip-trunc-limit'])

let usual: NastyStand
beforeAll(async () => {
  usual = await openNastyStand()
})
afterAll(async () => {
  await usual[Symbol.asyncDispose]()
})

function check(
  document: Document,
  { status = 200, body, truncated, decoding = 'none', type, headers = {} }: ExpectedPage,
): void {
  expect(document).toMatchObject({ status, truncated: truncated ?? null, decoding })
  const text = Buffer.from(document.body.bytes()).toString('latin1')
  if (typeof body === 'number') expect(document.body.length).toBe(body)
  else if (typeof body === 'string') expect(text).toBe(body)
  else if (body !== undefined) expect(body.test(text), JSON.stringify(text.slice(0, 100))).toBe(true)
  if (type !== undefined) expect(document.mediaType).toBe(type)
  for (const [name, value] of Object.entries(headers)) expect(document.header(name)).toBe(value)
}

async function expectOutcome(outcome: FetchOutcome, expected: Expected): Promise<void> {
  if ('page' in expected) {
    if (outcome.kind !== 'fetched') throw new Error(`not fetched: ${JSON.stringify(outcome)}`)
    check(outcome.document, expected.page)
  } else if ('skipped' in expected) expect(outcome).toMatchObject({ kind: 'skipped', reason: expected.skipped })
  else {
    if (outcome.kind !== 'failed') throw new Error(`did not fail: ${outcome.kind}`)
    expect([expected.failed].flat()).toContain(outcome.code)
    // For people: a few words, and nothing that differs from run to run.
    expect(outcome.detail).toMatch(/^[^\n]{5,300}$/)
    expect(outcome.detail).not.toMatch(/[0-9A-F]{12,}:error|Node\.js/)
  }
}

describe.each(FAMILIES)('%s', (family) => {
  const names = [...BEHAVIOURS].filter(([, one]) => one.family === family).map(([name]) => name)
  test.each(names)('%s', async (name) => {
    const expected = EXPECTED[name]
    if (expected === undefined) throw new Error(`no row for ${name} in expected.ts`)
    if (LIMITED.has(name)) {
      await using stand = await openNastyStand(LIMITS)
      await expectOutcome(await stand.ask(name), expected)
      return
    }
    const stand = usual
    await expectOutcome(await stand.ask(name), expected)
    expect(stand.fetcher.figures.underWay).toBe(0)
    expect(stand.face.heads(name).length).toBeLessThanOrEqual(1)
    if ('failed' in expected && expected.atLast !== undefined) {
      const kept = await stand.ask(name, '/', { acceptPartial: true })
      await expectOutcome(kept, { page: expected.atLast })
    }
  })
})

test('every row is of a behaviour that is shown', () => {
  expect(Object.keys(EXPECTED).filter((name) => !BEHAVIOURS.has(name))).toEqual([])
  expect(Object.keys(NOT_SHOWN).filter((name) => BEHAVIOURS.has(name))).toEqual([])
})

// What a host said beyond its answer must not become the answer to the next question.
test.each([
  'cl-too-small',
  '204-with-body',
  '304-with-body',
  'pipelined-garbage',
  'cl-and-te',
  'http10-keepalive',
  'head-with-body',
])('after %s the next page of the host is its own', async (name) => {
  await usual.ask(name)
  const next = await usual.ask(name, '/plain')
  expect(next.kind).toBe('fetched')
  if (next.kind === 'fetched') check(next.document, { body: /A plain page/, type: 'text/html' })
})

test.each([
  'rst-mid-body',
  'chunk-bad-size',
  'body-stalls',
  'http-0.9',
  'closes-after-keep-alive',
  'rst-after-request',
  'tls-garbage-record',
  'tls-no-close-notify',
])('after %s the host can be asked again', async (name) => {
  await usual.ask(name)
  // Its closing, if any, is heard first.
  await usual.turns()
  expect(await usual.ask(name, '/plain')).toMatchObject({ kind: 'fetched', document: { status: 200 } })
})

describe('where redirects lead', () => {
  async function followed(name: string): Promise<(string | null)[]> {
    const places: (string | null)[] = []
    for (let i = 0; ; i++) {
      const outcome = await usual.ask(name, `/r${i}`)
      if (outcome.kind !== 'fetched' || outcome.document.status !== 302) return places
      const location = locationOf(outcome.document)
      const resolved = location === null ? null : canonicalise(location, outcome.document.url)
      places.push(typeof resolved === 'string' ? resolved.replace(usual.face.url(name, ''), '') : null)
    }
  }

  test('relative ones, against the URL that was asked', async () => {
    const places = ['/by-path', '/by-host', '/r2?by=query', '/dots', '/r4', '/by-name']
    expect(await followed('redirect-relative')).toEqual(places)
  })

  test('blanks and bytes beyond ASCII are escaped', async () => {
    expect(await followed('redirect-space')).toEqual(['/with%20blanks', '/with-%C3%BCmlaut', '/with-%FCmlaut'])
  })

  test('from https to http', async () => {
    const outcome = await usual.ask('redirect-https-downgrade')
    const location = outcome.kind === 'fetched' ? outcome.document.header('location') : null
    expect(location).toMatch(/^http:\/\/127\.126\.\d+\.\d+:\d+\/plain$/)
  })
})

// The URL standard decides what is asked for; what goes over the wire is just that.
test.each<[name: string, suffix: string, line: string]>([
  ['request-query-no-slash', '?171', 'GET /?171 HTTP/1.1'],
  ['request-two-qm', '/??blahblah', 'GET /??blahblah HTTP/1.1'],
  ['request-percent', '/99%', 'GET /99% HTTP/1.1'],
  ['request-spaces', '/url with spaces?query with spaces', 'GET /url%20with%20spaces?query%20with%20spaces HTTP/1.1'],
])('%s: %s is asked for as it should be', async (name, suffix, line) => {
  const url = canonicalise(usual.face.url(name, '') + suffix) as CanonicalUrl
  await usual.ask(name, url.slice(usual.face.url(name, '').length))
  expect(usual.face.heads(name).at(-1)?.split('\r\n')[0]).toBe(line)
})

test('host-default-port: the port of the scheme is not said to the host', () => {
  expect(canonicalise('http://localhost:80/')).toBe('http://localhost/')
  expect(usual.face.heads('host-default-port').at(-1)).toMatch(/\r\nhost: 127\.126\.\d+\.\d+:\d+\r\n/)
})

test('redirect-to-private-ip: none of them is connected to unless asked to', async () => {
  await using stand = await openNastyStand({ allowPrivate: false })
  for (const ip of ['10.255.255.254', '169.254.169.254', '127.0.0.1']) {
    const outcome = await stand.ask('redirect-to-private-ip', '/', { addresses: [{ ip, family: 4 }] })
    expect(outcome).toMatchObject({ kind: 'skipped', reason: 'private-address' })
  }
  const mapped = [{ ip: '::ffff:127.0.0.1', family: 6 as const }]
  expect(await stand.ask('redirect-to-private-ip', '/', { addresses: mapped })).toMatchObject({
    reason: 'private-address',
  })
  expect(stand.face.openConnections).toBe(0)
})

test('tls: all but broken handshakes can be had by choice', async () => {
  await using stand = await openNastyStand({ tls: 'accept-any' })
  for (const name of [
    'tls-expired',
    'tls-not-yet',
    'tls-wrong.host',
    'tls-self-signed',
    'tls-untrusted-root',
    'tls-superfish',
  ]) {
    expect(await stand.ask(name), name).toMatchObject({ kind: 'fetched', document: { status: 200 } })
  }
  for (const name of ['tls-null', 'tls-tls-v1-0', 'tls-plain-http-on-443', 'tls-dh1024']) {
    expect(await stand.ask(name), name).toMatchObject({ kind: 'failed', code: 'FETCH_TLS_FAILED' })
  }
})

interface Nasty {
  readonly cases: readonly { readonly name: string; readonly category: string }[]
}
const material = readMaterial<Nasty>('http', 'nasty-servers.json')
test.skipIf(material === null)(
  `every case others know is shown, or has a reason why not${material === null ? ' (material not present)' : ''}`,
  () => {
    const cases = material?.cases ?? []
    expect(cases.length).toBeGreaterThan(100)
    expect(cases.filter(({ name }) => !BEHAVIOURS.has(name) && !(name in NOT_SHOWN))).toEqual([])
    const elsewhere = cases.filter(({ name, category }) => {
      const shown = BEHAVIOURS.get(name)
      return shown !== undefined && shown.family !== category
    })
    expect(elsewhere).toEqual([])
  },
)
