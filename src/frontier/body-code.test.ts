import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import { BodyCode } from './body-code.ts'
import { bodyOf, encodeEntries, EntryBlock } from './entry-block.ts'
import type { FrontierEntry } from './frontier.ts'

const HOST = 'www.example.org' as HostKey

const entryOf = (path: string): FrontierEntry => ({
  url: `https://${HOST}/${path}` as CanonicalUrl,
  host: HOST,
  via: `https://other.example/${path.length}` as CanonicalUrl,
  depth: 3,
  hops: 0,
  band: 2,
  isSeed: false,
  tries: 0,
  pauses: 0,
})

const CODE = BodyCode.for(
  Array.from({ length: 500 }, (_, i) => bodyOf(HOST, [entryOf(`article/${(i * 7919).toString(36)}-news-${i}.html`)])),
)

/** Behind two bytes of others. */
const coded = (code: BodyCode, body: Uint8Array): Uint8Array => Buffer.concat([Buffer.alloc(2), code.coded(body)])

test('any body comes back from any code, also one that was stored', () => {
  const bodies = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 4 })
  fc.assert(
    fc.property(bodies, fc.uint8Array({ maxLength: 400, size: 'max' }), (made, body) => {
      const code = BodyCode.for(made)
      const again = BodyCode.of(code.stored()) as BodyCode
      expect(again.stored()).toEqual(code.stored())
      for (const some of [...made, body]) {
        const bytes = coded(code, some)
        expect(coded(again, some)).toEqual(bytes)
        expect(again.read(bytes, 2, some.length)?.equals(some)).toBe(true)
      }
    }),
    { numRuns: 30 },
  )
})

test('bytes that are too few or too many for a body are seen', () => {
  const body = bodyOf(HOST, [entryOf('a'), entryOf('bb'), entryOf('ccc')])
  const bytes = coded(CODE, body)
  expect(CODE.read(bytes, 2, body.length)?.equals(body)).toBe(true)
  expect(CODE.read(bytes.subarray(0, -1), 2, body.length)).toBeNull()
  expect(CODE.read(Buffer.concat([bytes, Buffer.alloc(1)]), 2, body.length)).toBeNull()
})

test('lengths that are no complete code are refused', () => {
  const stored = CODE.stored()
  expect(BodyCode.of(stored.subarray(1))).toBeNull()
  for (const at of [0, 1_000, stored.length - 1]) {
    for (const wrong of [0, 1, 0xff]) {
      const changed = Uint8Array.from(stored)
      if (changed[at] === wrong) continue
      changed[at] = wrong
      expect(BodyCode.of(changed)).toBeNull()
    }
  }
})

test('a few URLs like those it was made of take far less room than without it', () => {
  const entries = [entryOf('article/77x-news-501.html'), entryOf('article/9ab-news-502.html')]
  const plain = encodeEntries(HOST, entries)
  const block = encodeEntries(HOST, entries, CODE)
  expect(block.length).toBeLessThan(0.7 * plain.length)
  expect(EntryBlock.open(HOST, block, CODE).entries()).toEqual(entries)
  expect(EntryBlock.open(HOST, plain, CODE).entries()).toEqual(entries)
})

test('a block without the code it was written in is a fault', () => {
  const block = encodeEntries(HOST, [entryOf('article/77x-news-501.html')], CODE)
  expect(() => EntryBlock.open(HOST, block)).toThrow(expect.objectContaining({ code: 'LEDGER_CORRUPT' }))
})

describe('where zstd has more to take off', () => {
  // Five in turn: too far apart to be told as differences.
  const entries = Array.from({ length: 128 }, (_, i) =>
    entryOf(`${i % 5}-${'article-news-html-'.slice(i % 5).repeat(3)}`),
  )

  test('it is used for many entries', () => {
    const block = encodeEntries(HOST, entries, CODE)
    expect(block.length).toBeLessThan(CODE.coded(bodyOf(HOST, entries)).length)
    expect(EntryBlock.open(HOST, block).entries()).toEqual(entries)
  })

  test('fewer are written in the code all the same, and read in whichever they were', () => {
    const few = entries.slice(1)
    const block = encodeEntries(HOST, few, CODE)
    expect(block.length).toBeGreaterThan(CODE.coded(bodyOf(HOST, few)).length)
    expect(EntryBlock.open(HOST, block, CODE).entries()).toEqual(few)
    expect(EntryBlock.open(HOST, encodeEntries(HOST, few), CODE).entries()).toEqual(few)
  })
})
