// The law of every set of contents on one that holds some ten pages in memory, so that nearly all is on disk; then what
// only this one promises: durable states, files that go and stay, keys shared by two contents, and damage that is seen.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { AppendFile, LineReader } from '../disk/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import {
  contentSeenConformance,
  digestOf,
  isWaiting,
  keysOf,
  keysOfDigests,
  originalOf,
  Records,
} from './content-seen.conformance.ts'
import type { FoundOriginal, Original } from './content-seen.ts'
import { DiskContentSeen } from './disk-content-seen.ts'
import { PositionRunWriter } from './position-run-writer.ts'
import type { ContentState } from './run-shelf.ts'

/** Generations of some 25 pages. */
const SMALL = 8 * 1024

const parent = mkdtempSync(join(tmpdir(), 'portolan-contents-'))
let made = 0
let open: DiskContentSeen[] = []

afterEach(async () => {
  for (const seen of open) await seen.close()
  open = []
})
afterAll(() => rmSync(parent, { recursive: true }))

const newDirectory = (): string => join(parent, String(++made))

type Reader = (position: number) => FoundOriginal | Promise<FoundOriginal>

async function openSeen(
  readOriginal: Reader,
  { directory = newDirectory(), state = null as ContentState | null, memoryBytes = SMALL } = {},
): Promise<DiskContentSeen> {
  const seen = await DiskContentSeen.open({ directory, memoryBytes, state, readOriginal })
  open.push(seen)
  return seen
}

/** Keeps pages from..to of one endless list. */
function keep(seen: DiskContentSeen, records: Records, from: number, to: number): void {
  for (let i = from; i < to; i++) records.keep(seen, digestOf(`c${i}`), originalOf(i))
}

/** Asks, and waits in every case. */
async function ask(seen: DiskContentSeen, digest: Uint8Array): Promise<Original | null> {
  return seen.claim(digest)
}

/** How many of the pages from..to are known; those that are not are released. */
async function known(seen: DiskContentSeen, from: number, to: number): Promise<number> {
  let count = 0
  for (let i = from; i < to; i++) {
    const original = await seen.claim(digestOf(`c${i}`))
    if (original === null) seen.release(digestOf(`c${i}`))
    else {
      expect(original).toEqual(originalOf(i))
      count++
    }
  }
  return count
}

/** Another content whose digest begins with the same bits. */
function namesakeOf(digest: Uint8Array, number: number): Buffer {
  const namesake = digestOf(`namesake ${number}`)
  namesake.set(digest.subarray(0, 8))
  return namesake
}

const filesIn = (directory: string): string[] => readdirSync(directory).sort()
const namesOf = (state: ContentState): string[] => state.runs.map((run) => `content-${run.number}.run`).sort()

contentSeenConformance('DiskContentSeen, nearly all on disk', ({ readOriginal }) => openSeen(readOriginal))
contentSeenConformance('DiskContentSeen, all in memory', ({ readOriginal }) =>
  openSeen(readOriginal, { memoryBytes: 2 ** 23 }),
)

test('what is in memory, and what no run can hold, is answered at once', async () => {
  const records = new Records()
  const seen = await openSeen(records.readOriginal)
  keep(seen, records, 0, 500)
  await seen.flush()
  expect(seen.claim(digestOf('c499'))).toEqual(originalOf(499))
  let waited = 0
  for (let i = 1_000; i < 2_000; i++) if (seen.claim(digestOf(`c${i}`)) !== null) waited++
  expect(waited).toBe(0)
  expect(seen.claim(digestOf('c0'))).toBeInstanceOf(Promise)
  expect(records.read).toEqual([0])
})

test('an original on disk costs the reading of one record', async () => {
  const records = new Records()
  const seen = await openSeen(records.readOriginal)
  keep(seen, records, 0, 2_000)
  await seen.flush()
  expect(await known(seen, 0, 1_000)).toBe(1_000)
  expect(records.read).toHaveLength(1_000)
})

