// Which URLs are asked about before they are asked for, and what a HEAD leads to.

import { expect, test } from 'vitest'
import { type FetchOutcome, TypeFilter } from '../fetch/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { seedEntry } from './admission.ts'
import { HeadFirst } from './head-first.ts'

function entry(url: string, more: Partial<FrontierEntry> = {}): FrontierEntry {
  return { ...seedEntry(url as CanonicalUrl), ...more }
}

const ALL = new TypeFilter([], [])
const TEXT = new TypeFilter(['text/*'], ['text/css'])

test.each([
  ['http://a.test/', ALL, false],
  ['http://a.test/page', ALL, false],
  ['http://a.test/page.html', TEXT, false],
  ['http://a.test/page.php?file=a.zip', ALL, false],
  ['http://films.mp4/', ALL, false],
  ['http://a.test/film.MP4', ALL, true],
  ['http://a.test/all.tar.gz?v=1', ALL, true],
  ['http://a.test/picture.png', ALL, false],
  ['http://a.test/picture.png', TEXT, true],
  ['http://a.test/style.css', ALL, false],
  ['http://a.test/style.css', TEXT, true],
  ['http://a.test/table.csv', TEXT, false],
  ['http://a.test/x.constructor', TEXT, false],
] as const)('doubtful or not: %s', (url, filter, isDue) => {
  expect(new HeadFirst('doubtful', filter).isDue(entry(url))).toBe(isDue)
  expect(new HeadFirst('always', filter).isDue(entry(url))).toBe(true)
})

test('only HTTP, and only what was never asked for', () => {
  const heads = new HeadFirst('always', ALL)
  expect(heads.isDue(entry('ftp://a.test/x'))).toBe(false)
  expect(heads.isDue(entry('http://a.test/x', { tries: 1 }))).toBe(false)
})

const LOST = { kind: 'failed', code: 'FETCH_CONNECTION_LOST', detail: '', durationMs: 0 } as const
const REFUSED = { kind: 'failed', code: 'FETCH_CONNECT_REFUSED', detail: '', durationMs: 0 } as const
const SKIPPED = { kind: 'skipped', reason: 'type-filtered', detail: '' } as const

test.each<[string, FetchOutcome, boolean]>([
  ['one that was dropped', LOST, true],
  ['a host that is not there', REFUSED, false],
  ['what is not wanted', SKIPPED, false],
])('GET follows once, or not: %s', (_what, outcome, leadsOn) => {
  const heads = new HeadFirst('always', ALL)
  const one = entry('http://a.test/x')
  expect(heads.isDue(one)).toBe(true)
  expect(heads.leadsOn(one, outcome)).toBe(leadsOn)
  expect(heads.isDue(one)).toBe(!leadsOn)
  expect(heads.isDue(one)).toBe(true)
})

test('a memory that is full asks for the page at once', () => {
  const heads = new HeadFirst('always', ALL, 2)
  for (const name of ['a', 'b']) heads.leadsOn(entry(`http://${name}.test/`), LOST)
  expect(heads.isDue(entry('http://c.test/'))).toBe(false)
  expect(heads.figures).toEqual({ answers: 2, left: 1 })
  expect(heads.isDue(entry('http://a.test/'))).toBe(false)
  expect(heads.isDue(entry('http://c.test/'))).toBe(true)
})
