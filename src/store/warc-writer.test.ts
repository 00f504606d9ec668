// Whole files, judged by three readers: our strict checker, warcio, and the conformance suite. Then
// the crashes: files are left as a dead process would leave them, and a new writer goes on.

import { spawnSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { constants, createReadStream, existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { appendFile, chmod, mkdtemp, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WARCParser } from 'warcio'
import { checkArchive } from '../../test/archive-check.ts'
import { PlainBody, plainDocument } from '../../test/plain-document.ts'
import { zstdFrames } from '../../test/warc-frames.ts'
import { ManualClock } from '../base/index.ts'
import type { Document } from '../document/index.ts'
import { archiveConformance, factsOf } from './archive.conformance.ts'
import type { ArchiveState } from './archive.ts'
import { storeOptions } from './options.ts'
import type { WarcLocation } from './records.ts'
import { WarcWriter, type WarcWriterSettings } from './warc-writer.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'portolan-store-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** zlib: gzip by level, in the thread pool. */
type Compression = WarcWriterSettings['options']['warc'] | 'zlib'
const COMPRESSIONS: readonly Compression[] = ['gzip', 'zlib', 'zstd', 'none']

interface Changes {
  readonly warc?: Compression
  readonly bytesMax?: number
  readonly resumeFrom?: ArchiveState | null
  readonly crawlName?: string
  readonly agent?: number
  readonly blockDigest?: boolean
  readonly pastCache?: boolean
  readonly info?: Record<string, string>
}

function openWriter(changes: Changes = {}): Promise<WarcWriter> {
  const { warc = 'gzip', bytesMax, resumeFrom = null } = changes
  const { blockDigest = true, pastCache = true } = changes
  const said = { metadata: true, blockDigest, pastCache, gzipLevel: warc === 'zlib' ? 4 : 'fast' }
  const options = { ...storeOptions.parse(said), warc: warc === 'zlib' ? ('gzip' as const) : warc }
  return WarcWriter.open({
    directory,
    crawlName: changes.crawlName ?? 'test',
    agent: changes.agent ?? 0,
    options: bytesMax === undefined ? options : { ...options, warcSize: bytesMax },
    info: changes.info ?? { software: 'Portolan/test', isPartOf: 'test' },
    clock: new ManualClock(),
    resumeFrom,
  })
}

const documentOf = (path: string, body: Uint8Array | string): Document =>
  plainDocument(`http://127.0.0.1/${path}`, body)

async function write(writer: WarcWriter, path: string, body: Uint8Array | string = path): Promise<WarcLocation> {
  const document = documentOf(path, body)
  return await writer.write(document, factsOf(document))
}

/** The targets of all responses in the archive, file by file, after checking every byte of it. */
function targets(mayBeOpen = false): string[] {
  const { files, problems } = checkArchive(directory, { mayBeOpen })
  expect(problems).toEqual([])
  const responses = [...files.values()].flat().filter(({ type }) => type === 'response')
  return responses.map((record) => record.field('WARC-Target-URI')!.replace('http://127.0.0.1/', ''))
}

/** Files of the archive that this process has open to write past the page cache. */
function openPastCache(): string[] {
  const found: string[] = []
  for (const fd of readdirSync('/proc/self/fd')) {
    try {
      const flags = Number.parseInt(
        /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1] ?? '0',
        8,
      )
      const path = readlinkSync(`/proc/self/fd/${fd}`)
      if ((flags & constants.O_DIRECT) !== 0 && path.startsWith(directory)) found.push(path)
    } catch {
      // Closed meanwhile: the one that lists them is among them.
    }
  }
  return found
}

const names = async (): Promise<string[]> => (await readdir(join(directory, 'archive'))).toSorted()
const archived = (file: string): string => join(directory, 'archive', file)

test.skipIf(!existsSync('/proc/self/fdinfo'))('writes past the page cache, unless it is told not to', async () => {
  const byOption: string[][] = []
  for (const pastCache of [true, false]) {
    const writer = await openWriter({ pastCache, warc: 'none' })
    await write(writer, 'a', Buffer.alloc(2_000_000, 'a'))
    byOption.push(openPastCache())
    await writer.close()
    expect(openPastCache()).toEqual([])
  }
  expect(byOption).toEqual([[expect.stringMatching(/\.warc\.open$/)], []])
  expect(targets()).toEqual(['a', 'a'])
})

describe.each(COMPRESSIONS)('with --warc %s', (warc) => {
  archiveConformance(async () => {
    const archive = await openWriter({ warc, bytesMax: 4_000 })
    const read = async ({ file, offset, length }: WarcLocation): Promise<Buffer> => {
      const handle = await open(join(directory, file))
      const bytes = Buffer.alloc(length)
      await handle.read(bytes, 0, length, offset)
      await handle.close()
      if (warc === 'none') return bytes
      return warc === 'zstd' ? zstdFrames(bytes)[0]!.content : gunzipSync(bytes)
    }
    return { archive, read }
  })

  test('random documents and file sizes make valid files, places and digests', async () => {
    const document = fc.record({
      bytes: fc.oneof(fc.nat(3_000), fc.nat(700_000)),
      status: fc.integer({ min: 100, max: 999 }),
      rawHeaders: fc.array(fc.stringMatching(/^[A-Za-z-]{1,20}$/), { maxLength: 8 }),
      decoding: fc.constantFrom('none' as const, 'decoded' as const),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(document, { maxLength: 12 }),
        fc.integer({ min: 1, max: 100_000 }),
        async (documents, bytesMax) => {
          await rm(directory, { recursive: true, force: true })
          const writer = await openWriter({ warc, bytesMax })
          const lines: string[] = []
          await Promise.all(
            documents.map(async ({ bytes, ...facts }, i) => {
              const one = plainDocument(`http://127.0.0.1/${i}`, Buffer.alloc(bytes, `text ${i}`), facts)
              lines.push(`${JSON.stringify({ url: one.url, warc: await writer.write(one, factsOf(one)) })}\n`)
            }),
          )
          await writer.close()
          await writeFile(join(directory, 'pages.jsonl'), lines.join(''))
          // Offered at once, and still in the order they were offered, however large and however long in the making.
          expect(targets()).toEqual(documents.map((_, i) => String(i)))
        },
      ),
      { numRuns: 25 },
    )
  })

  test.skipIf(warc === 'zstd')('warcio reads every record back, decoded and whole', async () => {
    const bodies = [Buffer.from('<p>small'), Buffer.alloc(700_000, 'large '), Buffer.alloc(0), randomBytes(900_000)]
    const writer = await openWriter({ warc })
    for (const [i, body] of bodies.entries()) {
      // The last two came gzipped, one of them too large to be held.
      const isCoded = i > 1
      const rawHeaders = ['Content-Type', 'text/html', 'Transfer-Encoding', 'chunked']
      if (isCoded) rawHeaders.push('Content-Encoding', 'gzip')
      const document = plainDocument(`http://127.0.0.1/${i}`, isCoded ? gzipSync(body) : body, {
        rawHeaders,
        decoding: isCoded ? 'decoded' : 'none',
      })
      await writer.write(document, factsOf(document))
    }
    await writer.close()
    if (warc !== 'none') expect(spawnSync('gzip', ['-t', archived((await names())[0]!)])).toMatchObject({ status: 0 })
    const found: [string, string | null | undefined, number][] = []
    for await (const record of new WARCParser(createReadStream(archived((await names())[0]!)))) {
      const content = await record.readFully(true)
      found.push([record.warcType, record.warcTargetURI, content.length])
    }
    expect(found.filter(([type]) => type === 'response')).toEqual(
      bodies.map((body, i) => ['response', `http://127.0.0.1/${i}`, body.length]),
    )
    expect(found.map(([type]) => type)).toEqual([
      'warcinfo',
      ...bodies.flatMap(() => ['response', 'request', 'metadata']),
    ])
  })

  test('after a crash at any committed state exactly the committed documents are there, and writing goes on', async () => {
    const step = fc.record({
      bytes: fc.oneof({ weight: 4, arbitrary: fc.nat(2_000) }, { weight: 1, arbitrary: fc.nat(600_000) }),
      commits: fc.boolean(),
      confirms: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 10 }),
        fc.integer({ min: 1_000, max: 20_000 }),
        fc.nat(500),
        async (steps, bytesMax, rubbishBytes) => {
          await rm(directory, { recursive: true, force: true })
          const first = await openWriter({ warc, bytesMax })
          let state: ArchiveState = first.state()
          let committed = 0
          for (const [i, { bytes, commits, confirms }] of steps.entries()) {
            await write(first, String(i), Buffer.alloc(bytes, 'abc '))
            if (!commits) continue
            state = structuredClone(first.state())
            await first.sync()
            committed = i + 1
            if (confirms) await first.committed(state)
          }
          // What the dead process had in its buffers may have reached the disk, in whole or in part.
          await first.sync()
          const last = (await names()).findLast((name) => name.endsWith('.open'))
          if (last !== undefined) await appendFile(archived(last), Buffer.alloc(rubbishBytes, 'x'))

          const second = await openWriter({ warc, bytesMax, resumeFrom: state })
          await write(second, 'after')
          await second.close()
          expect(targets()).toEqual([...steps.slice(0, committed).map((_, i) => String(i)), 'after'])
          // The first writer's handle is left as it is; letting go of it must not disturb what stands.
          await first.close().catch(() => undefined)
        },
      ),
      { numRuns: 20 },
    )
  })
})