test('an original that many pages share is read some times a generation, not for each of them', async () => {
  const records = new Records()
  const seen = await openSeen(records.readOriginal)
  const generation = 25
  keep(seen, records, 0, 500)
  for (let i = 500; i < 1_500; i++) {
    keep(seen, records, i, i + 1)
    expect(await seen.claim(digestOf('c0'))).toEqual(originalOf(0))
  }
  expect(records.read.length).toBeLessThan(1_000 / generation)
  expect(seen.size).toBe(1_500)
})

test('a page too long to stand beside what was read back takes its place, and no empty run is written', async () => {
  const records = new Records()
  const seen = await openSeen(records.readOriginal)
  keep(seen, records, 0, 500)
  await seen.compact()
  for (let i = 0; i < 5; i++) await seen.claim(digestOf(`c${i}`))
  const long = { ...originalOf('long'), url: `http://h/${'x'.repeat(SMALL)}` as CanonicalUrl }
  records.keep(seen, digestOf('long'), long)
  expect(await seen.claim(digestOf('long'))).toEqual(long)
  expect(seen.state().runs).toMatchObject([{ pages: 500 }])
  await seen.flush()
  expect(seen.state().runs).toMatchObject([{ pages: 500 }, { pages: 1 }])
})

test('who asks while a record is being read waits for the same answer', async () => {
  const records = new Records()
  let answer: (found: FoundOriginal) => void = () => undefined
  let asked = 0
  const reader = (): Promise<FoundOriginal> => {
    asked++
    return new Promise((resolve) => (answer = resolve))
  }
  const seen = await openSeen(reader)
  keep(seen, records, 0, 500)
  const buffer = digestOf('c0')
  const claims = [0, 1, 2].map(() => ask(seen, buffer))
  // The caller may use its buffer again, also while it waits.
  buffer.fill(7)
  expect(await isWaiting(claims[0])).toBe(true)
  answer(await records.readOriginal(0))
  expect(await Promise.all(claims)).toEqual([originalOf(0), originalOf(0), originalOf(0)])
  expect(asked).toBe(1)
})

test('a content whose digest begins like that of another is new, and those who ask for it are served in order', async () => {
  const records = new Records()
  const seen = await openSeen(records.readOriginal)
  keep(seen, records, 0, 500)
  const namesake = namesakeOf(digestOf('c0'), 1)
  const [first, second, third] = [seen.claim(namesake), seen.claim(namesake), seen.claim(namesake)]
  expect(await first).toBeNull()
  expect(await isWaiting(second)).toBe(true)
  seen.release(namesake)
  expect(await second).toBeNull()
  expect(await isWaiting(third)).toBe(true)
  records.keep(seen, namesake, originalOf('namesake'))
  expect(await third).toEqual(originalOf('namesake'))
  keep(seen, records, 500, 1_000)
  await seen.compact()
  expect(await seen.claim(namesake)).toEqual(originalOf('namesake'))
  expect(await seen.claim(digestOf('c0'))).toEqual(originalOf(0))
  expect(seen.size).toBe(1_001)
})

test('contents whose digests all begin alike are told apart, however many there are', async () => {
  const records = new Records()
  const seen = await openSeen(records.readOriginal)
  const COUNT = 300
  for (let i = 0; i < COUNT; i++) records.keep(seen, namesakeOf(digestOf('x'), i), originalOf(i))
  await seen.compact()
  for (let i = 0; i < COUNT; i += 17) expect(await seen.claim(namesakeOf(digestOf('x'), i))).toEqual(originalOf(i))
  expect(seen.size).toBe(COUNT)
})

test('a record that cannot be read fails everybody who waits for it, and nobody else', async () => {
  const records = new Records()
  let isBroken = true
  const reader = async (position: number): Promise<FoundOriginal> => {
    if (isBroken) throw new Error('no such record')
    return records.readOriginal(position)
  }
  const seen = await openSeen(reader)
  keep(seen, records, 0, 500)
  const [first, second] = [ask(seen, digestOf('c0')), ask(seen, digestOf('c0'))]
  await Promise.all([first, second].map((claim) => expect(claim).rejects.toThrow('no such record')))
  isBroken = false
  expect(await known(seen, 0, 600)).toBe(500)
})

