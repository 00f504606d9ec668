import { z } from 'zod'
import { choice, count, countOrWord, size, yesNo } from '../base/options.ts'

export const storeOptions = z.strictObject({
  warc: choice(['gzip', 'zstd', 'none', 'off'], 'gzip', {
    text: 'How the archive is compressed, record by record: gzip, zstd, none (plain .warc), or off for no archive.',
    flag: 'warc',
  }),
  warcSize: size(
    '1GiB',
    { text: 'A WARC file that has reached this size is closed and the next one begun.', flag: 'warc-size' },
    1,
  ),
  // As small as zlib's level 2 or 3, for three fifths of what level 1 costs. Measured in decision 0020.
  gzipLevel: countOrWord(
    'fast',
    { text: 'How gzip compresses: fast, by an encoder of our own, or by zlib from 1, quick, to 9, small.' },
    { min: 1, max: 9 },
  ),
  // Level 3 has most of the gain for two thirds of the cost.
  zstdLevel: count(3, { text: 'Level of zstd: 1 is fastest, 19 smallest.' }, { min: 1, max: 19 }),
  // On: a copy into the page cache costs ten times the write itself, and takes memory from what is read (decision 0054).
  pastCache: yesNo(true, {
    text: "Write the archive past the system's page cache, where the file system can; off, through it like any other file.",
  }),
  requests: yesNo(true, { text: 'Archive each request beside its response.' }),
  // Off: pages.jsonl says the same, and the third record was 3 % of the CPU of a page in a crawl without compression.
  metadata: yesNo(false, {
    text: 'Archive how each page was come by: via, hops from the seed, time taken. pages.jsonl has it anyway.',
  }),
  // Off: a second pass over every body, 13 µs of CPU a page, for what the payload digest and the checksum of the member cover (decision 0020).
  blockDigest: yesNo(false, {
    text: 'Write WARC-Block-Digest, over header and body, beside WARC-Payload-Digest, over the body.',
  }),
})

export type StoreOptions = z.output<typeof storeOptions>

export type GzipLevel = StoreOptions['gzipLevel']
