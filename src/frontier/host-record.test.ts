import { expect, test } from 'vitest'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import type { FrontierEntry } from './frontier.ts'
import { encodeEntries } from './entry-block.ts'
import {
  decodeAddendum,
  decodeHost,
  decodeRecord,
  encodeAddendum,
  encodeRecord,
  type HostRecord,
  type StoredLines,
  waitingOf,
} from './host-record.ts'
import { INLINE, InlineBlock } from './inline-block.ts'

const HOST = 'example.org' as HostKey
const entryOf = (name: string, band: number): FrontierEntry => ({
  url: `https://example.org/${name}` as CanonicalUrl,
  host: HOST,
  via: null,
  depth: 2,
  hops: 0,
  band,
  isSeed: false,
  tries: 1,
  pauses: 0,
})

const RECORD: HostRecord = {
  wasOffered: true,
  pages: 70_000,
  leastRestMs: 5_000,
  run: 3,
  restMs: 86_400_000,
  // Longer than 32 bits hold.
  restUntilMs: 2 ** 40 + 12_345,
  page: 17,
  lines: [
    { band: 0, pieces: [{ block: 5, stored: 256, from: 30 }] },
    { band: 7, pieces: [{ block: 8, stored: 64, from: 0 }] },
  ],
  front: [entryOf('a', 0), entryOf('b', 3)],
  tail: [entryOf('c', 7)],
}

test('a record comes back as it went in', () => {
  const bytes = encodeRecord(HOST, RECORD)
  expect(decodeRecord(HOST, bytes)).toEqual(RECORD)
  expect(waitingOf({ record: RECORD, addenda: [] })).toBe(226 + 64 + 3)
})

test('blocks in the record come back at their places in the lines', () => {
  const names = ['d', 'e', 'f']
  const inlineOf = (some: readonly string[]): InlineBlock =>
    new InlineBlock(
      encodeEntries(
        HOST,
        some.map((name) => entryOf(name, 7)),
      ),
      null,
    )
  const [one, two] = [inlineOf(names), inlineOf(['g'])]
  const record: HostRecord = {
    ...RECORD,
    lines: [
      { band: 1, pieces: [{ block: INLINE, stored: 1, from: 0, inline: two }] },
      {
        band: 7,
        pieces: [
          { block: INLINE, stored: 3, from: 1, inline: one },
          { block: 8, stored: 64, from: 0 },
        ],
      },
    ],
  }
  const bytes = encodeRecord(HOST, record)
  const back = decodeRecord(HOST, bytes)
  expect(waitingOf({ record: back, addenda: [] })).toBe(1 + 2 + 64 + 3)
  expect(back.lines.flatMap(({ pieces }) => pieces.map(({ block }) => block))).toEqual([INLINE, INLINE, 8])
  const inline = back.lines[1]?.pieces[0]?.inline
  expect(inline?.entries(HOST, 3, 1).map(({ url }) => url)).toEqual(['https://example.org/e', 'https://example.org/f'])
  expect(() => inline?.entries(HOST, 4, 1)).toThrow(expect.objectContaining({ code: 'LEDGER_CORRUPT' }))
  expect(encodeRecord(HOST, back)).toEqual(bytes)
  expect(() => decodeRecord(HOST, bytes.subarray(0, -1))).toThrow(expect.objectContaining({ code: 'LEDGER_CORRUPT' }))
})

test('an addendum comes back as it went in, and what it adds waits', () => {
  const added: StoredLines = {
    lines: [{ band: 3, pieces: [{ block: 9, stored: 70, from: 0 }] }],
    front: [],
    tail: [entryOf('x', 3), entryOf('y', 0)],
  }
  const bytes = encodeAddendum(HOST, added)
  expect(decodeAddendum(HOST, bytes)).toEqual(added)
  const onDisk = decodeHost(HOST, { record: encodeRecord(HOST, RECORD), addenda: [bytes, bytes] }, null)
  expect(onDisk).toEqual({ record: RECORD, addenda: [added, added] })
  expect(waitingOf(onDisk)).toBe(226 + 64 + 3 + 2 * 72)
  for (let length = 0; length < bytes.length; length++) {
    expect(() => decodeAddendum(HOST, bytes.subarray(0, length))).toThrow(
      expect.objectContaining({ code: 'LEDGER_CORRUPT' }),
    )
  }
})

test('a rest is rounded up, never down', () => {
  const { restMs, restUntilMs } = decodeRecord(HOST, encodeRecord(HOST, { ...RECORD, restMs: 0.2, restUntilMs: 7.5 }))
  expect({ restMs, restUntilMs }).toEqual({ restMs: 1, restUntilMs: 8 })
})

test('a record that was cut is a fault', () => {
  const bytes = encodeRecord(HOST, RECORD)
  for (let length = 0; length < bytes.length; length++) {
    expect(() => decodeRecord(HOST, bytes.subarray(0, length))).toThrow(
      expect.objectContaining({ code: 'LEDGER_CORRUPT' }),
    )
  }
})
