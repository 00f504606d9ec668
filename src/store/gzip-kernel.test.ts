// Members of the kernel, judged by zlib and gzip: whatever the bytes, they come back. Then what a reader cannot see: that a record
// knows nothing of the one before it, that sizes are those of zlib's quick levels, that codes are as short as codes can be.

import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { gzipMembers } from '../../test/warc-frames.ts'
import { type KernelExports, kernelMaker, Random } from '../base/index.ts'
import { GzipKernel } from './gzip-kernel.ts'
import { KERNEL_BASE64 } from './kernel-module.ts'

const WINDOW_BYTES = 32_768
const STORED_BYTES_MAX = 65_535
const kernel = new GzipKernel()

/** The member, after making sure that it is one, whole and alone, and holds these bytes. */
function checked(bytes: Uint8Array, packedFrom = bytes.length): Buffer {
  const member = Buffer.from(kernel.memberOfBytes(bytes, packedFrom))
  const frames = gzipMembers(member)
  expect(frames).toHaveLength(1)
  expect(frames[0]!.content.equals(bytes)).toBe(true)
  // As long as the bytes and five more for every block, at most.
  expect(member.length).toBeLessThanOrEqual(18 + bytes.length + 5 * (2 + Math.floor(bytes.length / WINDOW_BYTES)))
  return member
}

/** Bytes of a few kinds in turn, as bodies are: text that repeats itself, one byte many times, noise, copies from further back. */
function mixture(seed: string, length: number): Buffer {
  const random = new Random(seed)
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length;) {
    const end = Math.min(length, at + 1 + random.below(random.below(10) === 0 ? 40_000 : 300))
    const kind = random.below(5)
    const back = 1 + random.below(Math.max(1, Math.min(at, WINDOW_BYTES + 10)))
    const letters = 1 + random.below(256)
    for (const first = at; at < end; at++) {
      if (kind === 0) bytes[at] = random.below(letters)
      else if (kind === 1) bytes[at] = letters
      else if (kind === 2) bytes[at] = bytes[at - back] ?? 0
      else bytes[at] = 'the cat sat on the mat and ran <a href="'.charCodeAt((at - first + random.below(2)) % 40)
    }
  }
  return bytes
}

describe('what is put in comes out', () => {
  test('of any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), fc.uint8Array({ maxLength: 40 }), (any, few) => {
        checked(any)
        checked(few)
        checked(Buffer.concat([few, any, few, few, any]))
      }),
      { numRuns: 200 },
    )
  })

  test('of bytes that repeat themselves in all ways', () => {
    const length = fc.oneof(fc.nat(3_000), fc.nat(70_000), fc.nat(300_000))
    fc.assert(
      fc.property(fc.string(), length, (seed, bytes) => void checked(mixture(seed, bytes))),
      { numRuns: 60 },
    )
  })

  test('of few symbols, some of which are rare beyond what a code can say', () => {
    for (let letters = 1; letters <= 40; letters++) {
      const random = new Random(`rare-${letters}`)
      // Half of them the first, a quarter the second, and so on.
      checked(Buffer.from(Array.from({ length: 60_000 }, () => Math.min(letters, Math.clz32(random.below(2 ** 32))))))
    }
  })

  test('of every length up to 600', () => {
    const text = mixture('short', 600)
    const noise = randomBytes(600)
    for (let length = 0; length <= 600; length++) {
      checked(text.subarray(0, length))
      checked(noise.subarray(0, length))
      checked(Buffer.alloc(length, 'a'))
      checked(Buffer.alloc(length, 'abcd'))
    }
  })

  test('of all 256 values, once and in any order', () => {
    checked(Buffer.from(Array.from({ length: 256 }, (_, i) => i)))
    checked(Buffer.from(Array.from({ length: 256 }, (_, i) => 255 - i)))
    for (let value = 0; value < 256; value++) checked(Buffer.alloc(1, value))
  })

  const bounds = [258, WINDOW_BYTES, STORED_BYTES_MAX - 258, STORED_BYTES_MAX, 2 * STORED_BYTES_MAX, kernel.bytesMax]
  test.each(bounds)('of %i bytes and some more or less', (bound) => {
    for (let length = bound - 6; length <= Math.min(bound + 6, kernel.bytesMax); length++) {
      checked(randomBytes(length))
      checked(Buffer.alloc(length, 'text '))
      checked(mixture('bound', length))
    }
  })

  test('of matches of every length, up to those longer than a match can be', () => {
    for (let length = 1; length <= 600; length++) {
      const once = randomBytes(length)
      checked(Buffer.concat([once, Buffer.from('.'), once, randomBytes(3), once]))
    }
  })

  test.each([1, 2, 3, 4, 5, 15, 16, 17, 32_767, 32_768, 32_769, 65_535, 65_536, 65_537])(
    'of a match that is %i bytes back',
    (distance) => {
      const once = randomBytes(distance)
      checked(Buffer.concat([once, once, once.subarray(0, 20)]))
    },
  )

  test('nothing is lost when there are more matches than a block holds', () => {
    const random = new Random('many')
    const words = Array.from({ length: 64 }, () => randomBytes(5))
    checked(Buffer.concat(Array.from({ length: 50_000 }, () => random.pick(words))))
  })
})