describe.each(COMPRESSIONS)('many documents at once, with --warc %s', (warc) => {
  test('a state holds exactly those whose place was told before it, and a crash leaves them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 5, arbitrary: fc.nat(20_000) }, { weight: 1, arbitrary: fc.nat(700_000) }), {
          minLength: 1,
          maxLength: 30,
        }),
        fc.nat(29),
        fc.integer({ min: 1_000, max: 200_000 }),
        async (sizes, crashAfter, bytesMax) => {
          await rm(directory, { recursive: true, force: true })
          const first = await openWriter({ warc, bytesMax })
          const placed: string[] = []
          let state = first.state()
          let committed: string[] = []
          const written = sizes.map(async (bytes, i) => {
            const document = documentOf(String(i), Buffer.alloc(bytes, `text ${i} `))
            await first.write(document, factsOf(document), () => {
              placed.push(String(i))
              // Others are being compressed in this moment, and some are done.
              if (i !== crashAfter % sizes.length) return
              state = structuredClone(first.state())
              committed = [...placed]
            })
          })
          await Promise.all(written)
          await first.sync()
          const second = await openWriter({ warc, bytesMax, resumeFrom: state })
          await write(second, 'after')
          await second.close()
          expect(targets()).toEqual([...committed, 'after'])
          await first.close().catch(() => undefined)
        },
      ),
      { numRuns: 15 },
    )
  })

  test('are all there when the archive is closed before they are placed', async () => {
    const writer = await openWriter({ warc })
    const writes = Array.from({ length: 40 }, (_, i) => write(writer, String(i), Buffer.alloc(i * 20_000, 'text ')))
    await writer.close()
    expect(targets()).toEqual(writes.map((_, i) => String(i)))
    await Promise.all(writes)
  })
})

