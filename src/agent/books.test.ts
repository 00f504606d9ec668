// The books write down what was done, in batches: files before facts, everything of one URL together,
// one commit at a time.

import { expect, test } from 'vitest'
import { ManualClock, NO_FAULTS, type RefusalReason } from '../base/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import { type LedgerBatch, MemoryJournal } from '../ledger/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import { Books, type CommittedFile } from './books.ts'
import { CrawlFigures } from './figures.ts'

const entry = (path: string): FrontierEntry => ({
  url: `http://a.test/${path}` as CanonicalUrl,
  host: 'a.test' as HostKey,
  via: null,
  depth: 1,
  hops: 0,
  band: 4,
  isSeed: false,
  tries: 0,
  pauses: 0,
})

class SlowJournal extends MemoryJournal {
  readonly events: string[]
  /** Set to hold commits back. */
  gate: Promise<void> = Promise.resolve()

  constructor(events: string[]) {
    super({ name: 'test', key: '00', startedAtMs: 0 })
    this.events = events
  }

  override async commit(batch: LedgerBatch): Promise<number> {
    this.events.push('commit begins')
    await this.gate
    const number = await super.commit(batch)
    this.events.push('commit ends')
    return number
  }

  get written(): LedgerBatch[] {
    return this.batches.map(({ batch }) => batch)
  }
}

function harness(options: { failing?: boolean; heldElsewhere?: number; beforeLast?: () => Promise<void> } = {}) {
  const clock = new ManualClock()
  const events: string[] = []
  const ledger = new SlowJournal(events)
  const lines: string[] = []
  const file: { -readonly [key in keyof CommittedFile]: CommittedFile[key] } = {
    state: () => lines.length,
    async sync() {
      if (options.failing === true) throw new Error('no space')
      events.push(`synced ${lines.length}`)
    },
    async committed(state) {
      events.push(`told ${String(state)}`)
    },
  }
  const faults: unknown[] = []
  const told: string[] = []
  const figures = new CrawlFigures()
  const books = new Books({
    clock,
    journal: ledger,
    frontier: {
      pressure: () => undefined,
      figures: () => ({ waiting: 0, hosts: 7, ready: 0, resting: 0, parked: 0, out: 0 }),
      offer: (one) => void told.push(`offered ${one.url}`),
      conclude: (one, isPage) => void told.push(`${isPage ? 'page' : 'no page'} ${one.url}`),
    },
    figures,
    files: new Map([['failures', file]]),
    writePage: () => 0,
    writeHeld: (one) => void told.push(`held ${one.url}`),
    writeSeed: (one) => void told.push(`seed ${one.url}`),
    heldElsewhere: () => options.heldElsewhere ?? 0,
    beforeLast: options.beforeLast ?? (async () => void events.push('parts written')),
    writeFailure: (record) => void lines.push(record.url),
    onDurable: () => {},
    pressureAbroad: () => undefined,
    otherFiles: { archive: 'as it was' },
    spent: () => ({ ms: 1, cpuMs: 2, peakRssBytes: 3 }),
    tickMs: 100,
    onFault: (fault) => void faults.push(fault),
    faults: NO_FAULTS,
  })
  return { clock, events, ledger, lines, books, figures, faults, told, file }
}

const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await Promise.resolve()
}

test('files are synced before the batch that speaks of them, and told after it', async () => {
  const { books, events } = harness()
  books.failed(entry('x'), 'DNS_NO_NAME', 'gone')
  await books.commit()
  expect(events).toEqual(['synced 1', 'commit begins', 'commit ends', 'told 1'])
})

test('nothing is committed before its tick, and everything at it', async () => {
  const { books, clock, ledger } = harness()
  books.skipped(entry('x'), 'robots', 'line 1')
  books.refused('scheme')
  clock.advance(99)
  await settle()
  expect(ledger.written).toEqual([])
  clock.advance(1)
  await settle()
  expect(ledger.written).toMatchObject([
    {
      ended: [entry('x').url],
      totals: { skipped: { robots: 1 }, refused: { scheme: 1 }, hosts: 7, ms: 1, cpuMs: 2, peakRssBytes: 3 },
      files: { failures: 1, archive: 'as it was' },
    },
  ])
})

test('what is written while a batch is being committed goes into the next one, with its own lengths', async () => {
  const { books, ledger } = harness()
  let open = (): void => {}
  ledger.gate = new Promise((resolve) => {
    open = resolve
  })
  books.failed(entry('x'), 'DNS_NO_NAME', '')
  const first = books.commit()
  await settle()
  books.failed(entry('y'), 'DNS_NO_NAME', '')
  const second = books.commit()
  open()
  await Promise.all([first, second])
  expect(ledger.written.map((batch) => [batch.ended.length, batch.files['failures']])).toEqual([
    [1, 1],
    [1, 2],
  ])
})

