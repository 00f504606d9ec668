// Whether a host is asked for the next URL before its last page is settled: by requests that are answered, and pages that are settled, when the
// test says so.

import { beforeEach, expect, test } from 'vitest'
import type { Document } from '../document/index.ts'
import type { FetchOutcome } from '../fetch/index.ts'
import type { FrontierEntry, Settlement, Turn } from '../frontier/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { Visitor, type VisitorParts } from './visitor.ts'

/** Something that was begun, and how to end it. */
interface Begun<T> {
  readonly url: string
  readonly end: (value: T) => void
  readonly fail: (fault: unknown) => void
}

const HOST = 'a.example'
/** With Retry-After. */
const ASKED_MS = 3_600_000
const entryOf = (name: string): FrontierEntry =>
  ({ url: `http://${HOST}/${name}`, host: HOST, tries: 0, pauses: 0, depth: 0 }) as unknown as FrontierEntry

/** Everything that can go on goes on, by a turn of the loop and another one. */
const rest = async (): Promise<void> => {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve))
}

let asked: Begun<FetchOutcome | null>[]
let settling: Begun<boolean>[]
let released: string[]
let ended: Settlement[]
/** What came into the books, in their order. */
let entered: string[]
let permits: { taken: number; used: number; back: number; left: number }
let isStopping: boolean
/** What fails is no odd page, but a fault of ours. */
let isBroken: boolean

beforeEach(() => {
  asked = []
  settling = []
  released = []
  ended = []
  entered = []
  permits = { taken: 0, used: 0, back: 0, left: Infinity }
  isStopping = false
  isBroken = false
})

function begin<T>(list: Begun<T>[], url: CanonicalUrl): Promise<T> {
  return new Promise((end, fail) => list.push({ url: url.slice(`http://${HOST}/`.length), end, fail }))
}

interface Host {
  readonly restMs?: number
  readonly turnsOut?: number
  readonly hostPages?: number | null
}

function visit(names: readonly string[], { restMs = 0, turnsOut = 1, hostPages = null }: Host = {}): Promise<void> {
  const parts = {
    frontier: { settle: (_: Turn, result: Settlement) => ended.push(result), pagesOf: () => 0 },
    resolver: null,
    fetcher: { fetch: ({ url }: { readonly url: CanonicalUrl }) => begin(asked, url) },
    desk: null,
    settler: {
      settle: async ({ url }: FrontierEntry) => {
        const isPage = await begin(settling, url)
        entered.push(url.slice(-1))
        return isPage
      },
    },
    books: {
      pressure: () => undefined,
      failed: () => {},
      rest: ({ restMs: ms }: { readonly restMs: number }) => entered.push(`rest of ${ms}`),
    },
    returns: null,
    walls: { again: () => null },
    heads: null,
    trouble: { givenUp: () => null, answered: () => {} },
    manners: {
      closedMs: () => 0,
      restAfter: () => restMs,
      restAfterAnswer: (_: string, { status }: Document) => {
        const note = status === 404 ? { host: HOST, restMs: ASKED_MS, why: '' } : null
        return { restMs: note?.restMs ?? restMs, note }
      },
      pauseAfter: () => ({ host: HOST, restMs: ASKED_MS, why: '' }),
    },
    broken: {
      take: (_: string, cause: unknown) => {
        if (isBroken) throw cause
        return String(cause)
      },
    },
    lending: null,
    rescope: null,
    traps: null,
    permits: {
      take: () => permits.left-- > 0 && ++permits.taken > 0,
      use: () => permits.used++,
      giveBack: () => permits.back++,
    },
    traces: { isOn: false },
    isStopping: () => isStopping,
    turnsOut: () => turnsOut,
    signal: new AbortController().signal,
    rules: { retries: 2, pauses: 2, hostPages },
    faults: { hit: () => {} },
  }
  const turn = { host: HOST, entries: names.map(entryOf), errand: null } as unknown as Turn
  return new Visitor(parts as unknown as VisitorParts).visit(turn)
}

/** The server answers what was asked last. */
async function answer(status = 200): Promise<void> {
  const { url, end } = asked.at(-1) as Begun<FetchOutcome | null>
  const document = { status, durationMs: 1, release: () => released.push(url) }
  end({ kind: 'fetched', document } as unknown as FetchOutcome)
  await rest()
}

const urlsOf = (list: readonly Begun<never>[] | readonly Begun<boolean>[]): string[] => list.map(({ url }) => url)
const askedFor = (): string[] => asked.map(({ url }) => url)

test('a host without rests is asked for the next URL while its last four pages are settled, and never for one more', async () => {
  const over = visit(['1', '2', '3', '4', '5', '6'])
  await answer()
  expect([askedFor(), urlsOf(settling)]).toEqual([['1', '2'], ['1']])
  for (let i = 0; i < 4; i++) await answer()
  // The fifth answer is here; none of the four before it is settled.
  const five = ['1', '2', '3', '4', '5']
  expect([askedFor(), urlsOf(settling), released]).toEqual([five, five.slice(0, 4), []])
  settling[1]?.end(true)
  await rest()
  expect([askedFor(), urlsOf(settling), released]).toEqual([[...five, '6'], five, ['2']])
  for (const i of [0, 2, 3, 4]) settling[i]?.end(true)
  await answer()
  // The last page, behind which there is nothing to ask for: the turn ends with it.
  expect([urlsOf(settling), ended]).toEqual([[...five, '6'], []])
  settling[5]?.end(false)
  await over
  expect(ended).toEqual([{ restMs: 0, again: [], wasAsked: true }])
  expect(released).toEqual(['2', '1', '3', '4', '5', '6'])
  expect(permits).toMatchObject({ taken: 6, used: 5, back: 1 })
})

