// What goes into a block comes out of it, in order and to the letter; what is not a whole block is a fault.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Fault, Random } from '../base/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import { encodeEntries, EntryBlock } from './entry-block.ts'
import type { FrontierEntry } from './frontier.ts'

const HOST = 'www.example.org' as HostKey

function entry(url: string, more: Partial<FrontierEntry> = {}): FrontierEntry {
  const plain = { host: HOST, via: null, depth: 1, hops: 0, band: 3, isSeed: false, tries: 0, pauses: 0 }
  return { ...plain, ...more, url: url as CanonicalUrl }
}

/** Entries as a site has them: some pages, the links of each together. */
function siteEntries(count: number, seed = 'entry-block'): FrontierEntry[] {
  const random = new Random(seed)
  let via: CanonicalUrl | null = null
  return Array.from({ length: count }, () => {
    if (via === null || random.fraction() < 0.2) via = `https://${HOST}/section-${random.below(9)}/` as CanonicalUrl
    return entry(`https://${HOST}/section-${random.below(9)}/article-${random.next32()}.html`, { via })
  })
}

function readBack(entries: readonly FrontierEntry[], host = HOST): FrontierEntry[] {
  return EntryBlock.open(host, encodeEntries(host, entries)).entries()
}

function faultOf(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error instanceof Fault ? error.code : error
  }
  return 'no fault'
}

const numbers = fc.record({
  depth: fc.oneof(fc.nat(20), fc.constant(2 ** 32 - 1)),
  hops: fc.nat(20),
  band: fc.oneof(fc.nat(7), fc.constant(2 ** 30 - 1)),
  isSeed: fc.boolean(),
  tries: fc.oneof(fc.nat(3), fc.nat(1_023)),
  pauses: fc.nat(1_023),
})

/** Texts that share starts and endings, and texts that are no URL at all. */
const pieces = fc.constantFrom(
  'a',
  'index',
  '/',
  '.html',
  '?id=',
  '12',
  'https://',
  'www.example.org',
  '-the-',
  '%20',
  'é',
  '\u0000',
)
const texts = fc.oneof(
  { weight: 6, arbitrary: fc.array(pieces, { maxLength: 12 }).map((parts) => `https://${HOST}/${parts.join('')}`) },
  { weight: 1, arbitrary: fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: fc.webUrl({ withQueryParameters: true }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 1, arbitrary: fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes)) },
)

const entryLists = fc.array(
  fc
    .tuple(texts, fc.option(texts), numbers)
    .map(([url, via, values]) => entry(url, { via: via as CanonicalUrl | null, ...values })),
  { maxLength: 80 },
)

describe('a block gives back', () => {
  test('whatever was put into it', () => {
    fc.assert(
      fc.property(entryLists, (entries) => {
        expect(readBack(entries)).toEqual(entries)
      }),
      { numRuns: 500 },
    )
  })

  test('each entry alone, and all from any entry on, in any order of asking', () => {
    fc.assert(
      fc.property(entryLists, fc.array(fc.nat(90), { maxLength: 20 }), (entries, asked) => {
        const block = EntryBlock.open(HOST, encodeEntries(HOST, entries))
        expect(block.count).toBe(entries.length)
        for (const index of asked) {
          expect(block.at(index)).toEqual(entries[index])
          expect(block.entries(index)).toEqual(entries.slice(index))
        }
      }),
    )
  })

  test('a thousand entries of a site, packed, the last as well as the first', () => {
    const entries = siteEntries(1_000)
    const block = EntryBlock.open(HOST, encodeEntries(HOST, entries))
    for (const index of [999, 0, 16, 15, 998]) expect(block.at(index)).toEqual(entries[index])
    expect(block.entries()).toEqual(entries)
  })

  test('URLs of 64 k characters, plain, escaped or of no pattern', () => {
    const random = new Random('long')
    const long = (pick: () => string): string => `https://${HOST}/${Array.from({ length: 65_536 }, pick).join('')}`
    const via = long(() => 'x') as CanonicalUrl
    const entries = [
      entry(
        long(() => 'a'),
        { via },
      ),
      entry(
        long(() => String.fromCharCode(33 + random.below(94))),
        { via },
      ),
      entry(`${via}/more`, { via }),
      entry(
        long(() => 'é'),
        { via: long(() => '日') as CanonicalUrl },
      ),
      entry(long(() => '%2F')),
      entry(long(() => 'the')),
    ]
    expect(readBack(entries)).toEqual(entries)
  })

  test('nothing, when nothing was put in', () => {
    expect(readBack([])).toEqual([])
    expect(EntryBlock.open(HOST, encodeEntries(HOST, [])).at(0)).toBeUndefined()
  })

  test('the host it is opened for, even a host that no URL could have', () => {
    for (const host of ['[::1]', '127.0.0.1', '', 'bücher.example', '\u0000'] as HostKey[]) {
      const entries = siteEntries(20).map((one) => ({ ...one, host }))
      expect(readBack(entries, host)).toEqual(entries)
    }
  })
})

describe('a block is small', () => {
  test('a further link of the same page costs what is new in it, and four bytes', () => {
    const links = ['q', 'z', 'k'].map((name) => entry(`https://${HOST}/a/long/way/down/${name}`))
    const bytes = [1, 2, 3].map((count) => encodeEntries(HOST, links.slice(0, count)).length)
    expect(bytes.map((size, i) => size - (bytes[i - 1] ?? size))).toEqual([0, 4, 4])
  })

  test('256 links of a site of 60 characters cost less than 16 bytes each', () => {
    expect(encodeEntries(HOST, siteEntries(256)).length / 256).toBeLessThan(16)
  })
})

describe('a damaged block is a fault', () => {
  const blocks = [3, 200].map((count) => encodeEntries(HOST, siteEntries(count)))

  test('wherever a bit is flipped', () => {
    for (const block of blocks) {
      for (let bit = 0; bit < 8 * block.length; bit++) {
        const damaged = Buffer.from(block)
        damaged[bit >> 3] = (damaged[bit >> 3] as number) ^ (1 << (bit & 7))
        expect(
          faultOf(() => EntryBlock.open(HOST, damaged)),
          `bit ${bit}`,
        ).toBe('LEDGER_CORRUPT')
      }
    }
  })

  test('wherever it is cut, and when something follows it', () => {
    for (const block of blocks) {
      for (let length = 0; length < block.length; length++) {
        expect(
          faultOf(() => EntryBlock.open(HOST, block.subarray(0, length))),
          `cut at ${length}`,
        ).toBe('LEDGER_CORRUPT')
      }
      expect(faultOf(() => EntryBlock.open(HOST, Buffer.concat([block, Buffer.of(0)])))).toBe('LEDGER_CORRUPT')
    }
  })

  test('when it is of another host', () => {
    const [block] = blocks as [Buffer]
    expect(faultOf(() => EntryBlock.open('example.org' as HostKey, block))).toBe('LEDGER_CORRUPT')
  })
})

test('numbers beyond what the format holds are refused, not cut off', () => {
  for (const more of [{ depth: 2 ** 32 }, { band: 2 ** 30 }, { tries: 2 ** 40 }, { hops: -1 }, { depth: 0.5 }]) {
    expect(faultOf(() => encodeEntries(HOST, [entry(`https://${HOST}/`, more)]))).toBe('ASSERTION')
  }
})