class UnreadableBody extends PlainBody {
  override bytes(): Uint8Array {
    throw Object.assign(new Error('EIO'), { code: 'EIO' })
  }

  override chunks(): Generator<Uint8Array> {
    throw Object.assign(new Error('EIO'), { code: 'EIO' })
  }
}

class WatchedBody extends PlainBody {
  /** Of bodies that were read and are not placed yet. */
  static bytesHeld = 0
  static bytesHeldMax = 0
  override chunks(): Generator<Uint8Array> {
    WatchedBody.bytesHeld += this.length
    WatchedBody.bytesHeldMax = Math.max(WatchedBody.bytesHeldMax, WatchedBody.bytesHeld)
    return super.chunks()
  }
}

test('whoever offers more than the disk takes waits: the bytes in hand are bounded', async () => {
  // Every document begins a file of its own, which takes longer than compressing it.
  const writer = await openWriter({ warc: 'zlib', bytesMax: 1, blockDigest: false })
  const bytes = 100_000
  await Promise.all(
    Array.from({ length: 80 }, async (_, i) => {
      const document = { ...documentOf(String(i), ''), wire: new WatchedBody(Buffer.alloc(bytes, 'text ')) }
      await writer.write(document, factsOf(document), () => (WatchedBody.bytesHeld -= bytes))
    }),
  )
  await writer.close()
  expect(WatchedBody.bytesHeldMax).toBeGreaterThan(bytes)
  expect(WatchedBody.bytesHeldMax).toBeLessThanOrEqual(2 * 2 ** 20)
  expect(targets()).toHaveLength(80)
})

