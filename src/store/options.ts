import { z } from 'zod'
import { choice, count, size, yesNo } from '../base/options.ts'

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
  // Level 4 has most of the gain for two thirds of the cost; so has 3 of zstd. Measured in decision 0020.
  gzipLevel: count(4, { text: 'Level of gzip: 1 is fastest, 9 smallest.' }, { min: 1, max: 9 }),
  zstdLevel: count(3, { text: 'Level of zstd: 1 is fastest, 19 smallest.' }, { min: 1, max: 19 }),
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
