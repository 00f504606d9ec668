// Numbers for people: each line of a table is what a reader would say aloud.

import { expect, test } from 'vitest'
import { formatCount, formatDate, formatNumberOf, formatRate, formatShare, formatShort, formatSpan } from './figures.ts'

test.each([
  [0, '0'],
  [999, '999'],
  [1_204, '1,204'],
  [1_204_567.4, '1,204,567'],
  [-1_204, '-1,204'],
])('%d is counted as %s', (value, text) => expect(formatCount(value)).toBe(text))

test.each([
  [0, '0'],
  [0.25, '0.25'],
  [4.25, '4.3'],
  [950, '950'],
  [5_000, '5 k'],
  [12_345, '12 k'],
  [999_499, '999 k'],
  [1_204_567, '1.2 M'],
  [3.2e9, '3.2 G'],
])('%d fits on an axis as %s', (value, text) => expect(formatShort(value)).toBe(text))

test.each([
  [0, '0'],
  [0.042, '0.042'],
  [4.24, '4.2'],
  [42.4, '42'],
  [1_234.5, '1,235'],
])('a rate of %d reads %s', (value, text) => expect(formatRate(value)).toBe(text))

test.each([
  [0, 0, '–'],
  [0, 10, '0 %'],
  [10, 10, '100 %'],
  [1, 100_000, '< 0.1 %'],
  [99_999, 100_000, '> 99.9 %'],
  [1, 30, '3.3 %'],
  [1, 3, '33 %'],
])('%d of %d is %s', (part, whole, text) => expect(formatShare(part, whole)).toBe(text))

test.each([
  [0, '0 ms'],
  [0.5, '0.5 ms'],
  [340.2, '340 ms'],
  [999.7, '1 s'],
  [4_240, '4.2 s'],
  [59_940, '59.9 s'],
  [59_960, '1 min'],
  [1_720_000, '28 min 40 s'],
  [3_599_600, '1 h'],
  [11_100_000, '3 h 5 min'],
  [187_200_000, '2 d 4 h'],
])('%d ms last %s', (ms, text) => expect(formatSpan(ms)).toBe(text))

test('a date is written out in UTC, and nonsense is no date', () => {
  expect(formatDate('2026-03-12T14:02:31.250Z')).toBe('12 March 2026, 14:02 UTC')
  expect(formatDate('yesterday')).toBeNull()
})

test('one is singular', () => {
  expect(formatNumberOf(1, 'page')).toBe('1 page')
  expect(formatNumberOf(0, 'page')).toBe('0 pages')
  expect(formatNumberOf(2, 'reply', 'replies')).toBe('2 replies')
})
