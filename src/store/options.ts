import { z } from 'zod'
import { choice, count, size, yesNo } from '../base/index.ts'

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
  // Documentation pages of 19 kB (bench/store.ts with a folder), CPU per page and size: level 1 147 µs 28.1 %, 3 162 µs 27.3 %,
  // 4 224 µs 26.5 %, 6 331 µs 25.9 %, 9 no smaller than 6. Level 4 has most of the gain for two thirds of the cost.
  gzipLevel: count(4, { text: 'Level of gzip: 1 is fastest, 9 smallest.' }, { min: 1, max: 9 }),
  // Same pages: level 1 73 µs 27.8 %, 3 105 µs 27.0 %, 5 186 µs 25.9 %.
  zstdLevel: count(3, { text: 'Level of zstd: 1 is fastest, 19 smallest.' }, { min: 1, max: 19 }),
  requests: yesNo(true, { text: 'Archive each request beside its response.' }),
  // Off: pages.jsonl says the same, and the third record was 3 % of the CPU of a page in a crawl without compression.
  metadata: yesNo(false, {
    text: 'Archive how each page was come by: via, hops from the seed, time taken. pages.jsonl has it anyway.',
  }),
})

export type StoreOptions = z.output<typeof storeOptions>