test('an original is read back although its record has not left the memory of its file', async () => {
  const path = join(parent, 'pages.jsonl')
  const pages = await AppendFile.open(path)
  const lines = await LineReader.open(path)
  onTestFinished(async () => {
    await lines.close()
    await pages.close()
  })
  const seen = await openSeen(async (position) => {
    await pages.flush()
    return JSON.parse(await lines.readAt(position)) as FoundOriginal
  })
  for (let i = 0; i < 500; i++) {
    const digest = digestOf(`c${i}`)
    const record: FoundOriginal = { digest: `sha256:${digest.toString('hex')}`, original: originalOf(i) }
    seen.keep(digest, record.original, pages.append(`${JSON.stringify(record)}\n`))
  }
  expect(statSync(path).size).toBe(0)
  expect(await known(seen, 0, 600)).toBe(500)
  expect(statSync(path).size).toBe(pages.length)
})

test('positions beyond 4 GiB come back as they were', async () => {
  const records = new Records(5 * 2 ** 32 + 123)
  const seen = await openSeen(records.readOriginal)
  keep(seen, records, 0, 500)
  await seen.compact()
  expect(await known(seen, 0, 500)).toBe(500)
  expect(Math.min(...records.read)).toBe(5 * 2 ** 32 + 123)
})

test.for([-1, 0.5, Number.NaN, 2 ** 48, undefined])('a position %s is refused', async (position) => {
  const seen = await openSeen(new Records().readOriginal)
  expect(() => seen.keep(digestOf('x'), originalOf('x'), position as number)).toThrow(/position/)
})

test('memory stays what it was set to, however many pages there are', async () => {
  for (const memoryBytes of [64 * 1024, 256 * 1024]) {
    const records = new Records()
    const seen = await openSeen(records.readOriginal, { memoryBytes })
    let most = 0
    for (let i = 0; i < 40_000; i++) {
      records.keep(seen, digestOf(`c${i}`), originalOf(i))
      if (i % 16 === 0) await new Promise(setImmediate)
      most = Math.max(most, seen.memoryBytes)
    }
    expect(most).toBeLessThanOrEqual(memoryBytes + 8 * 1024)
    expect(most).toBeGreaterThan(memoryBytes / 3)
  }
})

test('there are few runs however many pages were kept, in less than 16 bytes a page', async () => {
  const records = new Records()
  const seen = await openSeen(records.readOriginal, { memoryBytes: 64 * 1024 })
  let most = 0
  for (let i = 0; i < 20_000; i++) {
    records.keep(seen, digestOf(`c${i}`), originalOf(i))
    most = Math.max(most, seen.state().runs.length)
  }
  expect(most).toBeLessThanOrEqual(8)
  expect(seen.size).toBe(20_000)
  await seen.compact()
  expect(seen.state().runs).toHaveLength(1)
  expect(seen.diskBytes / seen.size).toBeLessThan(16)
})

test('a set opened from a committed state knows what the state holds, and says from where to keep again', async () => {
  const directory = newDirectory()
  const records = new Records()
  const seen = await openSeen(records.readOriginal, { directory })
  seen.mark(1)
  keep(seen, records, 0, 300)
  seen.mark(2)
  await seen.flush()
  const state = JSON.parse(JSON.stringify(seen.state())) as ContentState
  seen.committed(state)
  seen.mark(3)
  keep(seen, records, 300, 310)
  expect(seen.state()).toEqual(state)
  await seen.close()
  const again = await openSeen(records.readOriginal, { directory, state })
  expect(state.replayFrom).toBe(2)
  expect(again.size).toBe(300)
  expect(await known(again, 0, 310)).toBe(300)
})

