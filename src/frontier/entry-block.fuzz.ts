// Whatever bytes pass the checksum, reading them ends with entries or with a fault that says so; and long lines of odd
// entries come back as they went in.

import { expect, test } from 'vitest'
import { crc32 } from 'node:zlib'
import { Fault, Random } from '../base/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import { encodeEntries, EntryBlock } from './entry-block.ts'
import type { FrontierEntry } from './frontier.ts'

const HOST = 'www.example.org' as HostKey
const STARTS = [
  `https://${HOST}/`,
  `https://${HOST}/a/`,
  `http://${HOST}:8080/`,
  'https://elsewhere.example/',
  '',
  'é',
  '\ud800',
]
const PARTS = ['article', 'index.html', '-the-', '/', '?id=', '%C3%A9', '0', '17', 'q', '\u007f', '\n', '日本']

function text(random: Random): CanonicalUrl {
  let made = random.pick(STARTS)
  for (let left = random.below(random.below(50) === 0 ? 3_000 : 12); left > 0; left--) made += random.pick(PARTS)
  return made as CanonicalUrl
}

function line(random: Random, count: number): FrontierEntry[] {
  const vias = Array.from({ length: 5 }, () => text(random))
  return Array.from({ length: count }, () => ({
    url: text(random),
    host: HOST,
    via: random.below(9) === 0 ? null : random.pick(vias),
    depth: random.below(3),
    hops: random.below(20) === 0 ? random.below(200) : 0,
    band: random.below(2),
    isSeed: random.below(20) === 0,
    tries: random.below(20) === 0 ? random.below(1_000) : 0,
    pauses: random.below(20) === 0 ? random.below(1_000) : 0,
  }))
}

test('a line of odd entries is read as it was written, at once and entry by entry', () => {
  const random = new Random('lines')
  for (let round = 0; round < 300; round++) {
    const entries = line(random, random.below(300))
    const block = EntryBlock.open(HOST, encodeEntries(HOST, entries))
    const index = random.below(entries.length + 1)
    expect(block.at(index)).toEqual(entries[index])
    expect(block.entries()).toEqual(entries)
  }
})

test('bytes that were forged to pass the checksum are entries or a fault, nothing else', () => {
  const random = new Random('forged')
  const blocks = [1, 3, 10, 200].map((count) => encodeEntries(HOST, line(random, count)))
  let faults = 0
  for (let round = 0; round < 1_500; round++) {
    const forged = Buffer.from(random.pick(blocks))
    for (let left = 1 + random.below(4); left > 0; left--)
      forged[4 + random.below(forged.length - 4)] = random.below(256)
    forged.writeUInt32LE(crc32(forged.subarray(4), crc32(HOST)), 0)
    try {
      const block = EntryBlock.open(HOST, forged)
      expect(block.entries()).toHaveLength(block.count)
    } catch (error) {
      expect(error).toBeInstanceOf(Fault)
      expect(error).toMatchObject({ code: 'LEDGER_CORRUPT' })
      faults++
    }
  }
  expect(faults).toBeGreaterThan(200)
})
