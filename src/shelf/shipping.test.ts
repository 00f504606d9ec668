import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Fault, ManualClock, Random } from '../base/index.ts'
import { loadShipped } from '../store/index.ts'
import type { Putting, Shelf } from './shelf.ts'
import { Shipping, type ShippingEvent, type ShippingPlan } from './shipping.ts'

/** The plain twin: a map; refuses while it is told to. */
class MemoryShelf implements Shelf {
  readonly where = 'memory:///crawl/'
  readonly files = new Map<string, Buffer>()
  trouble: Fault | null = null
  puts = 0
  atOnce = 0
  atOnceMost = 0
  hold: Promise<void> | null = null

  async put(name: string, path: string, { signal, onBytes }: Putting): Promise<{ bytes: number; sha256: string }> {
    this.puts++
    this.atOnceMost = Math.max(this.atOnceMost, ++this.atOnce)
    try {
      await this.hold
      signal.throwIfAborted()
      if (this.trouble !== null) throw this.trouble
      const body = readFileSync(path)
      this.files.set(name, body)
      onBytes(body.length)
      return { bytes: body.length, sha256: createHash('sha256').update(body).digest('hex') }
    } finally {
      this.atOnce--
    }
  }

  async has(name: string): Promise<boolean> {
    return this.files.has(name)
  }

  close(): void {}
}

interface Stand {
  readonly dir: string
  readonly shelf: MemoryShelf
  readonly clock: ManualClock
  readonly events: ShippingEvent[]
  readonly begin: (more?: Partial<ShippingPlan>) => Promise<Shipping>
}

function stand(): Stand {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-ship-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  mkdirSync(join(dir, 'archive'))
  mkdirSync(join(dir, 'state'))
  const shelf = new MemoryShelf()
  const clock = new ManualClock()
  const events: ShippingEvent[] = []
  const plan = { dir, shelf, keep: true, parallel: 2, clock, random: new Random(1) }
  const begin = (more: Partial<ShippingPlan> = {}): Promise<Shipping> =>
    Shipping.begin({ ...plan, onEvent: (event) => events.push(event), ...more })
  return { dir, shelf, clock, events, begin }
}

const A = 'archive/portolan-x-20260101000000-0-00000.warc.gz'
const B = 'archive/portolan-x-20260101000000-0-00001.warc.gz'
const UNREACHABLE = new Fault('SHELF_UNREACHABLE', 'nobody there')

test('finished files are put and noted, and stay; open ones are left alone', async () => {
  const { dir, shelf, begin } = stand()
  writeFileSync(join(dir, A), 'aaa')
  writeFileSync(join(dir, `${B}.open`), 'bb')
  const shipping = await begin()
  const { shipped, onlyHere, onlyThere, missing } = await shipping.finish([], 1_000)
  expect([...shelf.files.keys()]).toEqual([A])
  expect({ shipped, onlyHere, onlyThere, missing }).toEqual({
    shipped: { files: 1, bytes: 3 },
    onlyHere: { files: 0, bytes: 0 },
    onlyThere: { files: 0, bytes: 0 },
    missing: [],
  })
  expect((await loadShipped(dir)).get(A)).toMatchObject({ bytes: 3, to: shelf.where, sha256: /^[0-9a-f]{64}$/ })
  expect(existsSync(join(dir, A))).toBe(true)
})

test('a file that is finished while the crawl goes on is found', async () => {
  const { dir, shelf, clock, begin } = stand()
  writeFileSync(join(dir, `${A}.open`), 'aaa')
  const shipping = await begin()
  renameSync(join(dir, `${A}.open`), join(dir, A))
  clock.advance(5_000)
  await vi.waitFor(() => expect(shelf.files.size).toBe(1))
  await shipping.stop()
})

test('what was noted is not put again by the next run, and what was not is', async () => {
  const { dir, shelf, begin } = stand()
  writeFileSync(join(dir, A), 'aaa')
  await (await begin()).finish([], 1_000)
  writeFileSync(join(dir, B), 'bb')
  shelf.puts = 0
  await (await begin()).finish([], 1_000)
  expect(shelf.puts).toBe(1)
  expect([...shelf.files.keys()]).toEqual([A, B])
})

test('a line that a crash has torn is cut off, and its file put again', async () => {
  const { dir, shelf, begin } = stand()
  writeFileSync(join(dir, A), 'aaa')
  await (await begin()).finish([], 1_000)
  const ledger = join(dir, 'state/shipped.jsonl')
  writeFileSync(ledger, readFileSync(ledger).subarray(0, -9))
  shelf.puts = 0
  await (await begin()).finish([], 1_000)
  expect(shelf.puts).toBe(1)
  expect((await loadShipped(dir)).size).toBe(1)
})

test('a file that is written again is put again, also where it becomes as long as it was', async () => {
  const { dir, shelf, begin } = stand()
  writeFileSync(join(dir, A), 'aaa')
  await (await begin()).finish([], 1_000)
  renameSync(join(dir, A), join(dir, `${A}.open`))
  const shipping = await begin()
  expect((await loadShipped(dir)).size).toBe(0)
  writeFileSync(join(dir, `${A}.open`), 'AAA')
  renameSync(join(dir, `${A}.open`), join(dir, A))
  await shipping.finish([], 1_000)
  expect(shelf.files.get(A)?.toString()).toBe('AAA')
})

