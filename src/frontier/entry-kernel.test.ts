// What the kernel writes is what the plain way writes, byte for byte; what it reads was written; and what it does not do, it leaves alone.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Random } from '../base/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import { BodyCode } from './body-code.ts'
import { bodyOf, encodeEntries, EntryBlock } from './entry-block.ts'
import { GROUP_ENTRIES } from './entry-format.ts'
import { entryKernel } from './entry-kernel.ts'
import { ByteReader, EntryReader } from './entry-reader.ts'
import type { FrontierEntry } from './frontier.ts'
import { codedTexts } from './url-pieces.ts'

const HOST = 'www.example.org' as HostKey
const kernel = entryKernel()

function entry(url: string, more: Partial<FrontierEntry> = {}): FrontierEntry {
  const plain = { host: HOST, via: null, depth: 1, hops: 0, band: 3, isSeed: false, tries: 0, pauses: 0 }
  return { ...plain, ...more, url: url as CanonicalUrl }
}

/** A text of its own, so that nothing is found the same by being the same object. */
const copyOf = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le')

const PIECES = codedTexts().map((text) => Buffer.from(text).toString('latin1'))
const plainPiece = fc.constantFrom(
  ...PIECES.filter((text) => /^[ -~]+$/.test(text)),
  '12',
  '2019',
  'q=',
  '%C3%A9',
  HOST,
)
const plainText = fc.oneof(
  { weight: 5, arbitrary: fc.array(plainPiece, { maxLength: 12 }).map((parts) => `https://${HOST}/${parts.join('')}`) },
  { weight: 2, arbitrary: fc.array(plainPiece, { maxLength: 40 }).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: fc.webUrl({ withQueryParameters: true, withFragments: true }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme-ascii', maxLength: 400, size: 'max' }) },
  { weight: 1, arbitrary: fc.tuple(plainPiece, fc.nat(500)).map(([piece, count]) => piece.repeat(count)) },
)
const oddText = fc.oneof(
  fc.tuple(plainText, fc.string({ unit: 'binary', minLength: 1 }), plainText).map((parts) => parts.join('')),
  fc.constantFrom('\u0000', '\u007f', '\u0080', 'é', '\u0141', '日本', '\ud800', '\u{1f600}', 'a\nb'),
)
const numbers = fc.record({
  depth: fc.oneof(fc.nat(3), fc.nat(300), fc.constant(2 ** 32 - 1)),
  hops: fc.oneof(fc.constant(0), fc.nat(20), fc.constant(2 ** 32 - 1)),
  band: fc.oneof(fc.nat(7), fc.constant(2 ** 30 - 1)),
  isSeed: fc.boolean(),
  tries: fc.oneof(fc.constant(0), fc.nat(1_023), fc.constant(2 ** 32 - 1)),
  pauses: fc.oneof(fc.constant(0), fc.nat(1_023), fc.constant(2 ** 32 - 1)),
})
const host = fc.oneof(fc.constantFrom(HOST, '[::1]', '', 'a'), fc.domain(), fc.stringMatching(/^[ -~]{250,255}$/))

const textsOf = (entries: readonly FrontierEntry[]): number =>
  entries.reduce((sum, { url, via }) => sum + url.length + (via?.length ?? 0), 0)

/** Entries that share what entries of one host share: texts, vias, numbers. */
const lineOf = (text: fc.Arbitrary<string>): fc.Arbitrary<FrontierEntry[]> =>
  fc
    .tuple(
      fc.array(fc.tuple(text, fc.nat(99), fc.nat(99)), { minLength: 1, maxLength: 256, size: '+1' }),
      fc.array(fc.option(text, { freq: 4 }), { minLength: 1, maxLength: 20 }),
      fc.array(numbers, { minLength: 1, maxLength: 4 }),
    )
    .map(([urls, vias, kinds]) =>
      urls.map(([url, via, kind]) => {
        const from = vias[(via * via) % vias.length] as string | null
        return entry(url, {
          ...kinds[(kind * kind) % kinds.length],
          via: (from === null || via % 2 === 0 ? from : copyOf(from)) as CanonicalUrl | null,
        })
      }),
    )
    // More is not for the kernel.
    .filter((entries) => textsOf(entries) < 120_000)

const CODE = BodyCode.for(
  Array.from({ length: 300 }, (_, i) =>
    bodyOf(HOST, [entry(`https://${HOST}/article/${(i * 7919).toString(36)}.html`)]),
  ),
)

/** What the plain reader makes of a body. */
function plainlyRead(body: Buffer, count: number, from: number, to: number): FrontierEntry[] {
  const input = new ByteReader(HOST, body, 0)
  const lengths = Array.from({ length: Math.ceil(count / GROUP_ENTRIES) - 1 }, () => input.number())
  const reader = new EntryReader(HOST, input)
  const entries: FrontierEntry[] = []
  let start = input.at
  reader.startBlock(start)
  for (let i = 0; i < to; i++) {
    const group = Math.floor(i / GROUP_ENTRIES)
    if (i > 0 && i % GROUP_ENTRIES === 0) reader.startGroup((start += lengths[group - 1] as number))
    // Of groups before only the first entry is read, as one that looks for an entry does.
    if (i > 0 && group < Math.floor(from / GROUP_ENTRIES)) continue
    const read = reader.read()
    if (i >= from) entries.push(read)
  }
  return entries
}

/** Its body, after making sure that it is the plain one's, also in the code. */
function checkedBody(key: HostKey, entries: readonly FrontierEntry[], code = CODE): Buffer {
  const body = kernel.bodyOf(key, entries)
  expect(body).not.toBeNull()
  const made = Buffer.from(body as Buffer)
  const coded = kernel.coded(made.length, code)
  expect(made.equals(bodyOf(key, entries))).toBe(true)
  const plain = code.coded(made)
  if (coded === null) expect(plain.length).toBeGreaterThanOrEqual(made.length)
  else expect(coded.equals(plain)).toBe(true)
  return made
}

describe('the kernel writes what the plain way writes', () => {
  test('of whatever plain entries there are', () => {
    fc.assert(
      fc.property(host, lineOf(plainText), (key, entries) => void checkedBody(key as HostKey, entries)),
      { numRuns: 400 },
    )
  })

  test('of every number of entries from 1 to 256', () => {
    const random = new Random('counts')
    const entries = Array.from({ length: 256 }, (_, i) =>
      entry(`https://${HOST}/section-${random.below(9)}/article-${random.next32()}.html`, {
        via: random.below(5) === 0 ? null : (`https://${HOST}/section-${random.below(20)}/` as CanonicalUrl),
        depth: Math.floor(i / 40),
      }),
    )
    for (let count = 1; count <= 256; count++) checkedBody(HOST, entries.slice(0, count))
  })

  test('of rests of every length about where a byte more is needed to tell it', () => {
    for (const length of [0, 1, 15, 16, 17, 126, 127, 128, 129, 16_382, 16_383, 16_384, 16_385, 25_000]) {
      const noise = 'Q~'.repeat(length).slice(0, length)
      checkedBody(HOST, [
        entry(noise, { via: `!${noise}` as CanonicalUrl }),
        entry(`${noise}X${noise}`),
        entry(`${noise}Y`),
      ])
    }
  })

  test('of every piece, whole and cut, before and behind what another entry shares', () => {
    for (const piece of PIECES.filter((text) => text.length > 1)) {
      for (let length = 1; length <= piece.length; length++) {
        const cut = piece.slice(0, length)
        checkedBody(HOST, [entry(`Q${cut}`), entry(`Q!${cut}ZJXQ`), entry(`Q?${cut}ZJXQ`), entry(`${cut}${cut}`)])
      }
    }
  })

  test('in any code, whichever was used before', () => {
    const bodies = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 4 })
    fc.assert(
      fc.property(bodies, lineOf(plainText), (made, entries) => {
        for (const code of [BodyCode.for(made), CODE]) checkedBody(HOST, entries, code)
      }),
      { numRuns: 20 },
    )
  })
})

