// How many bytes does a URL cost that waits on disk, with its via and its numbers, and what does it cost to write and
// to read it? Mercator's successors store a URL in 92 µs and retrieve it in 6 µs.
//
//   node bench/entry-block.ts
//
// Two sets of lines, each cut into blocks of up to 256 entries of one host, the short last block of every host included:
// URLs of a generator (20,000 hosts by a power law, sites of six kinds, a seventh of the pages on other hosts), and the links of
// Debian documentation (bench/corpus.ts), first meetings only, in the order of a breadth-first crawl, a site per
// package. Figures are CPU time of this process, best of seven rounds, and every block is read back and compared before.
// For comparison: the texts alone, and zstd over the texts of each block (no single entry can be read from that).

import { isDeepStrictEqual } from 'node:util'
import { zstdCompressSync } from 'node:zlib'
import { Random } from '../src/base/index.ts'
import { encodeEntries, EntryBlock } from '../src/frontier/entry-block.ts'
import type { FrontierEntry } from '../src/frontier/index.ts'
import { BaseUrl, canonicalise, type CanonicalUrl, type HostKey, hostKeyOf } from '../src/url/index.ts'
import { CORPUS_PACKAGES, corpusPages, rawLinks } from './corpus.ts'

const SEED = 'bench-entry-block'
const BAR_BYTES = 48
const BLOCK_ENTRIES = 256
const ROUNDS = 7
const URLS = 200_000
const HOSTS = 20_000
const FOREIGN_SHARE = 1 / 7

type Lines = Map<HostKey, FrontierEntry[]>

function file(lines: Lines, url: CanonicalUrl, via: CanonicalUrl | null, depth: number, band: number): FrontierEntry {
  const host = hostKeyOf(url)
  const entry = { url, host, via, depth, hops: 0, band, isSeed: via === null, tries: 0, pauses: 0 }
  const line = lines.get(host)
  if (line === undefined) lines.set(host, [entry])
  else line.push(entry)
  return entry
}

/** Words of no language, with the letters of English at about their frequency: nothing the pieces were made for. */
function makeWords(random: Random, count: number): string[] {
  const consonants = 'ttttttnnnnnnsssssshhhhrrrrrddddllllcccmmwwffggyppbbvkjxqz'
  const vowels = 'eeeeeeeeeeeeaaaaaaaaoooooooiiiiiiiuuu'
  return Array.from({ length: count }, () => {
    let word = ''
    for (let left = 2 + random.below(4); left > 0; left--) {
      word += consonants[random.below(consonants.length)]
      if (random.fraction() < 0.85) word += vowels[random.below(vowels.length)]
    }
    return word
  })
}

function generated(): Lines {
  const random = new Random(SEED)
  const words = makeWords(random, 20_000)
  /** From 0 to count - 1, the n-th about 1/n as often as the first. */
  const skewed = (count: number): number => Math.floor(count ** random.fraction()) - 1
  const word = (): string => words[skewed(words.length)] as string
  const slug = (least: number, more: number, joint: string): string =>
    Array.from({ length: least + random.below(more) }, word).join(joint)
  const digits = (count: number): string => String(random.below(10 ** count)).padStart(count, '0')
  const month = (): string => `20${10 + random.below(16)}/${String(1 + random.below(12)).padStart(2, '0')}`
  const kinds: readonly ((section: string) => string)[] = [
    (section) => `${section}/${month()}/${digits(2)}/${slug(4, 5, '-')}-${digits(7)}.html`,
    (section) =>
      `shop/${section}/${word()}/${slug(3, 4, '-')}-p-${digits(6)}?colour=${word()}&size=${random.below(48)}`,
    (section) =>
      `forum/${section}/viewtopic.php?f=${random.below(90)}&t=${digits(7)}&start=${20 * random.below(40)}&sid=${digits(8)}`,
    () => `wiki/${slug(3, 4, '_')}_(${word()})?action=history&oldid=${digits(8)}`,
    (section) =>
      `docs/v${random.below(5)}.${random.below(9)}/${section}/${word()}/${slug(2, 3, '-')}/${slug(1, 2, '-')}.html`,
    (section) =>
      `wp-content/uploads/${month()}/${section}-${random.next32().toString(16)}${random.next32().toString(16)}-1280x720.jpg`,
  ]
  const hosts = Array.from({ length: HOSTS }, (_, i) => ({
    origin: `https://${i % 3 === 0 ? '' : 'www.'}${words[i % words.length]}-${word()}.${['com', 'org', 'example', 'de', 'co.uk'][i % 5]}`,
    kind: kinds[random.below(kinds.length)] as (section: string) => string,
    sections: Array.from({ length: 1 + random.below(20) }, word),
  }))
  const onHost = (host: (typeof hosts)[number]): CanonicalUrl => {
    const kind = random.fraction() < 0.85 ? host.kind : random.pick(kinds)
    return canonicalise(`${host.origin}/${kind(random.pick(host.sections))}`) as CanonicalUrl
  }
  const lines: Lines = new Map()
  for (let count = 0; count < URLS;) {
    const site = hosts[skewed(HOSTS)] as (typeof hosts)[number]
    const via = onHost(site)
    const depth = 1 + random.below(8)
    // The new links of a page: some, now and then many.
    for (let left = 1 + skewed(30); left > 0 && count < URLS; left--, count++) {
      const target = random.fraction() < FOREIGN_SHARE ? (hosts[skewed(HOSTS)] as typeof site) : site
      file(lines, onHost(target), via, depth, Math.min(7, depth))
    }
  }
  return lines
}