test('files that are not kept are removed once they are noted, not before', async () => {
  const { dir, shelf, clock, begin } = stand()
  writeFileSync(join(dir, A), 'aaa')
  writeFileSync(join(dir, 'pages.jsonl'), '{}\n')
  shelf.trouble = UNREACHABLE
  const shipping = await begin({ keep: false })
  await vi.waitFor(() => expect(shelf.puts).toBe(1))
  expect(existsSync(join(dir, A))).toBe(true)
  shelf.trouble = null
  let isDone = false
  const finished = shipping.finish(['pages.jsonl'], 600_000).finally(() => (isDone = true))
  // The put that failed may note its pause only now.
  await vi.waitFor(() => {
    clock.advance(1_000)
    expect(isDone).toBe(true)
  })
  const figures = await finished
  expect(existsSync(join(dir, A))).toBe(false)
  expect(existsSync(join(dir, 'pages.jsonl'))).toBe(true)
  expect(figures.onlyThere).toEqual({ files: 1, bytes: 3 })
})

test('one that was noted and not removed before a crash is removed by the next run', async () => {
  const { dir, shelf, begin } = stand()
  writeFileSync(join(dir, A), 'aaa')
  await (await begin()).finish([], 1_000)
  shelf.puts = 0
  await (await begin({ keep: false })).finish([], 1_000)
  expect([existsSync(join(dir, A)), shelf.puts]).toEqual([false, 0])
})

test('trouble is told once, tried again later and later, and its end is told', async () => {
  const { dir, shelf, clock, events, begin } = stand()
  writeFileSync(join(dir, A), 'aaa')
  shelf.trouble = UNREACHABLE
  const shipping = await begin()
  const triesAt: number[] = []
  for (let second = 0; second < 120; second++) {
    const before = shelf.puts
    clock.advance(1_000)
    await vi.waitFor(() => expect(shelf.atOnce).toBe(0))
    // Lets a failed try note its pause.
    await new Promise(setImmediate)
    if (shelf.puts > before) triesAt.push(second)
  }
  expect(events).toEqual([{ kind: 'trouble', why: 'nobody there' }])
  expect(triesAt.length).toBeGreaterThan(4)
  expect(triesAt.length).toBeLessThan(12)
  shelf.trouble = null
  clock.advance(300_000)
  await vi.waitFor(() => expect(events.at(-1)?.kind).toBe('recovered'))
  await shipping.stop()
})

test('another trouble is told anew', async () => {
  const { dir, shelf, clock, events, begin } = stand()
  writeFileSync(join(dir, A), 'aaa')
  shelf.trouble = UNREACHABLE
  const shipping = await begin()
  await vi.waitFor(() => expect(events).toHaveLength(1))
  shelf.trouble = new Fault('SHELF_REFUSED', 'keys are wrong')
  await vi.waitFor(() => {
    clock.advance(10_000)
    expect(events).toHaveLength(2)
  })
  await shipping.stop()
})

test('at the end a shelf that takes nothing is given up after a while, and what is left is told', async () => {
  const { dir, shelf, clock, begin } = stand()
  writeFileSync(join(dir, A), 'aaa')
  writeFileSync(join(dir, 'pages.jsonl'), '{}\n')
  shelf.trouble = UNREACHABLE
  const shipping = await begin()
  let isDone = false
  const finished = shipping.finish(['pages.jsonl', 'archive/index.cdxj'], 60_000).then((figures) => {
    isDone = true
    return figures
  })
  await vi.waitFor(() => {
    clock.advance(20_000)
    expect(isDone).toBe(true)
  })
  expect(await finished).toMatchObject({
    onlyHere: { files: 1, bytes: 3 },
    missing: ['pages.jsonl'],
    trouble: 'nobody there',
  })
})

test('the last files are put as they are at the end of each run', async () => {
  const { dir, shelf, begin } = stand()
  writeFileSync(join(dir, 'pages.jsonl'), 'one\n')
  expect((await (await begin()).finish(['pages.jsonl'], 1_000)).missing).toEqual([])
  writeFileSync(join(dir, 'pages.jsonl'), 'two\n')
  await (await begin()).finish(['pages.jsonl'], 1_000)
  expect(shelf.files.get('pages.jsonl')?.toString()).toBe('two\n')
})

test('nodes of a cluster name their last files apart', async () => {
  const { dir, shelf, begin } = stand()
  writeFileSync(join(dir, A), 'aaa')
  writeFileSync(join(dir, 'pages.jsonl'), 'one\n')
  const shipping = await begin({ lastName: (file) => file.replace('.', '-n1.') })
  expect((await shipping.finish(['pages.jsonl'], 1_000)).missing).toEqual([])
  expect([...shelf.files.keys()]).toEqual([A, 'pages-n1.jsonl'])
})

test('no more files are on their way at once than was said', async () => {
  const { dir, shelf, begin } = stand()
  for (let serial = 0; serial < 10; serial++) writeFileSync(join(dir, A.replace('00000.', `0000${serial}.`)), 'x')
  let go = (): void => {}
  shelf.hold = new Promise((resolve) => {
    go = resolve
  })
  const shipping = await begin()
  const finished = shipping.finish([], 1_000)
  go()
  await finished
  expect([shelf.atOnceMost, shelf.files.size]).toEqual([2, 10])
})

test('stopping cuts off what is under way; nothing is noted of it', async () => {
  const { dir, shelf, begin } = stand()
  writeFileSync(join(dir, A), 'aaa')
  let go = (): void => {}
  shelf.hold = new Promise((resolve) => {
    go = resolve
  })
  const shipping = await begin()
  const stopped = shipping.stop()
  go()
  await stopped
  expect((await loadShipped(dir)).size).toBe(0)
})