test('gzip finds nothing wrong', () => {
  const members = [0, 1, 500, 14_000, 100_000, 500_000].map((length) => checked(mixture('gzip', length)))
  members.push(checked(randomBytes(70_000)), checked(Buffer.alloc(0)))
  expect(spawnSync('gzip', ['-t'], { input: Buffer.concat(members) })).toMatchObject({ status: 0 })
})

describe('what is packed already', () => {
  test('is stored as it is, and what stands before it is compressed', () => {
    const text = Buffer.from('WARC/1.1\r\nWARC-Type: response\r\n'.repeat(20))
    for (const bytes of [1, 4, 14_000, 65_534, 65_535, 65_536, 131_071, 400_000]) {
      const body = Buffer.alloc(bytes, 'would compress well')
      const member = checked(Buffer.concat([text, body]), text.length)
      expect(member.includes(body.subarray(0, 60_000))).toBe(true)
      expect(member.length).toBeLessThan(bytes + 120 + 5 * Math.ceil(bytes / STORED_BYTES_MAX))
    }
  })

  test('may be all there is, or nothing', () => {
    const bytes = mixture('packed', 3_000)
    for (const packedFrom of [0, 1, 3, 4, 5, 2_999, 3_000]) checked(bytes, packedFrom)
    checked(Buffer.alloc(0), 0)
  })

  test('does not look further back than the text before it', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(100_000), fc.nat(100_000), (seed, text, packed) => {
        checked(mixture(seed, text + packed), text)
      }),
      { numRuns: 30 },
    )
  })
})

test('a record makes the same member whatever came before it', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), fc.nat(40_000)), { minLength: 2, maxLength: 6 }), (records) => {
      const used = new GzipKernel()
      for (const [seed, length] of records) {
        const bytes = mixture(seed, length)
        const member = Buffer.from(used.memberOfBytes(bytes))
        expect(member.equals(new GzipKernel().memberOfBytes(bytes))).toBe(true)
        expect(gunzipSync(member).equals(bytes)).toBe(true)
      }
    }),
    { numRuns: 40 },
  )
})

test('what stood behind its end before does not decide which of two matches is taken', () => {
  // In other letters too, since a small table knows few of them at once.
  for (let letter = 0; letter < 100; letter++) {
    const bytes = Buffer.from('abcdeX;abcdeY:!abcdeX').map((byte) => byte + letter)
    const record = bytes.subarray(0, -2)
    const fresh = Buffer.from(new GzipKernel().memberOfBytes(record))
    kernel.memberOfBytes(bytes)
    expect(fresh.equals(kernel.memberOfBytes(record))).toBe(true)
  }
})

test('a record does not point into the one before it', () => {
  const secret = randomBytes(20_000)
  const first = checked(secret).length
  // Known bytes would take a few hundred.
  expect(checked(secret).length).toBe(first)
  expect(checked(secret.subarray(10_000)).length).toBeGreaterThan(10_000)
})

test('a copy is found as far back as a match may point, and no further', () => {
  const once = randomBytes(258)
  const withCopy = (distance: number): number =>
    checked(Buffer.concat([once, Buffer.alloc(distance - once.length, 'text '), once])).length
  expect(withCopy(WINDOW_BYTES + 1) - withCopy(WINDOW_BYTES)).toBeGreaterThan(200)
})

