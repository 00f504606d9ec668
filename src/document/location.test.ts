// A Location is read as browsers read it: UTF-8 where it is UTF-8, bytes where it is not.

import { expect, test } from 'vitest'
import { locationOf } from './location.ts'

const of = (value: string | null): string | null => locationOf({ header: () => value })

test.for([
  ['/plain?x=1', '/plain?x=1'],
  ['/caf\u00c3\u00a9', '/café'],
  ['/caf\u00e9', '/caf%E9'],
  ['/\u00e6\u00b5\u00b7/\u00ff', '/%E6%B5%B7/%FF'],
])('%j points to %s', ([raw, expected]) => expect(of(String(raw))).toBe(expected))

test('no header, no location', () => expect(of(null)).toBeNull())
