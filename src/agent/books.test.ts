// The books write down what was done, in batches: files before facts, everything of one URL together,
// one commit at a time.

import { expect, test } from 'vitest'
import { ManualClock, type RefusalReason } from '../base/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import { type LedgerBatch, MemoryLedger } from '../ledger/index.ts'
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

class SlowLedger extends MemoryLedger {
  readonly events: string[]
  /** Set to hold commits back. */
  gate: Promise<void> = Promise.resolve()

  constructor(events: string[]) {
    super({ name: 'test', key: '00', startedAtMs: 0, agents: 1 })
    this.events = events
  }

  override async commit(batch: LedgerBatch): Promise<void> {
    this.events.push('commit begins')
    await this.gate
    await super.commit(batch)
    this.events.push('commit ends')
  }
}

function harness(options: { failing?: boolean } = {}) {
  const clock = new ManualClock()
  const events: string[] = []
  const ledger = new SlowLedger(events)
  const lines: string[] = []
  const file: CommittedFile = {
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
    ledger,
    frontier: {
      offer: (one) => void told.push(`offered ${one.url}`),
      conclude: (one, isPage) => void told.push(`${isPage ? 'page' : 'no page'} ${one.url}`),
    },
    figures,
    files: new Map([['failures', file]]),
    writePage: () => {},
    writeFailure: (record) => void lines.push(record.url),
    otherFiles: { archive: 'as it was' },
    spent: () => ({ runStartedAtMs: 9, ranMs: 1, cpuMs: 2, peakRssBytes: 3 }),
    tickMs: 100,
    onFault: (fault) => void faults.push(fault),
  })
  return { clock, events, ledger, lines, books, figures, faults, told }
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
  expect(ledger.batches).toEqual([])
  clock.advance(1)
  await settle()
  expect(ledger.batches).toMatchObject([
    {
      verdicts: [{ kind: 'skipped', reason: 'robots' }],
      refused: { scheme: 1 },
      files: { failures: 1, archive: 'as it was' },
      ranMs: 1,
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
  expect(ledger.batches.map((batch) => [batch.verdicts.length, batch.files['failures']])).toEqual([
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
    content: null,
    admitted: [entry('1'), entry('2')],
    held: [entry('3')],
    refused,
  })
  expect(told).toEqual([`page ${entry('p').url}`, `offered ${entry('1').url}`, `offered ${entry('2').url}`])
  await books.commit()
  expect(ledger.batches).toHaveLength(1)
  expect(ledger.batches[0]).toMatchObject({ verdicts: [{ kind: 'page' }], refused: { scheme: 2 } })
  expect(ledger.batches[0]?.admitted.map((one) => one.url)).toEqual([entry('1').url, entry('2').url])
  expect(ledger.batches[0]?.held.map((one) => one.url)).toEqual([entry('3').url])
  expect(figures).toMatchObject({ pages: 1, bytes: 10, wireBytes: 5 })
  expect([...figures.hosts]).toEqual(['a.test'])
})

test('a commit that fails is reported as a fault and never taken for done', async () => {
  const { books, clock, faults, ledger } = harness({ failing: true })
  books.refused('scheme')
  clock.advance(100)
  await settle()
  expect(faults).toMatchObject([{ message: 'no space' }])
  expect(ledger.batches).toEqual([])
})

test('closing tells how long the run lasted, but a run that did nothing leaves no trace', async () => {
  const idle = harness()
  await idle.books.close()
  expect(idle.ledger.batches).toEqual([])
  const busy = harness()
  busy.books.refused('scheme')
  await busy.books.commit()
  await busy.books.close()
  expect(busy.ledger.batches).toMatchObject([{ refused: { scheme: 1 } }, { verdicts: [], ranMs: 1, cpuMs: 2 }])
})

test('what could not be committed has not happened: the figures say what the next run will find', async () => {
  const { books, figures } = harness({ failing: true })
  books.admitted(entry('x'))
  books.failed(entry('x'), 'DNS_NO_NAME', '')
  await expect(books.commit()).rejects.toThrow('no space')
  expect(figures).toMatchObject({ admitted: 0, failed: 0, failures: {}, waiting: 0 })
})
