// The hash against the published vectors of its authors and against a plain implementation over BigInt; the
// fingerprint against its definition.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CanonicalUrl } from './canonical-url.ts'
import {
  defaultKey,
  Fingerprinter,
  type FingerprintKey,
  formatFingerprint,
  HalfSipHash,
  slotOf,
} from './fingerprint.ts'

function hashHex(text: string, key: FingerprintKey): string {
  const hash = new HalfSipHash()
  hash.compute(text, key[0] | 0, key[1] | 0)
  const bytes = Buffer.alloc(8)
  bytes.writeInt32LE(hash.low, 0)
  bytes.writeInt32LE(hash.high, 4)
  return bytes.toString('hex')
}

/** HalfSipHash-2-4, 64 bits out, as its definition reads. */
function plainHash(text: string, key: FingerprintKey): string {
  const mask = 0xffff_ffffn
  const rotate = (value: bigint, bits: bigint): bigint => ((value << bits) | (value >> (32n - bits))) & mask
  let [v0, v1, v2, v3] = [
    BigInt(key[0]),
    BigInt(key[1]) ^ 0xeen,
    0x6c796765n ^ BigInt(key[0]),
    0x74656462n ^ BigInt(key[1]),
  ]
  const rounds = (count: number): void => {
    for (let i = 0; i < count; i++) {
      v0 = (v0 + v1) & mask
      v1 = rotate(v1, 5n) ^ v0
      v0 = rotate(v0, 16n)
      v2 = (v2 + v3) & mask
      v3 = rotate(v3, 8n) ^ v2
      v0 = (v0 + v3) & mask
      v3 = rotate(v3, 7n) ^ v0
      v2 = (v2 + v1) & mask
      v1 = rotate(v1, 13n) ^ v2
      v2 = rotate(v2, 16n)
    }
  }
  const padded = Buffer.alloc(Math.floor(text.length / 4) * 4 + 4)
  padded.write(text, 'latin1')
  padded[padded.length - 1] = text.length & 0xff
  for (let i = 0; i < padded.length; i += 4) {
    const word = BigInt(padded.readUInt32LE(i))
    v3 ^= word
    rounds(2)
    v0 ^= word
  }
  v2 ^= 0xeen
  rounds(4)
  const result = Buffer.alloc(8)
  result.writeUInt32LE(Number(v1 ^ v3), 0)
  v1 ^= 0xddn
  rounds(4)
  result.writeUInt32LE(Number(v1 ^ v3), 4)
  return result.toString('hex')
}

describe('the hash', () => {
  // Key 00 01 … 07, input 00 01 … of growing length: the reference implementation's table of 64-bit outputs.
  test.each([
    [0, '218d1f59b9b83cc8'],
    [1, 'be552412f8387315'],
    [2, '064f39ef7c50eb57'],
    [3, 'ce0f1a45f7060679'],
    [4, 'd5e78a175be52ea1'],
    [7, 'ff202728b07bc684'],
    [8, 'edfee820bce4858c'],
    [31, '863c7f155c34117c'],
    [63, '2ea63c71bf326087'],
  ])('of %i bytes is the published one', (length, expected) => {
    const text = Array.from({ length }, (_, i) => String.fromCharCode(i)).join('')
    expect(hashHex(text, [0x03020100, 0x07060504])).toBe(expected)
  })

  test('of any text under any key is that of the plain implementation', () => {
    const word = fc.integer({ min: 0, max: 0xffff_ffff })
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), word, word, (text, first, second) => {
        expect(hashHex(text, [first, second])).toBe(plainHash(text, [first, second]))
      }),
      { numRuns: 2_000 },
    )
  })
})

function littleEndian(hex: string, from: number): number {
  return Buffer.from(hex, 'hex').readUInt32LE(from)
}

function fingerprintOf(url: string, key: FingerprintKey = defaultKey): string {
  const fingerprinter = new Fingerprinter(key)
  fingerprinter.compute(url as CanonicalUrl)
  return formatFingerprint(fingerprinter.high, fingerprinter.low)
}