describe('the kernel reads', () => {
  test('what was written, all of it or any part', () => {
    fc.assert(
      fc.property(host, lineOf(plainText), fc.nat(255), fc.nat(255), (key, line, one, other) => {
        const entries = line.map((each) => ({ ...each, host: key as HostKey }))
        const body = bodyOf(key as HostKey, entries)
        const from = Math.min(one, other) % entries.length
        const to = Math.min(entries.length, Math.max(one, other))
        const read = (start: number, end: number): FrontierEntry[] | null =>
          kernel.entriesOf(key as HostKey, body, 0, entries.length, start, end)
        expect(read(0, entries.length)).toEqual(entries)
        expect(read(from, to)).toEqual(entries.slice(from, to))
      }),
      { numRuns: 200 },
    )
  })

  test('empty texts as such, beside others', () => {
    const vias = ['', null, 'a', '', 'b', 'a', ''] as (CanonicalUrl | null)[]
    const entries = vias.flatMap((via) => [entry('', { via }), entry('c', { via })])
    expect(kernel.entriesOf(HOST, bodyOf(HOST, entries), 0, entries.length, 0, entries.length)).toEqual(entries)
  })

  test('bodies out of any code, as long as they claim to be and no other', () => {
    const bodies = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 4 })
    fc.assert(
      fc.property(bodies, fc.uint8Array({ maxLength: 400, size: 'max' }), (made, body) => {
        const code = BodyCode.for(made)
        for (const some of [...made, body]) {
          const bytes = Buffer.concat([Buffer.of(7), code.coded(some)])
          expect(kernel.decoded(bytes, 1, some.length, code)?.equals(some)).toBe(true)
          expect(kernel.decoded(Buffer.concat([bytes, Buffer.of(0)]), 1, some.length, code)).toBeNull()
          if (some.length > 0) expect(kernel.decoded(bytes.subarray(0, -1), 1, some.length, code)).toBeNull()
        }
      }),
      { numRuns: 30 },
    )
  })

  test('nothing where bytes are changed that the plain way does not read as well', () => {
    const entries = Array.from({ length: 40 }, (_, i) =>
      entry(`https://${HOST}/section-${i % 7}/article-${i * 7919}.html`, {
        via: i % 9 === 0 ? null : (`https://${HOST}/${i % 4}/` as CanonicalUrl),
        depth: i % 3,
        tries: i % 5,
      }),
    )
    const body = bodyOf(HOST, entries)
    let agreed = 0
    let left = 0
    for (let at = 0; at < body.length; at++) {
      for (const value of [0, 1, 0x20, 0x7f, 0x80, 0xff, ((body[at] as number) + 1) & 0xff]) {
        const changed = Buffer.from(body)
        changed[at] = value
        for (const [from, to] of [
          [0, 40],
          [20, 23],
        ] as const) {
          const read = kernel.entriesOf(HOST, changed, 0, 40, from, to)
          if (read === null) left++
          else {
            expect(read).toEqual(plainlyRead(changed, 40, from, to))
            agreed++
          }
        }
      }
    }
    expect(agreed).toBeGreaterThan(1_000)
    expect(left).toBeGreaterThan(1_000)
  })

  test('nothing of a body that is cut', () => {
    const entries = Array.from({ length: 20 }, (_, i) => entry(`https://${HOST}/${i * 7919}`))
    const body = bodyOf(HOST, entries)
    for (let length = 0; length < body.length; length++) {
      expect(kernel.entriesOf(HOST, body.subarray(0, length), 0, 20, 0, 20)).toBeNull()
    }
  })
})