test('keeping again what the runs hold already loses nothing, makes nothing twice and reads no record', async () => {
  const directory = newDirectory()
  const records = new Records()
  const seen = await openSeen(records.readOriginal, { directory })
  keep(seen, records, 0, 300)
  await seen.flush()
  const state = seen.state()
  await seen.close()
  const again = await openSeen(records.readOriginal, { directory, state })
  for (let i = 100; i < 300; i++) again.keep(digestOf(`c${i}`), originalOf(i), i * 500)
  expect(records.read).toEqual([])
  keep(again, records, 300, 600)
  expect(again.size).toBe(600)
  await again.compact()
  expect(again.size).toBe(600)
  expect(await known(again, 0, 700)).toBe(600)
})

test('a run is named only when it is synced, and what it holds is known all the while', async () => {
  const records = new Records()
  const seen = await openSeen(records.readOriginal)
  const syncs: (() => void)[] = []
  vi.spyOn(PositionRunWriter.prototype, 'sync').mockImplementation(() => new Promise((resolve) => syncs.push(resolve)))
  onTestFinished(() => void vi.restoreAllMocks())
  keep(seen, records, 0, 10)
  const flushed = seen.flush()
  while (syncs.length === 0) await new Promise(setImmediate)
  expect(seen.state().runs).toEqual([])
  expect(seen.size).toBe(10)
  expect(seen.claim(digestOf('c3'))).toEqual(originalOf(3))
  syncs[0]!()
  await flushed
  expect(seen.state().runs).toMatchObject([{ pages: 10 }])
  expect(seen.size).toBe(10)
})

test('what is kept is shown wherever it is: in memory, on its way to the disk, in runs, in runs made one, and opened again', async () => {
  const directory = newDirectory()
  const records = new Records()
  const seen = await openSeen(records.readOriginal, { directory })
  const upTo = (count: number): string[] => keysOfDigests(Array.from({ length: count }, (_, i) => digestOf(`c${i}`)))
  keep(seen, records, 0, 10)
  expect(keysOf(seen)).toEqual(upTo(10))
  const syncs: (() => void)[] = []
  const sync = vi.spyOn(PositionRunWriter.prototype, 'sync')
  sync.mockImplementation(() => new Promise((resolve) => syncs.push(resolve)))
  onTestFinished(() => void vi.restoreAllMocks())
  const flushed = seen.flush()
  while (syncs.length === 0) await new Promise(setImmediate)
  keep(seen, records, 10, 15)
  expect(seen.state().runs).toEqual([])
  expect(keysOf(seen)).toEqual(upTo(15))
  syncs[0]!()
  await flushed
  sync.mockRestore()
  expect(seen.state().runs).toMatchObject([{ pages: 10 }])
  expect(keysOf(seen)).toEqual(upTo(15))
  keep(seen, records, 15, 400)
  // Read back: one that stands in memory for a while and is in a run.
  expect(await seen.claim(digestOf('c0'))).toEqual(originalOf(0))
  expect(seen.state().runs.length).toBeGreaterThan(1)
  expect(keysOf(seen)).toEqual(upTo(400))
  await seen.compact()
  expect(seen.state().runs).toMatchObject([{ pages: 400 }])
  keep(seen, records, 400, 410)
  expect(keysOf(seen)).toEqual(upTo(410))
  const state = seen.state()
  await seen.close()
  expect(() => keysOf(seen)).toThrow(expect.objectContaining({ code: 'ASSERTION' }))
  const again = await openSeen(records.readOriginal, { directory, state })
  expect(keysOf(again)).toEqual(upTo(400))
})

test('of contents whose digests begin alike the bits they share are shown', async () => {
  const records = new Records()
  const seen = await openSeen(records.readOriginal)
  const digests = Array.from({ length: 100 }, (_, i) => namesakeOf(digestOf(`x${i % 3}`), i))
  for (const [i, digest] of digests.entries()) records.keep(seen, digest, originalOf(i))
  await seen.compact()
  expect(keysOf(seen)).toEqual(keysOfDigests(digests))
  expect(keysOf(seen)).toHaveLength(3)
})

