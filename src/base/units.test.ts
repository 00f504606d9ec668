// People write '1h30m' and '64MiB'; a number without a unit is nobody's duration.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatBytes, formatDuration, parseDuration, parseSize } from './units.ts'

test.for([
  ['250ms', 250],
  ['1s', 1_000],
  ['1.5s', 1_500],
  ['1h30m', 5_400_000],
  ['2 d', 172_800_000],
  ['0', 0],
  ['0ms', 0],
])('%s is %d ms', ([text, ms]) => expect(parseDuration(String(text))).toBe(ms))

test.for(['', '30', 's', '1x', '-1s', '1s!', 'one second', '1,5s', '١s', '1 s s'])('%s is no duration', (text) =>
  expect(parseDuration(text)).toBeNull(),
)

test.for([
  ['512B', 512],
  ['64KiB', 65_536],
  ['1.5GiB', 1_610_612_736],
  ['10MB', 10_000_000],
  ['0', 0],
])('%s is %d bytes', ([text, bytes]) => expect(parseSize(String(text))).toBe(bytes))

test.for(['', '64', '64kb', '64 mib', '-1KiB', 'KiB'])('%s is no size', (text) => expect(parseSize(text)).toBeNull())

test('a whole number of milliseconds survives being written and read', () => {
  fc.assert(fc.property(fc.nat(10 ** 12), (ms) => parseDuration(formatDuration(ms)) === ms))
})

test.for([
  [0, '0 B'],
  [1_023, '1023 B'],
  [1_536, '1.5 KiB'],
  [14_336, '14 KiB'],
  [1_073_741_824, '1 GiB'],
  [2 ** 40 * 123, '123 TiB'],
])('%d bytes read as %s', ([bytes, text]) => expect(formatBytes(Number(bytes))).toBe(text))