describe('what is not for the kernel goes the plain way', () => {
  const only = (text: string): FrontierEntry[][] => [
    [entry(text)],
    [entry('https://a.example/', { via: text as CanonicalUrl })],
    [
      entry('https://a.example/'),
      entry(text, { via: 'https://b.example/' as CanonicalUrl }),
      entry('https://c.example/'),
    ],
  ]

  test.for(['\u0000', '\u001f', '\u007f', '\u0080', 'é', '\u0141', '\u0a61', '日本', '\ud800', '\udc00', '\u{1f600}'])(
    '%j anywhere in a text or host',
    (odd) => {
      for (const text of [
        odd,
        `abc${odd}`,
        `${odd}abc`,
        `${'x'.repeat(100)}${odd}${'x'.repeat(100)}`,
        odd.repeat(40),
      ]) {
        for (const entries of only(text)) {
          expect(kernel.bodyOf(HOST, entries)).toBeNull()
          expect(EntryBlock.open(HOST, encodeEntries(HOST, entries, CODE), CODE).entries()).toEqual(entries)
        }
        const key = text as HostKey
        expect(kernel.bodyOf(key, [entry('https://a.example/')])).toBeNull()
      }
    },
  )

  test('more entries, longer hosts and more text than it has room for', () => {
    const long = `https://${HOST}/${'a-long-way-down/'.repeat(8_000)}`
    const many = Array.from({ length: 257 }, (_, i) => entry(`https://${HOST}/${i}`))
    expect(kernel.bodyOf(HOST, many)).toBeNull()
    expect(kernel.bodyOf('h'.repeat(256) as HostKey, [entry('https://a.example/')])).toBeNull()
    expect(kernel.bodyOf(HOST, [entry(long), entry(long)])).toBeNull()
    for (const entries of [many, [entry(long)], [entry(long), entry(long)]]) {
      expect(EntryBlock.open(HOST, encodeEntries(HOST, entries, CODE), CODE).entries()).toEqual(entries)
    }
  })

  test('as much text as it has room for, and numbers that take the most, are written by it', () => {
    const most = 2 ** 32 - 1
    for (const count of [1, 2, 256]) {
      const bytes = Math.floor((2 ** 17 - HOST.length) / count / 2)
      const text = (i: number): string => String.fromCharCode(0x21 + (i % 90)).repeat(bytes)
      const entries = Array.from({ length: count }, (_, i) =>
        entry(text(i), {
          via: text(i + 45) as CanonicalUrl,
          depth: most - i,
          hops: most,
          band: 2 ** 30 - 1,
          tries: most,
          pauses: most,
        }),
      )
      checkedBody(HOST, entries)
    }
  })

  test('lines of plain and odd texts come back, with a code and without', () => {
    const text = fc.oneof({ weight: 20, arbitrary: plainText }, { weight: 1, arbitrary: oddText })
    fc.assert(
      fc.property(lineOf(text), (entries) => {
        for (const code of [null, CODE]) {
          expect(EntryBlock.open(HOST, encodeEntries(HOST, entries, code), code).entries()).toEqual(entries)
        }
      }),
      { numRuns: 100 },
    )
  })
})
