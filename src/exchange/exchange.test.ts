// What two agents say to each other on a wire, on another one after it, and what is said again.

import { expect, test } from 'vitest'
import { MemoryContentSeen } from '../content-seen/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import { Exchange } from './exchange.ts'
import { Inbox } from './inbox.ts'
import { Outbox } from './outbox.ts'
import { Owners } from './owners.ts'
import type { ErrandAnswer, PeerMessage } from './peer-message.ts'
import { SharedContents } from './shared-contents.ts'
import type { Wire } from './wire.ts'

const ENTRY: FrontierEntry = {
  url: 'http://b.test/' as CanonicalUrl,
  host: 'b.test' as HostKey,
  via: null,
  depth: 1,
  hops: 0,
  band: 0,
  isSeed: false,
  tries: 0,
  pauses: 0,
}

/** An end whose other end is the test. */
class HeldWire implements Wire {
  readonly said: PeerMessage[] = []
  isClosed = false
  hear: (message: PeerMessage) => void = () => {}

  send(message: PeerMessage): void {
    this.said.push(message)
  }

  listen(hear: (message: PeerMessage) => void): void {
    this.hear = hear
  }

  close(): void {
    this.isClosed = true
  }

  /** What was said since the last time. */
  take(): PeerMessage[] {
    return this.said.splice(0)
  }
}

interface Stand {
  readonly exchange: Exchange
  readonly filed: number[]
  readonly connect: () => HeldWire
  /** A batch that holds something for the other is durable. */
  readonly found: (number: number) => void
  /** A batch of ours is durable, with what has come. */
  readonly commit: (number: number) => void
}

/** Agent 0 of two; everything abroad is the other's. */
function stand(runErrand: () => Promise<ErrandAnswer> = async () => ({ kind: 'failed' })): Stand {
  const owners = new Owners(0, 2)
  const filed: number[] = []
  const send = (agent: number, message: PeerMessage): void => exchange.send(agent, message)
  const exchange: Exchange = new Exchange({
    owners,
    outbox: new Outbox({ self: 0, agents: 2, ownerOfEntry: () => 1, ownerOfDigest: () => 1, bytesMax: 1_000 }),
    inbox: new Inbox({
      agents: 2,
      holds: [],
      apply: async ({ number }, entered) => {
        filed.push(number)
        entered()
      },
    }),
    contents: new SharedContents({
      owners,
      own: new MemoryContentSeen(),
      write: () => 0,
      note: () => {},
      send,
      whenDurable: (callback) => callback(),
    }),
    runErrand,
    onTurn: () => {},
    onLend: () => {},
    onReady: () => {},
    lastBatch: () => 100,
    onFault: (fault) => {
      throw fault
    },
  })
  return {
    exchange,
    filed,
    connect: () => {
      const wire = new HeldWire()
      exchange.connect(1, wire)
      return wire
    },
    found: (number) => exchange.sendOut(number, { abroad: [ENTRY], originals: [] }),
    commit: (number) => exchange.committed(exchange.state(number)),
  }
}

const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
const kinds = (messages: readonly PeerMessage[]): string[] =>
  messages.map((message) => (message.kind === 'parcel' ? `parcel ${message.parcel.number}` : message.kind))
const parcel = (number: number): PeerMessage => ({
  kind: 'parcel',
  parcel: { number, entries: '', originals: [] },
})

test('nothing but hello is said before the other has said it; then what waits, and what comes as it comes', () => {
  const { exchange, connect, found } = stand()
  found(1)
  const wire = connect()
  found(2)
  expect(wire.take()).toEqual([{ kind: 'hello', holds: 0, last: 100 }])
  wire.hear({ kind: 'hello', holds: 0, last: 100 })
  expect(kinds(wire.take())).toEqual(['parcel 1', 'parcel 2'])
  found(3)
  expect(kinds(wire.take())).toEqual(['parcel 3'])
  wire.hear({ kind: 'confirmed', upTo: 2 })
  expect(exchange.isQuiet).toBe(false)
  wire.hear({ kind: 'confirmed', upTo: 3 })
  expect(exchange.isQuiet).toBe(true)
})

