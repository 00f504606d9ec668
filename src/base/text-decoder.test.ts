// Bytes that the platform's decoders read otherwise than the Encoding Standard says.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { textDecoder } from './text-decoder.ts'

function decoded(encoding: string, hex: string): string {
  return textDecoder(encoding)(Buffer.from(hex, 'hex'))
}

test.each([
  ['shift_jis', '80', '\u0080', 'a byte of its own'],
  ['shift_jis', '1a1c7f', '\u001a\u001c\u007f', 'controls are what they are'],
  ['shift_jis', '823c', '\uFFFD<', 'a broken pair gives back what may be markup'],
  ['shift_jis', 'f040', '\ue000', 'private characters have their rows'],
  ['euc-jp', '80', '\uFFFD', 'no C1 controls'],
  ['euc-jp', '8fb0a1', '丂', 'three bytes for JIS X 0212'],
  ['euc-kr', '8141', '갂', 'the syllables that KS X 1001 lacks'],
  ['euc-kr', 'c7d1b1db', '한글', 'and those it has'],
  ['big5', 'a4a4a4e5', '中文', 'the common ones'],
  ['big5', '8862', 'Ê̄', 'a pair that is two characters'],
  ['big5', '8740', '䏰', 'those of Hong Kong'],
  ['big5', 'fe3c', '\uFFFD<', 'a broken pair gives back what may be markup'],
  ['iso-2022-jp', '1b2442467c4b5c1b2842', '日本', 'between escapes'],
  ['iso-2022-jp', '1b4f', '\uFFFDO', 'an escape that is none swallows nothing'],
  ['iso-2022-jp', '1b28', '\uFFFD(', 'nor does one that is cut'],
  ['gb18030', '95328236', '𠀀', 'four bytes'],
  ['windows-1252', '80e9', '€é', 'single bytes'],
])('%s: %s is %s: %s', (encoding, hex, text) => {
  expect(decoded(encoding, hex)).toBe(text)
})

test('a byte order mark stays: who reads a whole page takes it off', () => {
  expect(decoded('utf-8', 'efbbbf41')).toBe('\uFEFFA')
  expect(decoded('utf-16le', 'fffe4100')).toBe('\uFEFFA')
})

test('an encoding there is not is no encoding', () => {
  expect(() => textDecoder('no-such-encoding')).toThrow(RangeError)
})

test('nothing is kept from one text to the next, whatever they are', () => {
  const encodings = ['shift_jis', 'euc-jp', 'euc-kr', 'big5', 'iso-2022-jp', 'gb18030']
  fc.assert(
    fc.property(
      fc.constantFrom(...encodings),
      fc.uint8Array({ maxLength: 40 }),
      fc.uint8Array({ maxLength: 40 }),
      (encoding, one, other) => {
        const decode = textDecoder(encoding)
        const before = decode(other)
        decode(one)
        expect(decode(other)).toBe(before)
      },
    ),
  )
})