test('a damaged run is not shown in part: it is a fault that names the file', async () => {
  const directory = newDirectory()
  const records = new Records()
  const seen = await openSeen(records.readOriginal, { directory })
  keep(seen, records, 0, 1_000)
  await seen.compact()
  const [name = ''] = namesOf(seen.state())
  const bytes = readFileSync(join(directory, name))
  // In its last block, in front of the index: all before it is sound.
  bytes[13 * 1024 + 100]! ^= 0x40
  writeFileSync(join(directory, name), bytes)
  const isCorrupt = expect.objectContaining({ code: 'LEDGER_CORRUPT', message: expect.stringContaining(name) })
  for (let round = 0; round < 2; round++) expect(() => keysOf(seen)).toThrow(isCorrupt)
  expect(() => seen.claim(digestOf('c5000'))).toThrow(isCorrupt)
})

test('who asks for something new waits while the disk is a generation behind, so that nobody must who keeps', async () => {
  const records = new Records()
  const seen = await openSeen(records.readOriginal)
  const syncs: (() => void)[] = []
  vi.spyOn(PositionRunWriter.prototype, 'sync').mockImplementation(() => new Promise((resolve) => syncs.push(resolve)))
  const syncNow = vi.spyOn(PositionRunWriter.prototype, 'syncNow')
  onTestFinished(() => void vi.restoreAllMocks())
  let asked = 0
  let answer: Promise<Original | null> | Original | null = null
  for (; answer === null && asked < 1_000; asked++) {
    answer = seen.claim(digestOf(`c${asked}`))
    if (answer === null) records.keep(seen, digestOf(`c${asked}`), originalOf(asked))
  }
  expect(await isWaiting(answer)).toBe(true)
  const second = seen.claim(digestOf(`c${asked - 1}`))
  expect(seen.claim(digestOf('c0'))).toEqual(originalOf(0))
  for (const resolve of syncs) resolve()
  expect(await answer).toBeNull()
  expect(await isWaiting(second)).toBe(true)
  records.keep(seen, digestOf(`c${asked - 1}`), originalOf('late'))
  expect(await second).toEqual(originalOf('late'))
  expect(syncNow).not.toHaveBeenCalled()
})

test('files stay until a committed state does without them', async () => {
  const directory = newDirectory()
  const records = new Records()
  const seen = await openSeen(records.readOriginal, { directory })
  keep(seen, records, 0, 300)
  await seen.flush()
  const before = seen.state()
  seen.committed(before)
  keep(seen, records, 300, 600)
  await seen.compact()
  const after = seen.state()
  expect(filesIn(directory)).toEqual(expect.arrayContaining(namesOf(before)))
  seen.committed(before)
  expect(filesIn(directory)).toEqual(expect.arrayContaining(namesOf(before)))
  seen.committed(after)
  expect(filesIn(directory)).toEqual(namesOf(after))
})

test('opening removes files that no committed state names, and no others', async () => {
  const directory = newDirectory()
  const records = new Records()
  const seen = await openSeen(records.readOriginal, { directory })
  keep(seen, records, 0, 300)
  await seen.compact()
  const state = seen.state()
  seen.committed(state)
  keep(seen, records, 300, 900)
  await seen.close()
  writeFileSync(join(directory, 'notes.txt'), 'not ours')
  expect(filesIn(directory).length).toBeGreaterThan(2)
  const again = await openSeen(records.readOriginal, { directory, state })
  expect(filesIn(directory)).toEqual([...namesOf(state), 'notes.txt'].sort())
  expect(await known(again, 0, 900)).toBe(300)
})