test('a page and its links stand in one batch, and are counted once', async () => {
  const { books, ledger, figures, told } = harness()
  const refused: RefusalReason[] = ['scheme', 'scheme']
  books.settle({
    entry: entry('p'),
    verdict: { url: entry('p').url, kind: 'page', status: 200, bytes: 10, wireBytes: 5 },
    page: null,
    failure: null,
    admitted: [entry('1'), entry('2')],
    abroad: [],
    held: [entry('3')],
    refused,
  })
  expect(told).toEqual([
    `page ${entry('p').url}`,
    `offered ${entry('1').url}`,
    `offered ${entry('2').url}`,
    `held ${entry('3').url}`,
  ])
  await books.commit()
  expect(ledger.written).toHaveLength(1)
  expect(ledger.written[0]).toMatchObject({ pages: [entry('p').url], totals: { refused: { scheme: 2 } } })
  expect(ledger.written[0]?.admitted.map((one) => one.url)).toEqual([entry('1').url, entry('2').url])
  expect(figures).toMatchObject({ pages: 1, bytes: 10, wireBytes: 5 })
})

test('what others wait for is committed before its tick, in a turn of its own; the next one only after a moment', async () => {
  const { books, clock, ledger } = harness()
  const passes = async (ms: number): Promise<number> => {
    clock.advance(ms)
    await settle()
    return ledger.written.length
  }
  // Nothing was done.
  books.hurry()
  expect(await passes(1_000)).toBe(0)
  books.refused('scheme')
  books.hurry()
  await settle()
  expect(ledger.written).toEqual([])
  expect(await passes(0)).toBe(1)
  books.refused('scheme')
  books.hurry()
  books.hurry()
  expect(await passes(9)).toBe(1)
  expect(await passes(1)).toBe(2)
  expect(await passes(1_000)).toBe(2)
})

test('where a commit takes long the next one in a hurry leaves the disk alone for as long', async () => {
  const { books, clock, ledger, file } = harness()
  file.sync = async () => {
    await Promise.resolve()
    clock.advance(200)
  }
  books.refused('scheme')
  books.hurry()
  clock.advance(0)
  await settle()
  expect(ledger.written).toHaveLength(1)
  books.refused('scheme')
  books.hurry()
  clock.advance(199)
  await settle()
  expect(ledger.written).toHaveLength(1)
  clock.advance(1)
  await settle()
  expect(ledger.written).toHaveLength(2)
})

test('a full batch is committed before its tick, in the next turn of the loop: not in the middle of whoever fills it', async () => {
  const { books, file, ledger } = harness()
  let asked = 0
  file.state = () => ++asked
  const fill = (from: number, to: number): void => {
    for (let i = from; i < to; i++) books.failed(entry(String(i)), 'DNS_NO_NAME', '')
  }
  fill(0, 5_001)
  const room = books.pressure()
  await settle()
  fill(5_001, 5_003)
  expect(asked).toBe(0)
  await room
  expect(asked).toBe(1)
  expect(ledger.written.map((batch) => batch.ended.length)).toEqual([5_003])
})

test('a commit that fails is reported as a fault and never taken for done', async () => {
  const { books, clock, faults, ledger } = harness({ failing: true })
  books.refused('scheme')
  clock.advance(100)
  await settle()
  expect(faults).toMatchObject([{ message: 'no space' }])
  expect(ledger.written).toEqual([])
})

test('closing tells how long the run lasted, but a run that did nothing leaves no trace', async () => {
  const idle = harness()
  await idle.books.close()
  expect(idle.ledger.written).toEqual([])
  const busy = harness()
  busy.books.refused('scheme')
  await busy.books.commit()
  await busy.books.close()
  expect(busy.ledger.written).toMatchObject([{ totals: { refused: { scheme: 1 } } }, { ended: [], totals: { ms: 1 } }])
  expect(busy.events.slice(-4)).toEqual(
    ['parts written', 'synced 0', 'commit begins', 'commit ends'].concat(['told 0']).slice(-4),
  )
})

test('what could not be committed has not happened: the figures say what the next run will find', async () => {
  const { books, figures } = harness({ failing: true })
  books.admitted(entry('x'))
  books.failed(entry('x'), 'DNS_NO_NAME', '')
  await expect(books.commit()).rejects.toThrow('no space')
  expect(figures).toMatchObject({ admitted: 0, failed: 0, failures: {}, waiting: 0 })
})

test('the journal forgets what the parts on disk hold, but never its last batch', async () => {
  const { books, ledger } = harness({ heldElsewhere: 9 })
  for (const path of ['x', 'y', 'z']) {
    books.failed(entry(path), 'DNS_NO_NAME', '')
    await books.commit()
  }
  expect(ledger.written.map((batch) => batch.ended)).toEqual([[entry('z').url]])
})