test.each(['none', 'gzip'] as const)('with --warc %s a place is known at once', async (warc) => {
  const writer = await openWriter({ warc })
  await write(writer, 'opens the file')
  const document = documentOf('b', 'b')
  expect(writer.write(document, factsOf(document))).toMatchObject({ offset: expect.any(Number) as number })
  await writer.close()
})

test('one body that cannot be read fails all that are on their way', async () => {
  const writer = await openWriter({ warc: 'zlib' })
  await write(writer, 'a')
  const before = write(writer, 'before', Buffer.alloc(300_000, 'text '))
  const broken = { ...documentOf('broken', ''), wire: new UnreadableBody(Buffer.alloc(10)) }
  const facts = { payloadDigest: 'sha256:0', revisitOf: null, via: null, depth: 0 }
  const results = await Promise.allSettled([before, writer.write(broken, facts), write(writer, 'after')])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  await writer.close()
  expect(targets(true)).toEqual(['a'])
})

describe('files', () => {
  test('bear .open until they are finished, and records name the final file', async () => {
    const writer = await openWriter()
    const place = await write(writer, 'a')
    expect(place.file).toBe('archive/portolan-test-20260101000000-0-00000.warc.gz')
    expect(await names()).toEqual(['portolan-test-20260101000000-0-00000.warc.gz.open'])
    await writer.close()
    expect(await names()).toEqual(['portolan-test-20260101000000-0-00000.warc.gz'])
    expect(targets()).toEqual(['a'])
  })

  test('are begun anew once they have reached their size, each with a warcinfo of its own', async () => {
    const writer = await openWriter({ warc: 'none', bytesMax: 1_000 })
    for (let i = 0; i < 3; i++) await write(writer, String(i))
    expect(writer.state()).toMatchObject({ serial: 3, full: [{}, {}] })
    await writer.close()
    expect((await names()).map((name) => name.slice(-10))).toEqual(['00000.warc', '00001.warc', '00002.warc'])
    expect(targets()).toEqual(['0', '1', '2'])
  })

  test('that are full keep .open until a state that holds them whole is committed', async () => {
    const writer = await openWriter({ bytesMax: 1 })
    await write(writer, 'a')
    const before = writer.state()
    await write(writer, 'b')
    await writer.committed(before)
    expect((await names()).every((name) => name.endsWith('.open'))).toBe(true)
    await writer.committed(writer.state())
    expect((await names()).map((name) => name.endsWith('.open'))).toEqual([false, true])
    expect(writer.state().full).toEqual([])
    await writer.close()
  })

  test('that are let go of before all of them is committed keep .open, and are cut back to what was', async () => {
    const writer = await openWriter()
    await write(writer, 'a')
    const state = writer.state()
    await writer.sync()
    await writer.committed(state)
    await write(writer, 'b')
    await writer.abandon()
    expect(await names()).toEqual([expect.stringMatching(/\.open$/)])
    const second = await openWriter({ resumeFrom: state })
    await second.close()
    expect(targets()).toEqual(['a'])
  })

  test('are not made where nothing is written', async () => {
    await (await openWriter()).close()
    expect(await names()).toEqual([])
  })

  test('of a crawl whose name no file could bear are named all the same', async () => {
    const writer = await openWriter({ crawlName: '../Über all/x' })
    await write(writer, 'a')
    await writer.close()
    expect(await names()).toEqual(['portolan-.._ber_all_x-20260101000000-0-00000.warc.gz'])
  })

  test('of earlier runs without a state stay, and new ones are numbered behind them', async () => {
    for (const path of ['a', 'b']) {
      const writer = await openWriter()
      await write(writer, path)
      await writer.close()
    }
    expect((await names()).map((name) => name.slice(-13, -8))).toEqual(['00000', '00001'])
    expect(targets()).toEqual(['a', 'b'])
  })
})

