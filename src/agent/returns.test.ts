// What the line of a 304 says: about the answer, and about the content that still holds.

import { expect, test } from 'vitest'
import { plainDocument } from '../../test/plain-document.ts'
import { pageDirectives } from '../robots/index.ts'
import type { PageRecord } from '../store/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { seedEntry } from './admission.ts'
import type { Asked } from './page-wishes.ts'
import { returnNoteOf, unchangedRecord } from './returns.ts'

const URL = 'http://a.test/' as CanonicalUrl
const WARC = { file: 'archive/a.warc', offset: 0, length: 9 }

const PAGE: PageRecord = {
  url: URL,
  status: 200,
  type: 'text/html',
  bytes: 9,
  wireBytes: 5,
  depth: 0,
  digest: 'sha256:aa',
  payloadDigest: 'sha256:bb',
  fetchedAt: '2026-01-01T00:00:00.000Z',
  via: null,
  firstByteMs: 1,
  durationMs: 2,
  ip: '127.0.0.1',
  warc: WARC,
  etag: '"1"',
  lastModified: 'Wed, 01 Jan 2020 00:00:00 GMT',
  title: 'A page',
  noindex: true,
  optOuts: ['noindex'],
  optOutSource: 'meta robots: noindex',
}

function asked(rawHeaders: readonly string[] = []): Asked {
  const directives = pageDirectives({
    rawHeaders,
    metaRobots: [],
    productToken: 'portolan',
    site: null,
    pathAndQuery: '',
    wallMs: 0,
  })
  return { directives, action: 'note', by: null }
}

function visitedAgain(page: PageRecord, rawHeaders: readonly string[] = []): PageRecord {
  const document = plainDocument(URL, '', { status: 304, rawHeaders })
  const note = returnNoteOf(page)
  if (note.capture === null) throw new Error('nothing that could be unchanged')
  return unchangedRecord(seedEntry(URL), document, asked(rawHeaders), { ...note, capture: note.capture }, WARC)
}

test('it stands for the content it had: digests, validators, and what the page said of itself', () => {
  const second = visitedAgain(PAGE)
  const { digest, payloadDigest, etag, lastModified, type, title, noindex, optOuts, optOutSource } = PAGE
  expect(second).toMatchObject({ status: 304, bytes: 0, wireBytes: 0, visit: 2, revisitOf: PAGE.fetchedAt })
  expect(second).toMatchObject({
    digest,
    payloadDigest,
    etag,
    lastModified,
    type,
    title,
    noindex,
    optOuts,
    optOutSource,
  })
  const third = visitedAgain(second)
  expect(third).toEqual({ ...second, visit: 3 })
})

test('what the server says now is added to it', () => {
  const second = visitedAgain(PAGE, ['ETag', '"2"', 'X-Robots-Tag', 'noarchive'])
  expect(second).toMatchObject({ etag: '"2"', lastModified: PAGE.lastModified })
  expect(second.optOuts).toEqual(expect.arrayContaining(['noindex', 'noarchive']))
  expect(second.optOutSource).toContain('meta robots: noindex')
})

test.each([
  ['a failure', { ...PAGE, status: 404 }],
  ['a page that was cut', { ...PAGE, truncated: 'length' }],
  ['a 304 that nobody asked for', { ...PAGE, status: 304 }],
])('%s is nothing that could be unchanged', (_what, page) => {
  expect(returnNoteOf(page).capture).toBeNull()
})

test('what is not in the archive is known as such', () => {
  expect(returnNoteOf({ ...PAGE, warc: null }).capture?.payloadDigest).toBeNull()
})
