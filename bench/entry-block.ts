// How many bytes does a URL cost that waits on disk, with its via and its numbers, and what does it cost to write and
// to read it? The mark set by others: 92 µs to store a URL, 6 µs to retrieve it.
//
//   node bench/entry-block.ts
//
// Two sets of lines, each cut into blocks of up to 256 entries of one host, the short last block of every host included:
// URLs of a generator (20,000 hosts by a power law, sites of six kinds, a seventh of the pages on other hosts), and the links of
// Debian documentation (bench/corpus.ts), first meetings only, in the order of a breadth-first crawl, a site per
// package. Figures are CPU time of this process, best of seven rounds, and every block is read back and compared before.
// For comparison: the texts alone, without host and repeated via, and the same deflated block by block. Arguments against
// that rival are small blocks, of which there are as many as hosts, and single entries.
//
// Then all again with a code made of the first 2 MiB of bodies, as a crawl has it, and what the same blocks would take if zstd
// were tried on every body of 1 KiB or more, or on none.

import { isDeepStrictEqual } from 'node:util'
import { deflateRawSync, inflateRawSync, zstdCompressSync } from 'node:zlib'
import { Random } from '../src/base/index.ts'
import { BodyCode } from '../src/frontier/body-code.ts'
import { bodyOf, encodeEntries, EntryBlock, PACKED_BYTES_MIN, PACKED_ENTRIES_MIN } from '../src/frontier/entry-block.ts'
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
const CODE_SAMPLE_BYTES = 2 ** 21

const CRC_AND_COUNT_BYTES = 6
const RIVAL_DICTIONARY = Buffer.from(
  '0123456789 .aspx.php.xml.css.js.png.jpg.htm.html -for- -to- -in- -and- -of- -the- ?q=&id=?id=&page=?page= lang= ' +
    '/wp-content/uploads/20 /en/ /images/ /static/ /search /product /user /page/ /docs/ /archive /tag/ /blog/ /news/ /wiki/ ' +
    'category article /index.html .net/.org/.com/ http://www. https:// https://www.',
)

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