test('on another wire what the other holds is not said again, and the rest is', () => {
  const { connect, found } = stand()
  for (const number of [1, 2, 3]) found(number)
  connect().hear({ kind: 'hello', holds: 0, last: 100 })
  const wire = connect()
  wire.hear({ kind: 'hello', holds: 2, last: 100 })
  expect(kinds(wire.take())).toEqual(['hello', 'parcel 3'])
})

test('a parcel is confirmed when it is durable, and on another wire hello says so', async () => {
  const { filed, connect, commit } = stand()
  const wire = connect()
  wire.hear({ kind: 'hello', holds: 0, last: 100 })
  wire.hear(parcel(4))
  await settle()
  expect(filed).toEqual([4])
  expect(kinds(wire.take())).toEqual(['hello'])
  commit(1)
  expect(wire.take()).toEqual([{ kind: 'confirmed', upTo: 4 }])
  expect(connect().take()).toEqual([{ kind: 'hello', holds: 4, last: 100 }])
})

test('numbers that come again, because the other has lost its last batches, are not taken for known', async () => {
  const { connect, filed, commit } = stand()
  const wire = connect()
  wire.hear({ kind: 'hello', holds: 0, last: 9 })
  for (const number of [3, 9]) wire.hear(parcel(number))
  await settle()
  commit(1)
  const anew = connect()
  anew.hear({ kind: 'hello', holds: 0, last: 5 })
  for (const number of [3, 5, 6, 9]) anew.hear(parcel(number))
  await settle()
  expect(filed).toEqual([3, 9, 6, 9])
  commit(2)
  expect(connect().take()).toEqual([{ kind: 'hello', holds: 9, last: 100 }])
})

test('what became durable between our hello and theirs is confirmed then: no later parcel may come to do it', async () => {
  const { connect, commit } = stand()
  connect().hear(parcel(4))
  await settle()
  const wire = connect()
  commit(1)
  expect(wire.take()).toEqual([{ kind: 'hello', holds: 0, last: 100 }])
  wire.hear({ kind: 'hello', holds: 0, last: 100 })
  expect(wire.take()).toEqual([{ kind: 'confirmed', upTo: 4 }])
})

test('what is still said on a wire that was replaced is not heard', async () => {
  const { filed, connect } = stand()
  const old = connect()
  old.hear({ kind: 'hello', holds: 0, last: 100 })
  connect()
  expect(old.isClosed).toBe(true)
  old.hear(parcel(1))
  await settle()
  expect(filed).toEqual([])
})

test('an errand is asked for again on another wire, and its answer counts once', async () => {
  const { exchange, connect } = stand()
  connect().hear({ kind: 'hello', holds: 0, last: 100 })
  const answered = exchange.errand(1, ENTRY.url)
  expect(exchange.isQuiet).toBe(false)
  const wire = connect()
  wire.hear({ kind: 'hello', holds: 0, last: 100 })
  expect(wire.take()).toContainEqual({ kind: 'errand', id: 1, url: ENTRY.url })
  wire.hear({ kind: 'errand-done', id: 1, answer: { kind: 'unreachable' } })
  wire.hear({ kind: 'errand-done', id: 1, answer: { kind: 'failed' } })
  expect(await answered).toEqual({ kind: 'unreachable' })
  expect(exchange.isQuiet).toBe(true)
})

test('an errand that was run for one who is gone is answered to nobody: its successor numbers its own', async () => {
  let done: (answer: ErrandAnswer) => void = () => {}
  const { connect } = stand(() => new Promise((resolve) => (done = resolve)))
  const old = connect()
  old.hear({ kind: 'hello', holds: 0, last: 100 })
  old.hear({ kind: 'errand', id: 1, url: ENTRY.url })
  const wire = connect()
  wire.hear({ kind: 'hello', holds: 0, last: 100 })
  wire.take()
  done({ kind: 'failed' })
  await settle()
  expect(wire.take()).toEqual([])
})

test('everything said and heard moves the count', () => {
  const { exchange, connect, found } = stand()
  const wire = connect()
  const counts = [exchange.moves]
  wire.hear({ kind: 'hello', holds: 0, last: 100 })
  counts.push(exchange.moves)
  found(1)
  counts.push(exchange.moves)
  wire.hear({ kind: 'confirmed', upTo: 1 })
  counts.push(exchange.moves)
  expect(new Set(counts).size).toBe(counts.length)
  expect(counts).toEqual(counts.toSorted((a, b) => a - b))
})