describe('the fingerprint', () => {
  test('is 16 bits of the host key’s hash and 48 of the URL’s', () => {
    const url = 'https://example.org:8443/a?b'
    const host = plainHash('example.org', defaultKey)
    const whole = plainHash(url, defaultKey)
    const high = littleEndian(host, 0) >>> 16
    expect(fingerprintOf(url)).toBe(
      high.toString(16).padStart(4, '0') +
        (littleEndian(whole, 4) & 0xffff).toString(16).padStart(4, '0') +
        littleEndian(whole, 0).toString(16).padStart(8, '0'),
    )
  })

  test('stays what it is: crawls on disk depend on it', () => {
    expect(fingerprintOf('http://example.org/')).toMatchInlineSnapshot(`"b861c7714a5d8df1"`)
    expect(fingerprintOf('https://www.example.com/index.html?a=1')).toMatchInlineSnapshot(`"5d64de229c0bc307"`)
  })

  test('has one slot for a host, whatever scheme, port and path', () => {
    const slots = ['http://h.example/', 'https://h.example/a', 'http://h.example:8080/b?c', 'ftp://h.example/'].map(
      (url) => fingerprintOf(url).slice(0, 4),
    )
    expect(new Set(slots).size).toBe(1)
    expect(fingerprintOf('http://h.example.org/').slice(0, 4)).not.toBe(slots[0])
  })

  test('does not depend on what was computed before', () => {
    const fingerprinter = new Fingerprinter(defaultKey)
    const urls = [
      'http://a.example/',
      'http://a.example/x',
      'http://a.example.org/x',
      'http://a.example:80800/',
      'https://a.example/x',
      'http://a.example/x',
    ]
    for (const url of urls) {
      fingerprinter.compute(url as CanonicalUrl)
      expect(formatFingerprint(fingerprinter.high, fingerprinter.low)).toBe(fingerprintOf(url))
    }
  })

  test('differs under another key, in slot and rest', () => {
    const mine = fingerprintOf('http://example.org/')
    const other = fingerprintOf('http://example.org/', [1, 2])
    expect(other.slice(0, 4)).not.toBe(mine.slice(0, 4))
    expect(other.slice(4)).not.toBe(mine.slice(4))
  })

  test('is two unsigned words, and its slot the upper half of the first', () => {
    const fingerprinter = new Fingerprinter(defaultKey)
    for (let i = 0; i < 1_000; i++) {
      fingerprinter.compute(`http://host${i}.example/` as CanonicalUrl)
      expect(fingerprinter.high).toBeGreaterThanOrEqual(0)
      expect(fingerprinter.low).toBeGreaterThanOrEqual(0)
      expect(slotOf(fingerprinter.high)).toBe(Math.floor(fingerprinter.high / 65_536))
    }
  })

  test('spreads hosts evenly: of 65,536 hosts about 63 % of the slots are taken', () => {
    const fingerprinter = new Fingerprinter(defaultKey)
    const taken = new Set<number>()
    for (let i = 0; i < 65_536; i++) {
      fingerprinter.compute(`http://host${i}.example/` as CanonicalUrl)
      taken.add(slotOf(fingerprinter.high))
    }
    // 1 − 1/e of the slots, give or take five standard deviations.
    expect(Math.abs(taken.size - 65_536 * (1 - Math.exp(-1)))).toBeLessThan(5 * 0.31 * 256)
  })

  test('two hundred thousand URLs of one host have as many fingerprints', () => {
    const fingerprinter = new Fingerprinter(defaultKey)
    const seen = new Set<number>()
    for (let i = 0; i < 200_000; i++) {
      fingerprinter.compute(`http://h.example/${i}` as CanonicalUrl)
      seen.add((fingerprinter.high & 0xffff) * 2 ** 32 + fingerprinter.low)
    }
    expect(seen.size).toBe(200_000)
  })
})

test('a fingerprint is written in sixteen digits', () => {
  expect(formatFingerprint(0, 1)).toBe('0000000000000001')
  expect(formatFingerprint(0xffff_ffff, 0xabc)).toBe('ffffffff00000abc')
})
