// What does a page cost in the set of contents, and how much memory does it keep?
//
//   node --expose-gc bench/content-seen.ts
//
// A million different contents from a fixed seed, each claimed, kept, and claimed again as a
// duplicate. CPU time of this process; hashing is not counted.

import { Random } from '../src/base/index.ts'
import { MemoryContentSeen } from '../src/content-seen/index.ts'
import type { CanonicalUrl } from '../src/url/index.ts'

const SEED = 'bench-content-seen'
const PAGES = 1_000_000
const random = new Random(SEED)

const digests = Array.from({ length: 1_000 }, () => Buffer.alloc(32))
const urls = Array.from({ length: PAGES }, (_, i) =>
  Buffer.from(`https://www.site-${random.below(5_000)}.example/section/page-with-a-name-${i}.html`).toString('latin1'),
) as CanonicalUrl[]

function cpuNs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) * 1_000
}

function memoryBytes(): number {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const seen = new MemoryContentSeen()
const beforeBytes = memoryBytes()
let firstNs = 0
let againNs = 0
for (let page = 0; page < PAGES; page += digests.length) {
  for (const digest of digests) for (let i = 0; i < 8; i++) digest.writeUInt32LE(random.next32(), 4 * i)
  const originals = digests.map((digest, i) => ({
    url: urls[page + i] as CanonicalUrl,
    fetchedAtMs: 1.7e12 + page + i,
    payloadDigest: `sha256:${digest.toString('hex')}`,
  }))
  firstNs += cpuNs(() => {
    for (const [i, digest] of digests.entries()) {
      if (seen.claim(digest) === null) seen.keep(digest, originals[i] as (typeof originals)[number])
    }
  })
  againNs += cpuNs(() => {
    for (const digest of digests) if (seen.claim(digest) === null) throw new Error('a duplicate was not known')
  })
}
const result = {
  bench: 'content-seen',
  seed: SEED,
  pages: seen.size,
  claimAndKeepNs: Math.round(firstNs / PAGES),
  duplicateNs: Math.round(againNs / PAGES),
  bytesPerPageBesideUrl: globalThis.gc === undefined ? null : Math.round((memoryBytes() - beforeBytes) / PAGES),
}
console.log(
  `${result.pages} pages: ${result.claimAndKeepNs} ns to claim and keep, ${result.duplicateNs} ns to know a duplicate, ` +
    `${result.bytesPerPageBesideUrl ?? '? (run with --expose-gc)'} bytes a page beside the text of its URL`,
)
console.log(JSON.stringify(result))
