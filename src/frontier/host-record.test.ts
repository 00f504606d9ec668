import { expect, test } from 'vitest'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import type { FrontierEntry } from './frontier.ts'
import { decodeRecord, encodeRecord, type HostRecord, waitingOf } from './host-record.ts'

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
  expect(waitingOf(RECORD)).toBe(226 + 64 + 3)
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
