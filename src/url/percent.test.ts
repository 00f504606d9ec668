import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isSettledEscape, normalisePercent } from './percent.ts'

test.each([
  ['', ''],
  ['abc', 'abc'],
  ['%41%7e%2d%2e%5f%30', 'A~-._0'],
  ['%2f%3a%c3%a9', '%2F%3A%C3%A9'],
  ['%', '%'],
  ['%4', '%4'],
  ['%zz', '%zz'],
  ['%%', '%%'],
  ['%%41', '%%41'],
  ['%%34%31', '%%341'],
  ['%4%31', '%4%31'],
  ['%g%31', '%g1'],
  ['%2541', '%2541'],
  ['%25%34%31', '%2541'],
])('%s becomes %s', (text, expected) => {
  expect(normalisePercent(text, 0)).toBe(expected)
})

function read(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

const texts = fc
  .array(fc.constantFrom('%', '4', '1', 'a', 'F', 'g', '%41', '%2f', '%c3', '%25', '/', 'z'), { maxLength: 12 })
  .map((pieces) => pieces.join(''))

test('what was normalised stays as it is', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const once = normalisePercent(text, 0)
      expect(normalisePercent(once, 0)).toBe(once)
    }),
    { numRuns: 20_000 },
  )
})

test('the bytes that a server reads stay the same', () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(read(normalisePercent(text, 0))).toBe(read(text))
    }),
    { numRuns: 20_000 },
  )
})

test('a text of settled escapes and nothing else is left alone', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 255 })), (bytes) => {
      const escapes = bytes.map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`)
      const settled = escapes.filter((escape) => isSettledEscape(escape, 0)).join('')
      expect(normalisePercent(settled, 0)).toBe(settled)
    }),
  )
  expect(isSettledEscape('%2f', 0)).toBe(false)
  expect(isSettledEscape('%41', 0)).toBe(false)
  expect(isSettledEscape('%4', 0)).toBe(false)
  expect(isSettledEscape('%2F', 0)).toBe(true)
})
