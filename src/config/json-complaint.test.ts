// A text that is no JSON is complained of by line and column, and one that is never.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonComplaint } from './json-complaint.ts'

test.for<[text: string, complaint: string]>([
  ['{\n  "a": 1,\n  "b": x\n}', "line 3, column 8: 'x' cannot stand here"],
  ['{\n  "a": 1,\n}', "line 3, column 1: a comma before '}' is one too many"],
  ['{\n  "a": [1, 2,]\n}', "line 2, column 14: a comma before ']' is one too many"],
  ['{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3: a comma is missing before this text'],
  ['{ "a": 1', 'line 1, column 9: the file ends too early'],
  ['', 'line 1, column 1: the file ends too early'],
  ["{ 'a': 1 }", 'line 1, column 3: texts stand in double quotes'],
  ['{\n// why\n"a": 1 }', 'line 2, column 1: comments are not allowed'],
  ['{ "a": "b }', 'line 1, column 8: this text does not end, or has a wrong escape'],
  ['{ "a": "\\x" }', 'line 1, column 8: this text does not end, or has a wrong escape'],
  ['{ a: 1 }', "line 1, column 3: 'a' cannot stand here"],
  ['{ "a": 01 }', "line 1, column 8: '01' cannot stand here"],
  ['{} {}', "line 1, column 4: '{' cannot stand here"],
  ['a: 1', "line 1, column 1: 'a' cannot stand here"],
])('%j: %s', ([text, complaint]) => {
  expect(jsonComplaint(text)).toBe(`is not JSON: ${complaint}`)
})

test('it complains exactly when the engine does', () => {
  const parses = (text: string): boolean => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  const nearlyJson = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '{', ']', '0', '-', '.', 'e', 't', '\\', ' ', '\n', ':'))
    .map(([text, at, change]) => {
      const index = at % (text.length + 1)
      return text.slice(0, index) + change + text.slice(index + (at % 2))
    })
  fc.assert(
    fc.property(nearlyJson, (text) => (jsonComplaint(text) === null) === parses(text)),
    { numRuns: 1_000 },
  )
})