test('a verdict that is taken back waits again, and is counted again when the batch is lost', async () => {
  const { books, figures, ledger, told } = harness()
  books.admitted({ ...entry('x'), isSeed: true })
  books.failed(entry('x'), 'DNS_NO_NAME', '')
  await books.commit()
  books.requeued(entry('x'), { url: entry('x').url, kind: 'failed', code: 'DNS_NO_NAME' })
  expect(figures).toMatchObject({ admitted: 1, failed: 0, waiting: 1 })
  ledger.gate = Promise.reject(new Error('no space'))
  await expect(books.commit()).rejects.toThrow('no space')
  expect(figures).toMatchObject({ admitted: 1, failed: 1, waiting: 0 })
  expect(told).toEqual([
    `offered ${entry('x').url}`,
    `seed ${entry('x').url}`,
    `no page ${entry('x').url}`,
    `offered ${entry('x').url}`,
  ])
})

test('while the books are held nothing is committed, whoever waited with the holder', async () => {
  const { books, ledger, events, lines } = harness()
  const gate = Promise.withResolvers<void>()
  ledger.gate = gate.promise
  books.failed(entry('1'), 'DNS_NO_NAME', 'gone')
  const first = books.commit()
  books.failed(entry('2'), 'DNS_NO_NAME', 'gone')
  // All wait for the same commit, and wake in the same turn.
  const others = [books.commit(), books.commit()]
  const held = books.hold()
  const last = books.commit()
  gate.resolve()
  const release = await held
  expect(events.filter((event) => event.startsWith('commit'))).toEqual([
    'commit begins',
    'commit ends',
    'commit begins',
    'commit ends',
  ])
  expect(books.states).toMatchObject({ failures: lines.length })
  books.failed(entry('3'), 'DNS_NO_NAME', 'gone')
  const later = books.commit()
  await settle()
  expect(ledger.written).toHaveLength(2)
  release()
  await Promise.all([first, ...others, last, later])
  expect(ledger.written).toHaveLength(3)
})

test('a commit that finds another under way resolves when what was written before it is durable', async () => {
  const { books, ledger } = harness()
  const gate = Promise.withResolvers<void>()
  books.failed(entry('1'), 'DNS_NO_NAME', 'gone')
  const first = books.commit()
  books.failed(entry('2'), 'DNS_NO_NAME', 'gone')
  const seen: number[] = []
  const others = [1, 2, 3].map(() => books.commit().then(() => seen.push(ledger.written.length)))
  await first
  ledger.gate = gate.promise
  gate.resolve()
  await Promise.all(others)
  expect(seen).toEqual([2, 2, 2])
})

test('after a batch that was lost nothing is committed: it would leave a hole', async () => {
  const { books, figures, ledger } = harness()
  books.admitted(entry('x'))
  ledger.gate = Promise.reject(new Error('no space'))
  await expect(books.commit()).rejects.toThrow('no space')
  ledger.gate = Promise.resolve()
  expect(() => books.failed(entry('y'), 'DNS_NO_NAME', '')).toThrow('no space')
  await expect(books.commit()).rejects.toThrow('no space')
  await expect(books.hold()).rejects.toThrow('no space')
  await expect(books.close()).rejects.toThrow('no space')
  expect(ledger.written).toEqual([])
  expect(figures).toMatchObject({ admitted: 0, failed: 0 })
})

test('a state that cannot be told loses its batch like any other fault', async () => {
  const { books, figures, file, ledger } = harness()
  books.failed(entry('x'), 'DNS_NO_NAME', '')
  file.state = () => {
    throw new Error('a part is broken')
  }
  await expect(books.commit()).rejects.toThrow('a part is broken')
  expect(figures).toMatchObject({ failed: 0 })
  await expect(books.close()).rejects.toThrow('a part is broken')
  expect(ledger.written).toEqual([])
})

test('a part that cannot be written out at the end does not take the last batch with it', async () => {
  const { books, ledger } = harness({ beforeLast: async () => Promise.reject(new Error('the store is full')) })
  books.failed(entry('x'), 'DNS_NO_NAME', '')
  await expect(books.close()).rejects.toThrow('the store is full')
  expect(ledger.written).toMatchObject([{ ended: [entry('x').url] }])
})

test('a commit that does not come to its end is waited for before more is asked for', async () => {
  const { books, clock, ledger } = harness()
  let finish = (): void => {}
  const commit = ledger.commit.bind(ledger)
  ledger.commit = async (batch) => {
    await new Promise<void>((resolve) => (finish = resolve))
    return commit(batch)
  }
  books.failed(entry('x'), 'DNS_NO_NAME', 'gone')
  const committed = books.commit()
  await settle()
  clock.advance(1_999)
  expect(books.pressure()).toBeUndefined()
  clock.advance(2)
  const pressure = books.pressure()
  expect(pressure).toBeInstanceOf(Promise)
  finish()
  await committed
  await pressure
  expect(books.pressure()).toBeUndefined()
})
