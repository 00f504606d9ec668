// Where a refresh leads.

import { describe, expect, test } from 'vitest'
import { readMaterial } from '../../test/material.ts'
import { refreshUrl } from './meta-refresh.ts'

test.each([
  ['0; url=x', 'x'],
  ['86400;URL=x', 'x'],
  ['5', null],
  ['', null],
  ['x', null],
  ['-1; url=x', null],
  ['1 x', 'x'],
  ['.5, x', 'x'],
  ["1; url='a b'c", 'a b'],
  ['1; url="x', 'x'],
  ['1; url', 'url'],
  ['1; url=', ''],
])('%j leads to %j', (content, url) => expect(refreshUrl(content)).toBe(url))

const wpt = readMaterial<{ vectors: { content: string; expected: { url: string | null } | null }[] }>(
  'html',
  'wpt-meta-refresh.json',
)
describe.skipIf(wpt === null)('vectors of the web platform tests (skipped where the material is not present)', () => {
  test.each(wpt?.vectors ?? [])('$content', ({ content, expected }) => {
    // The vectors name the URL as resolved, without the line ends and outer space a URL parser drops.
    expect(
      refreshUrl(content)
        ?.replace(/[\t\r\n]/g, '')
        .trim() ?? null,
    ).toBe(expected?.url ?? null)
  })
})