interface Times {
  readonly encodeUs: number
  readonly decodeUs: number
  readonly rivalEncodeUs: number
  readonly rivalDecodeUs: number
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

interface Coded {
  readonly bytes: number
  readonly bytesInFullBlocks: number
  readonly bytesInBlocksBelow4: number
  readonly bytesInBlocksBelow16: number
  readonly bytesInBlocksBelow64: number
  readonly bytesInBlocksBelow256: number
  readonly encodeUs: number
  readonly decodeUs: number
  readonly encodeUsInBlocksBelow4: number
  readonly decodeUsInBlocksBelow4: number
  readonly encodeUsInFullBlocks: number
  readonly decodeUsInFullBlocks: number
  /** What zstd on all bodies of 1 KiB or more would take off the blocks, and zstd on none add to them, in bytes a URL. */
  readonly savedByZstdOnAll: number
  readonly lostWithoutZstd: number
}

/** The blocks in a code of their own. */
function withCode(blocks: readonly Block[]): Coded {
  const bodies = blocks.map(({ host, entries }) => Buffer.from(bodyOf(host, entries)))
  let sampled = 0
  const code = BodyCode.for(bodies.filter((body) => (sampled += body.length) <= CODE_SAMPLE_BYTES))
  const encoded = blocks.map(({ host, entries }) => encodeEntries(host, entries, code))
  let withoutZstd = 0
  let zstdOnAll = 0
  let asWritten = 0
  for (const [i, { host, entries }] of blocks.entries()) {
    const body = bodies[i] as Buffer
    const bytes = encoded[i] as Buffer
    if (!isDeepStrictEqual(EntryBlock.open(host, bytes, code).entries(), entries)) {
      throw new Error(`${host}: a block in the code is not read as it was written`)
    }
    const plain = Math.min(body.length, code.sizeOf(body) + 1)
    const packed = body.length < PACKED_BYTES_MIN ? plain : Math.min(plain, zstdCompressSync(body).length)
    withoutZstd += plain
    zstdOnAll += packed
    // The head is the same whatever follows it, but for a byte that says that there is a code.
    asWritten += entries.length < PACKED_ENTRIES_MIN ? plain : packed
  }
  const count = blocks.reduce((sum, { entries }) => sum + entries.length, 0)
  const within = (least: number, most: number): { bytes: number; encodeUs: number; decodeUs: number } => {
    const chosen = [...blocks.entries()].filter(([, { entries }]) => entries.length >= least && entries.length <= most)
    const items = chosen.reduce((sum, [, { entries }]) => sum + entries.length, 0)
    return {
      bytes: Number((chosen.reduce((sum, [i]) => sum + (encoded[i] as Buffer).length, 0) / items).toFixed(1)),
      encodeUs: measure(items, () => {
        for (const [, { host, entries }] of chosen) sink += encodeEntries(host, entries, code).length
      }),
      decodeUs: measure(items, () => {
        for (const [i, { host }] of chosen) sink += EntryBlock.open(host, encoded[i] as Buffer, code).entries().length
      }),
    }
  }
  const all = within(1, BLOCK_ENTRIES)
  const few = within(1, 3)
  const full = within(BLOCK_ENTRIES, BLOCK_ENTRIES)
  return {
    ...all,
    bytesInFullBlocks: full.bytes,
    bytesInBlocksBelow4: few.bytes,
    bytesInBlocksBelow16: within(4, 15).bytes,
    bytesInBlocksBelow64: within(16, 63).bytes,
    bytesInBlocksBelow256: within(64, 255).bytes,
    encodeUsInBlocksBelow4: few.encodeUs,
    decodeUsInBlocksBelow4: few.decodeUs,
    encodeUsInFullBlocks: full.encodeUs,
    decodeUsInFullBlocks: full.decodeUs,
    savedByZstdOnAll: Number(((asWritten - zstdOnAll) / count).toFixed(2)),
    lostWithoutZstd: Number(((withoutZstd - asWritten) / count).toFixed(2)),
  }
}

/** Whatever is computed flows in here, so that nothing is optimised away. */
let sink = 0
let isOver = false
for (const [name, lines] of Object.entries({ generated: generated(), documentation: documentation() })) {
  const blocks = blocksOf(lines)
  const count = blocks.reduce((sum, { entries }) => sum + entries.length, 0)
  if (count === 0) {
    console.error(`bench/entry-block: ${name}: nothing to measure`)
    continue
  }
  const encoded = blocks.map(({ host, entries }) => encodeEntries(host, entries))
  for (const [i, { host, entries }] of blocks.entries()) {
    if (!isDeepStrictEqual(EntryBlock.open(host, encoded[i] as Buffer).entries(), entries)) {
      throw new Error(`${host}: a block is not read as it was written`)
    }
  }
  const perEntry = (bytesOf: (block: Block, index: number) => number): number =>
    Number((blocks.reduce((sum, block, i) => sum + bytesOf(block, i), 0) / count).toFixed(1))
  // The rival: lines of text without what the block implies, deflated with a dictionary of what URLs have in common.
  const linesOf = ({ host, entries }: Block): Buffer =>
    Buffer.from(
      entries
        .map(({ url, via, depth, band }, i) => {
          const ownVia = via === entries[i - 1]?.via ? '' : (via ?? '-').replace(host, '')
          return `${url.replace(host, '')} ${ownVia} ${depth}${band}\n`
        })
        .join(''),
      'latin1',
    )
  const deflateLines = (block: Block): Buffer => deflateRawSync(linesOf(block), { dictionary: RIVAL_DICTIONARY })
  const rivals = blocks.map(deflateLines)
  /** Ours and the rival's times for the blocks of these sizes. */
  const timesOf = (least: number, most: number): Times => {
    const chosen = blocks.filter(({ entries }) => entries.length >= least && entries.length <= most)
    const items = chosen.reduce((sum, { entries }) => sum + entries.length, 0)
    const ours = chosen.map(({ host, entries }) => encodeEntries(host, entries))
    const theirs = chosen.map(deflateLines)
    return {
      encodeUs: measure(items, () => {
        for (const { host, entries } of chosen) sink += encodeEntries(host, entries).length
      }),
      decodeUs: measure(items, () => {
        for (const [i, { host }] of chosen.entries()) sink += EntryBlock.open(host, ours[i] as Buffer).entries().length
      }),
      rivalEncodeUs: measure(items, () => {
        for (const block of chosen) sink += deflateLines(block).length
      }),
      rivalDecodeUs: measure(items, () => {
        for (const rival of theirs) {
          const text = inflateRawSync(rival, { dictionary: RIVAL_DICTIONARY }).toString('latin1')
          for (const line of text.split('\n')) sink += line.split(' ').length
        }
      }),
    }
  }
  const times = timesOf(1, BLOCK_ENTRIES)
  const opened = blocks.slice(0, 500).map(({ host }, i) => EntryBlock.open(host, encoded[i] as Buffer))
  const finder = new Random(SEED)
  const findUs = measure(opened.length * 20, () => {
    for (const block of opened) {
      for (let left = 20; left > 0; left--) sink += block.at(finder.below(block.count))?.depth ?? 0
    }
  })
  const random = new Random(SEED)
  const picks = Array.from({ length: 20_000 }, () => random.below(blocks.length))
  const openAndFindUs = measure(picks.length, () => {
    for (const pick of picks) {
      const { host, entries } = blocks[pick] as Block
      EntryBlock.open(host, encoded[pick] as Buffer).at(random.below(entries.length))
    }
  })
  /** Bytes per entry in the blocks that hold at least `least` and at most `most` entries. */
  const bytesIn = (least: number, most: number): number => {
    let bytes = 0
    let held = 0
    for (const [i, { entries }] of blocks.entries()) {
      if (entries.length < least || entries.length > most) continue
      bytes += (encoded[i] as Buffer).length
      held += entries.length
    }
    return Number((bytes / held).toFixed(1))
  }
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
    bytesInFullBlocks: bytesIn(BLOCK_ENTRIES, BLOCK_ENTRIES),
    bytesInBlocksBelow4: bytesIn(1, 3),
    bytesInBlocksBelow16: bytesIn(4, 15),
    bytesInBlocksBelow64: bytesIn(16, 63),
    textBytes: perEntry((block) => linesOf(block).length),
    rivalBytes: perEntry((_, i) => (rivals[i] as Buffer).length + CRC_AND_COUNT_BYTES),
    times,
    timesInBlocksBelow4: timesOf(1, 3),
    timesInFullBlocks: timesOf(BLOCK_ENTRIES, BLOCK_ENTRIES),
    openAndFindUs,
    findUs,
    withCode: withCode(blocks),
  }
  isOver ||= row.bytes > BAR_BYTES
  console.log(
    `${name}: ${row.bytes} bytes a URL (bar ${BAR_BYTES}; ${row.bytesInFullBlocks} in full blocks), mean URL ${row.meanUrlLength}, via ${row.meanViaLength}; ` +
      `` +
      `write ${times.encodeUs} µs, read ${times.decodeUs} µs a URL, open a block and find one ${openAndFindUs} µs (if it is open ${findUs}); ${count} URLs of ${lines.size} hosts\n` +
      `  texts alone ${row.textBytes}; deflated lines ${row.rivalBytes}, write ${times.rivalEncodeUs} µs, read ${times.rivalDecodeUs} µs\n` +
      `  with a code ${row.withCode.bytes} bytes a URL, write ${row.withCode.encodeUs} µs, read ${row.withCode.decodeUs} µs; ` +
      `zstd on more would save ${row.withCode.savedByZstdOnAll} bytes, on none would cost ${row.withCode.lostWithoutZstd}`,
  )
  console.log(JSON.stringify(row))
}
if (isOver || !Number.isFinite(sink)) process.exitCode = 1
