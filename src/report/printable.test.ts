// A terminal is a machine that obeys bytes; these tests prove that text of the web stays text.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { printable } from './printable.ts'

test.each([
  ['a colour sequence', '\u001b[31mred', '\ufffd[31mred'],
  ['a title-setting sequence', '\u001b]0;owned\u0007', '\ufffd]0;owned\ufffd'],
  ['the one-byte introducer', '\u009b2J', '\ufffd2J'],
  ['line ends and tabs', 'a\r\nb\tc', 'a  b c'],
  ['a right-to-left override', 'gpj.\u202eexe', 'gpj.\ufffdexe'],
  ['a link of its own', '\u001b]8;;http://evil/\u001b\\here', '\ufffd]8;;http://evil/\ufffd\\here'],
  ['text hidden in tags', 'a\u{e0041}b', 'a\ufffdb'],
  ['half a surrogate pair', '\ud83d', '\ufffd'],
  ['ordinary text of any script', 'Übersicht 北京 🙂', 'Übersicht 北京 🙂'],
])('%s is neutralised', (_, text, expected) => {
  expect(printable(text)).toBe(expected)
})

test('no control character survives, whatever comes in', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(printable(text)).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u)
      expect(printable(printable(text))).toBe(printable(text))
    }),
  )
})