describe('a state', () => {
  test('never speaks of half a document, while a large one is being written', async () => {
    const writer = await openWriter()
    await write(writer, 'a')
    const whole = writer.state()
    const writing = write(writer, 'large', Buffer.alloc(5_000_000, randomUUID()))
    const seen: ArchiveState[] = []
    for (let i = 0; i < 20; i++) {
      seen.push(writer.state())
      await writer.sync()
    }
    const after = await writing.then(() => writer.state())
    for (const state of seen) expect([whole, after]).toContainEqual(state)
    await writer.close()
    expect(targets()).toEqual(['a', 'large'])
  })

  test('in which nothing was committed removes what was written, of this agent and crawl only', async () => {
    const mine = await openWriter()
    await write(mine, 'mine')
    const other = await openWriter({ agent: 1 })
    await write(other, 'other-agent')
    await other.close()
    const resumed = await openWriter({ resumeFrom: { serial: 0, open: null, full: [] } })
    await resumed.close()
    expect(targets()).toEqual(['other%20agent'].map(() => 'other-agent'))
    await mine.close().catch(() => undefined)
  })

  test('of a run that ended well leaves its finished file alone', async () => {
    const first = await openWriter()
    await write(first, 'a')
    const state = first.state()
    await first.close()
    const [finished] = await names()
    const second = await openWriter({ resumeFrom: state })
    expect(await names()).toEqual([finished])
    await write(second, 'b')
    expect((await names()).filter((name) => !name.endsWith('.open'))).toEqual([finished])
    await second.close()
    expect(targets()).toEqual(['a', 'b'])
  })

  test('takes back a file that was finished with more than was committed', async () => {
    const first = await openWriter()
    await write(first, 'a')
    const state = first.state()
    await write(first, 'b')
    await first.close()
    const second = await openWriter({ resumeFrom: state })
    await second.close()
    expect(targets()).toEqual(['a'])
  })

  test('with another compression finishes the old file and begins a new one', async () => {
    const first = await openWriter({ warc: 'gzip' })
    await write(first, 'a')
    const state = first.state()
    await first.sync()
    const second = await openWriter({ warc: 'none', resumeFrom: state })
    await write(second, 'b')
    await second.close()
    expect((await names()).map((name) => name.replace(/.*\.warc/, '.warc'))).toEqual(['.warc.gz', '.warc'])
    expect(targets()).toEqual(['a', 'b'])
    await first.close().catch(() => undefined)
  })

  test('whose file is missing or too short is refused', async () => {
    const first = await openWriter()
    await write(first, 'a')
    const state = first.state()
    await first.close()
    const [name] = await names()
    await rename(archived(name!), archived('elsewhere'))
    await expect(openWriter({ resumeFrom: state })).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
    await writeFile(archived(name!), (await readFile(archived('elsewhere'))).subarray(0, -1))
    await expect(openWriter({ resumeFrom: state })).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
  })
})

test('a body that cannot be read fails the archive for good, and the next run starts from the last state', async () => {
  const writer = await openWriter()
  await write(writer, 'a')
  const state = writer.state()
  await writer.sync()
  for (const bytes of [10, 1_000_000]) {
    const wire = new UnreadableBody(Buffer.alloc(bytes))
    const document = { ...documentOf('broken', ''), wire }
    const facts = { payloadDigest: 'sha256:0', revisitOf: null, via: null, depth: 0 }
    await expect(writer.write(document, facts)).rejects.toMatchObject({ code: 'DISK_FAILED' })
  }
  await expect(write(writer, 'b')).rejects.toMatchObject({ code: 'DISK_FAILED' })
  await expect(writer.sync()).rejects.toMatchObject({ code: 'DISK_FAILED' })
  await writer.close()
  const next = await openWriter({ resumeFrom: state })
  await write(next, 'c')
  await next.close()
  expect(targets()).toEqual(['a', 'c'])
})

test('an archive folder that cannot be made is a fault', async () => {
  await writeFile(join(directory, 'archive'), 'a file where the folder should be')
  await expect(openWriter()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})

// Root may write everywhere, so there the disk cannot be made to refuse.
test.skipIf(process.getuid?.() === 0)('a read-only directory is named as such', async () => {
  await chmod(directory, 0o555)
  await expect(openWriter()).rejects.toMatchObject({ code: 'DISK_READ_ONLY' })
  await chmod(directory, 0o755)
})

test('a warcinfo larger than what is written in one go is written all the same', async () => {
  const writer = await openWriter({ info: { description: 'long '.repeat(60_000) } })
  await write(writer, 'a')
  await writer.close()
  expect(targets()).toEqual(['a'])
})