test('noise is stored: it takes five bytes more a block', () => {
  const noise = randomBytes(kernel.bytesMax)
  expect(checked(noise).length).toBe(18 + noise.length + 5 * Math.ceil(noise.length / (STORED_BYTES_MAX - 258)))
})

test('pages are as small as zlib makes them at level 2', () => {
  for (const name of ['../../docs/config.schema.json', '../../ARCHITECTURE.md', './gzip-kernel.test.ts']) {
    const page = readFileSync(new URL(name, import.meta.url)).subarray(0, 30_000)
    expect(checked(page).length).toBeLessThan(1.01 * gzipSync(page, { level: 2 }).length)
  }
})

describe('codes', () => {
  interface Codes extends KernelExports {
    readonly countsAt: { readonly value: number }
    readonly lengthsAt: { readonly value: number }
    makeLengths(counts: number, symbols: number, limit: number, lengths: number): void
  }
  const codes = kernelMaker(KERNEL_BASE64)() as Codes

  function lengthsOf(counts: readonly number[], limit: number): number[] {
    const { memory, countsAt, lengthsAt } = codes
    new Uint32Array(memory.buffer, countsAt.value, counts.length).set(counts)
    codes.makeLengths(countsAt.value, counts.length, limit, lengthsAt.value)
    return [...new Uint8Array(memory.buffer, lengthsAt.value, counts.length)]
  }

  /** Bits of the best code there is without a limit: the sum of all nodes, made of the two lightest each. */
  function leastBits(counts: readonly number[]): number {
    const weights = counts.filter((count) => count > 0)
    let sum = 0
    while (weights.length > 1) {
      weights.sort((a, b) => b - a)
      const node = weights.pop()! + weights.pop()!
      sum += node
      weights.push(node)
    }
    return sum
  }

  const bitsOf = (counts: readonly number[], lengths: readonly number[]): number =>
    counts.reduce((sum, count, i) => sum + count * lengths[i]!, 0)

  /** Every sequence of bits means something, and one thing only. */
  const isComplete = (lengths: readonly number[]): boolean =>
    lengths.reduce((sum, length) => sum + (length === 0 ? 0 : 2 ** -length), 0) === 1

  test('are complete, within their limit, for all that comes and nothing else', () => {
    const count = fc.oneof(fc.constant(0), fc.nat(5), fc.nat(200), fc.nat(60_000))
    fc.assert(
      fc.property(fc.array(count, { minLength: 2, maxLength: 286 }), fc.constantFrom(9, 14, 15), (counts, limit) => {
        const lengths = lengthsOf(counts, limit)
        expect(isComplete(lengths)).toBe(true)
        expect(Math.max(...lengths)).toBeLessThanOrEqual(limit)
        const used = counts.filter((one) => one > 0).length
        expect(lengths.filter((length) => length > 0)).toHaveLength(Math.max(2, used))
        for (const [i, one] of counts.entries()) if (one > 0) expect(lengths[i]).toBeGreaterThan(0)
        if (used > 1 && Math.max(...lengths) < limit) expect(bitsOf(counts, lengths)).toBe(leastBits(counts))
      }),
      { numRuns: 500 },
    )
  })

  test.each([7, 14, 15])('of at most %i bits are made also where the best would be longer', (limit) => {
    for (let symbols = 2; symbols <= 24; symbols++) {
      // Each as frequent as the two before it: no code is longer.
      const counts = [1, 1]
      while (counts.length < symbols) counts.push(counts.at(-1)! + counts.at(-2)!)
      for (const order of [counts, counts.toReversed()]) {
        const lengths = lengthsOf(order, limit)
        expect(isComplete(lengths)).toBe(true)
        expect(Math.max(...lengths)).toBe(Math.min(limit, symbols - 1))
        // What is rarer is not shorter.
        const byCount = lengths.toSorted((a, b) => a - b)
        expect(order === counts ? lengths.toReversed() : lengths).toEqual(byCount)
        expect(bitsOf(order, lengths)).toBeLessThan(1.15 * leastBits(order))
      }
    }
  })
})