function documentation(): Lines {
  const lines: Lines = new Map()
  for (const name of CORPUS_PACKAGES) {
    const pages = new Map<string, string[]>()
    for (const page of corpusPages([name])) {
      const path = page.path.replace(/^\/[^/]+\/usr\/share\/(doc\/)?/, '/')
      pages.set(canonicalise(`https://${name}.example.org${path}`) as CanonicalUrl, rawLinks(page))
    }
    const seen = new Set<string>()
    // What no link leads to is a seed of its own, as another entrance would be.
    for (const seed of pages.keys()) {
      if (seen.has(seed)) continue
      seen.add(seed)
      const queue = [file(lines, seed as CanonicalUrl, null, 0, 0)]
      for (const from of queue) {
        const base = BaseUrl.of(from.url)
        for (const link of pages.get(from.url) ?? []) {
          const url = canonicalise(link, base)
          if (typeof url !== 'string' || seen.has(url)) continue
          seen.add(url)
          queue.push(file(lines, url, from.url, from.depth + 1, Math.min(7, from.depth + 1)))
        }
      }
    }
  }
  return lines
}

interface Block {
  readonly host: HostKey
  readonly entries: readonly FrontierEntry[]
}

function blocksOf(lines: Lines): Block[] {
  return Array.from(lines, ([host, line]) =>
    Array.from({ length: Math.ceil(line.length / BLOCK_ENTRIES) }, (_, i) => ({
      host,
      entries: line.slice(i * BLOCK_ENTRIES, (i + 1) * BLOCK_ENTRIES),
    })),
  ).flat()
}

/** Microseconds of CPU per item. */
function measure(items: number, work: () => void): number {
  let best = Infinity
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / items)
  }
  return Number(best.toFixed(2))
}

let isOver = false
for (const [name, lines] of Object.entries({ generated: generated(), documentation: documentation() })) {
  const blocks = blocksOf(lines)
  const count = blocks.reduce((sum, { entries }) => sum + entries.length, 0)
  if (count === 0) {
    console.error(`bench/entry-block: ${name}: nothing to measure`)
    continue
  }
  let encoded = blocks.map(({ host, entries }) => encodeEntries(host, entries))
  for (const [i, { host, entries }] of blocks.entries()) {
    if (!isDeepStrictEqual(EntryBlock.open(host, encoded[i] as Buffer).entries(), entries)) {
      throw new Error(`${host}: a block is not read as it was written`)
    }
  }
  const perEntry = (bytesOf: (block: Block, index: number) => number): number =>
    Number((blocks.reduce((sum, block, i) => sum + bytesOf(block, i), 0) / count).toFixed(1))
  const textsOf = ({ entries }: Block): Buffer =>
    Buffer.from(
      entries
        .map(({ url, via, depth, band }, i) => `${url} ${via === entries[i - 1]?.via ? '' : via} ${depth}${band}\n`)
        .join(''),
    )
  const encodeUs = measure(count, () => {
    encoded = blocks.map(({ host, entries }) => encodeEntries(host, entries))
  })
  const decodeUs = measure(count, () => {
    for (const [i, { host }] of blocks.entries()) EntryBlock.open(host, encoded[i] as Buffer).entries()
  })
  const random = new Random(SEED)
  const picks = Array.from({ length: 20_000 }, () => random.below(blocks.length))
  const openAndFindUs = measure(picks.length, () => {
    for (const pick of picks) {
      const { host, entries } = blocks[pick] as Block
      EntryBlock.open(host, encoded[pick] as Buffer).at(random.below(entries.length))
    }
  })
  const large = blocks.filter(({ entries }) => entries.length === BLOCK_ENTRIES)
  const largeBytes = large.reduce((sum, block) => sum + (encoded[blocks.indexOf(block)] as Buffer).length, 0)
  const row = {
    bench: 'entry-block',
    lines: name,
    seed: SEED,
    barBytes: BAR_BYTES,
    urls: count,
    hosts: lines.size,
    blocks: blocks.length,
    meanUrlLength: perEntry(({ entries }) => entries.reduce((sum, { url }) => sum + url.length, 0)),
    meanViaLength: perEntry(({ entries }) => entries.reduce((sum, { via }) => sum + (via?.length ?? 0), 0)),
    bytes: perEntry((_, i) => (encoded[i] as Buffer).length),
    bytesInFullBlocks: Number((largeBytes / (large.length * BLOCK_ENTRIES)).toFixed(1)),
    textBytes: perEntry((block) => textsOf(block).length),
    zstdBytes: perEntry((block) => zstdCompressSync(textsOf(block)).length),
    encodeUs,
    decodeUs,
    openAndFindUs,
  }
  isOver ||= row.bytes > BAR_BYTES
  console.log(
    `${name}: ${row.bytes} bytes a URL (bar ${BAR_BYTES}; ${row.bytesInFullBlocks} in full blocks), mean URL ${row.meanUrlLength}, via ${row.meanViaLength}; ` +
      `texts alone ${row.textBytes}, zstd ${row.zstdBytes}; ` +
      `write ${encodeUs} µs, read ${decodeUs} µs a URL, open a block and find one ${openAndFindUs} µs; ${count} URLs of ${lines.size} hosts`,
  )
  console.log(JSON.stringify(row))
}
if (isOver) process.exitCode = 1