test('a set that is opened with less memory than it was made with has smaller filters and knows the same', async () => {
  const directory = newDirectory()
  const records = new Records()
  const seen = await openSeen(records.readOriginal, { directory, memoryBytes: 2 ** 20 })
  keep(seen, records, 0, 5_000)
  await seen.compact()
  const state = seen.state()
  expect(state.runs.map((run) => run.filterBytes)).toEqual([64])
  await seen.close()
  for (const memoryBytes of [32 * 1024, 16 * 1024, 4 * 1024, 2 ** 20]) {
    const again = await openSeen(records.readOriginal, { directory, memoryBytes, state })
    expect(again.memoryBytes).toBeLessThanOrEqual(memoryBytes + 1024)
    expect(await known(again, 4_900, 5_100)).toBe(100)
    await again.close()
  }
})

test('a damaged run is a fault that names the file, now and ever after', async () => {
  const directory = newDirectory()
  const records = new Records()
  const seen = await openSeen(records.readOriginal, { directory })
  keep(seen, records, 0, 1_000)
  await seen.compact()
  const state = seen.state()
  const [name = ''] = namesOf(state)
  const bytes = readFileSync(join(directory, name))
  for (let at = 100; at < bytes.length; at += 1024) bytes[at]! ^= 0x40
  writeFileSync(join(directory, name), bytes)
  const corrupt = { code: 'LEDGER_CORRUPT', message: expect.stringContaining(name) }
  const isCorrupt = expect.objectContaining(corrupt)
  expect(() => seen.claim(digestOf('c0'))).toThrow(isCorrupt)
  expect(() => seen.claim(digestOf('c5000'))).toThrow(isCorrupt)
  expect(() => seen.keep(digestOf('c5000'), originalOf(5_000), 1)).toThrow(isCorrupt)
  await expect(seen.flush()).rejects.toMatchObject(corrupt)
  await expect(openSeen(records.readOriginal, { directory, state })).rejects.toMatchObject(corrupt)
  expect(filesIn(directory)).toContain(name)
})

test('damage that is met while merging is a fault of keep(), and the claim can still be given back', async () => {
  const directory = newDirectory()
  const records = new Records()
  const seen = await openSeen(records.readOriginal, { directory })
  keep(seen, records, 0, 1_000)
  await seen.compact()
  // Claimed while all is well: from here on no digest is sought, and only a merge reads the damaged blocks.
  for (let i = 1_000; i < 4_000; i++) expect(await seen.claim(digestOf(`c${i}`))).toBeNull()
  const path = join(directory, namesOf(seen.state())[0]!)
  writeFileSync(path, Buffer.alloc(readFileSync(path).length))
  let at = 1_000
  const fill = (): void => {
    for (; at < 4_000; at++) records.keep(seen, digestOf(`c${at}`), originalOf(at))
  }
  expect(fill).toThrow(expect.objectContaining({ code: 'LEDGER_CORRUPT', message: expect.stringContaining(path) }))
  expect(at).toBeGreaterThan(1_000)
  seen.release(digestOf(`c${at}`))
  expect(() => seen.release(digestOf(`c${at}`))).toThrow(/not held/)
})

test('a disk that takes no more is a fault, and what was committed is there when it is opened again', async () => {
  const directory = newDirectory()
  const records = new Records()
  const seen = await openSeen(records.readOriginal, { directory })
  keep(seen, records, 0, 300)
  await seen.flush()
  const state = seen.state()
  seen.committed(state)
  // In the way of the next runs.
  for (let i = 1; i <= 3; i++) writeFileSync(join(directory, `content-${state.runsMade + i}.run`), '')
  expect(() => keep(seen, records, 300, 1_000)).toThrow(expect.objectContaining({ code: 'DISK_FAILED' }))
  expect(() => seen.claim(digestOf('c0'))).toThrow(expect.objectContaining({ code: 'DISK_FAILED' }))
  await seen.close()
  const again = await openSeen(records.readOriginal, { directory, state })
  expect(await known(again, 0, 1_000)).toBe(300)
})

test('a set that was closed says so', async () => {
  const records = new Records()
  const seen = await openSeen(records.readOriginal)
  keep(seen, records, 0, 300)
  await seen.close()
  expect(() => seen.claim(digestOf('x'))).toThrow(expect.objectContaining({ code: 'ASSERTION' }))
})