test('a turn ends when all of its pages are settled, whichever is the last', async () => {
  const over = visit(['1', '2', '3'])
  for (let i = 0; i < 3; i++) await answer()
  for (const i of [2, 1]) settling[i]?.end(true)
  await rest()
  expect(ended).toEqual([])
  settling[0]?.fail(new Error('odd page'))
  await over
  expect(ended).toEqual([{ restMs: 0, again: [{ ...entryOf('1'), tries: 1 }], wasAsked: true }])
})

test('a fault of ours ends the visit also where the crawl waits for room', async () => {
  isBroken = true
  const failed = expect(visit(['1', '2', '3', '4', '5', '6'])).rejects.toThrow('the disk is gone')
  for (let i = 0; i < 5; i++) await answer()
  settling[2]?.fail(new Error('the disk is gone'))
  await failed
  expect(ended).toEqual([])
})

test.each([
  ['that rests', { restMs: 5 }],
  ['among many', { turnsOut: 9 }],
  ['with a budget of pages', { hostPages: 10 }],
])('a host %s is asked when its page is settled', async (_, host: Host) => {
  const over = visit(['1', '2'], host)
  await answer()
  expect([askedFor(), urlsOf(settling)]).toEqual([['1'], ['1']])
  settling[0]?.end(true)
  await rest()
  if (host.restMs === undefined) {
    expect(askedFor()).toEqual(['1', '2'])
    await answer()
    settling[1]?.end(true)
  }
  await over
  expect(ended).toHaveLength(1)
  expect(ended[0]?.restMs).toBe(host.restMs ?? 0)
})

test('a turn that ends before its last page is settled ends with it', async () => {
  const over = visit(['1', '2', '3'])
  isStopping = true
  await answer()
  expect([askedFor(), urlsOf(settling), ended]).toEqual([['1'], ['1'], []])
  settling[0]?.end(true)
  await over
  expect(ended).toEqual([{ restMs: 0, unvisited: ['2', '3'].map(entryOf), again: [], wasAsked: true }])
})

test('no URL is asked for without a permit, and the page before is settled all the same', async () => {
  permits.left = 1
  const over = visit(['1', '2'])
  await answer()
  expect([askedFor(), urlsOf(settling)]).toEqual([['1'], ['1']])
  settling[0]?.end(true)
  await over
  expect(ended).toEqual([{ restMs: 0, unvisited: [entryOf('2')], again: [], wasAsked: true }])
})

test('a page that breaks while the next one is asked for is asked for again, and the next one is settled', async () => {
  const over = visit(['1', '2'])
  await answer()
  settling[0]?.fail(new Error('odd page'))
  await rest()
  expect(ended).toEqual([])
  await answer()
  settling[1]?.end(true)
  await over
  expect(ended).toEqual([{ restMs: 0, again: [{ ...entryOf('1'), tries: 1 }], wasAsked: true }])
  expect(permits).toMatchObject({ used: 1, back: 1 })
})

test('a URL that fails while the page before is settled waits for it', async () => {
  const over = visit(['1', '2'])
  await answer()
  asked[1]?.end({ kind: 'failed', code: 'FETCH_TIMEOUT', detail: '', durationMs: 1 } as unknown as FetchOutcome)
  await rest()
  expect(ended).toEqual([])
  settling[0]?.end(true)
  await over
  expect(ended).toHaveLength(1)
  expect(released).toEqual(['1'])
})

test('a fault of ours while a page is settled ends the visit at once', async () => {
  isBroken = true
  const failed = expect(visit(['1', '2'])).rejects.toThrow('the disk is gone')
  await answer()
  settling[0]?.fail(new Error('the disk is gone'))
  await failed
  expect([ended, released]).toEqual([[], ['1']])
})

// Replaying the ledger, a page of the host ends the rests asked for before it.
test.each([
  ['429, which is no answer yet', 429, ['2', '1', `rest of ${ASKED_MS}`], [entryOf('4')]],
  ['404 with Retry-After, which is a page', 404, ['2', '1', '3', `rest of ${ASKED_MS}`], [entryOf('4')]],
])('a rest that is asked for stands behind the pages before it in the books: %s', async (_, status, order, left) => {
  const over = visit(['1', '2', '3', '4'])
  for (const code of [200, 200, status]) await answer(code)
  expect([askedFor(), entered]).toEqual([['1', '2', '3'], []])
  for (let round = 0; round < 2; round++) {
    for (const { end } of settling.toReversed()) end(true)
    await rest()
  }
  await over
  expect(entered).toEqual(order)
  expect(ended).toHaveLength(1)
  expect(ended[0]).toMatchObject({ restMs: ASKED_MS })
  expect(ended[0]?.unvisited?.slice(-1)).toEqual(left)
})
