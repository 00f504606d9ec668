// The index against warcio's own indexer on the same file, and the places it speaks of by looking there.

import { createReadStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CDXIndexer, getSurt } from 'warcio'
import { checkArchive } from '../../test/archive-check.ts'
import { digestOf, plainDocument } from '../../test/plain-document.ts'
import { ManualClock } from '../base/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { factsOf } from './archive.conformance.ts'
import { CdxjWriter, sortCdxj } from './cdxj-writer.ts'
import { storeOptions } from './options.ts'
import { WarcWriter } from './warc-writer.ts'

let directory: string
let state: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'portolan-store-'))
  await mkdir(join(directory, 'state'))
  state = join(directory, 'state', 'index-0.cdxj')
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** Five documents in an archive with its index, sorted; unsorted in the order given here. */
async function makeArchive(warc: 'gzip' | 'none', extra: { requests: boolean; metadata: boolean }): Promise<void> {
  const options = { ...storeOptions.parse({}), warc, ...extra }
  const clock = new ManualClock()
  const archive = await WarcWriter.open({ directory, crawlName: 'c', agent: 0, options, info: {}, clock })
  const index = await CdxjWriter.open({ path: state, surt: getSurt })
  const body = 'a page'
  const revisitOf = {
    url: 'http://b.example/x' as CanonicalUrl,
    fetchedAtMs: Date.UTC(2026, 0, 1),
    payloadDigest: digestOf(Buffer.from(body)),
  }
  const documents = [
    plainDocument('http://b.example/x', body),
    plainDocument('http://www.a.example/z?q=1', body),
    plainDocument('http://a.example:8080/%C3%A9', 'not here', {
      status: 404,
      rawHeaders: ['content-type', 'Text/Plain'],
      mediaType: 'text/plain',
    }),
    plainDocument('http://a.example/', '', {
      status: 301,
      rawHeaders: ['Location', '/b'],
      mediaType: null,
      fetchedAtMs: Date.UTC(2026, 5, 30, 23, 59, 59, 999),
    }),
    plainDocument('http://b.example/copy', body),
  ]
  for (const document of documents) {
    const isCopy = document.url.endsWith('copy')
    const facts = factsOf(document, { revisitOf: isCopy ? revisitOf : null })
    index.append(document, facts, await archive.write(document, facts))
  }
  await archive.close()
  await index.close()
  await sortCdxj([state], join(directory, 'archive', 'index.cdxj'))
}

/** A line taken apart, so that the order of its fields does not count. */
function parsed(line: string): unknown {
  const [, key, json] = /^(\S+ \d{14}) (.*)$/.exec(line)!
  return { key, ...(JSON.parse(json!) as object) }
}

const lines = async (): Promise<string[]> =>
  (await readFile(join(directory, 'archive', 'index.cdxj'), 'utf8')).split('\n').slice(0, -1)

describe.each(['gzip', 'none'] as const)('over a WARC with --warc %s', (warc) => {
  test.each([
    { requests: true, metadata: true },
    { requests: false, metadata: false },
  ])('each line is what warcio finds ($requests, $metadata)', async (extra) => {
    await makeArchive(warc, extra)
    expect(checkArchive(directory).problems).toEqual([])
    const filename = (await readdir(join(directory, 'archive'))).find((name) => name.includes('.warc'))!
    const reader = createReadStream(join(directory, 'archive', filename))
    const theirs: string[] = []
    const indexer = new CDXIndexer({ format: 'cdxj' })
    for await (const entry of indexer.iterIndex([{ filename, reader }])) {
      // Differences, all meant. The digest: warcio drops the name of the algorithm, we keep it. A missing
      // media type: warcio leaves the field out, pywb and we say `unk`. Its case: we fold it. The
      // length without compression: warcio leaves out the two line ends behind the block.
      entry['digest'] = `sha256:${entry['digest']}`
      entry['mime'] = ((entry['mime'] as string | null) ?? 'unk').toLowerCase()
      if (warc === 'none') entry['length'] = (entry['length'] as number) + 4
      theirs.push(indexer.serialize(entry).trimEnd())
    }
    expect((await lines()).map(parsed)).toEqual(theirs.toSorted().map(parsed))
    expect(theirs).toHaveLength(5)
  })
})

test('the index is sorted by SURT, then by time, and says all it should', async () => {
  await makeArchive('none', { requests: true, metadata: true })
  const [first, ...others] = await lines()
  expect(first).toMatch(
    /^example,a\)\/ 20260630235959 \{"url":"http:\/\/a\.example\/","mime":"unk","status":"301","digest":"sha256:[0-9a-f]{64}","length":"\d+","offset":"\d+","filename":"portolan-c-20260101000000-0-00000\.warc"\}$/,
  )
  expect([first!, ...others].map((line) => line.split(' ')[0])).toEqual([
    'example,a)/',
    'example,a)/z?q=1',
    'example,a:8080)/%c3%a9',
    'example,b)/copy',
    'example,b)/x',
  ])
  expect(others[2]).toContain('"mime":"warc/revisit"')
})

test('lines beyond the committed length are cut off when the crawl goes on', async () => {
  const document = plainDocument('http://a.example/', 'x')
  const location = { file: 'archive/x.warc', offset: 0, length: 9 }
  const first = await CdxjWriter.open({ path: state, surt: (url) => url })
  first.append(document, factsOf(document), location)
  await first.sync()
  const committedLength = first.length
  first.append(document, factsOf(document), location)
  await first.close()
  const second = await CdxjWriter.open({ path: state, surt: (url) => url, committedLength })
  await second.close()
  expect((await readFile(state, 'utf8')).split('\n')).toHaveLength(2)
})
