// A parcel is filed once and in its order, and held when the batch that it went into is durable, not before.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Inbox } from './inbox.ts'
import type { Parcel } from './peer-message.ts'

const parcel = (number: number): Parcel => ({ number, entries: '', originals: [] })

/** Files everything at once; says what was filed. */
function inboxOf(holds: readonly number[] = []): { inbox: Inbox; filed: number[] } {
  const filed: number[] = []
  const inbox = new Inbox({
    agents: 2,
    holds,
    apply: async ({ number }, entered) => {
      filed.push(number)
      entered()
    },
  })
  return { inbox, filed }
}

/** Filing waits until it is told to go on, or to fail. */
function slowInbox(): { inbox: Inbox; begun: number[]; goOn: (number: number, fault?: Error) => void } {
  const begun: number[] = []
  const waiting = new Map<number, (fault?: Error) => void>()
  const inbox = new Inbox({
    agents: 2,
    holds: [],
    apply: ({ number }, entered) => {
      begun.push(number)
      return new Promise((resolve, reject) => {
        waiting.set(number, (fault) => {
          if (fault !== undefined) return reject(fault)
          entered()
          resolve()
        })
      })
    },
  })
  return { inbox, begun, goOn: (number, fault) => waiting.get(number)?.(fault) }
}

test('a parcel that comes twice is filed once, also one that an earlier run has', async () => {
  const { inbox, filed } = inboxOf([0, 4])
  for (const number of [3, 4, 6, 6, 4, 9]) await inbox.receive(1, parcel(number))
  expect(filed).toEqual([6, 9])
  // Numbers are each sender's own.
  await inbox.receive(0, parcel(2))
  expect(filed).toEqual([6, 9, 2])
})

test('what is held is what is in a durable batch: what entered after it was taken comes with the next', async () => {
  const { inbox } = inboxOf()
  await inbox.receive(1, parcel(1))
  expect(inbox.holds(1)).toBe(0)
  const state = inbox.state()
  await inbox.receive(1, parcel(2))
  expect(inbox.committed(state)).toEqual([1])
  expect(inbox.holds(1)).toBe(1)
  expect(inbox.committed(inbox.state())).toEqual([1])
  expect(inbox.holds(1)).toBe(2)
  expect(inbox.committed(inbox.state())).toEqual([])
})

test('what one agent says is filed in its order, and holds up no other agent', async () => {
  const { inbox, begun, goOn } = slowInbox()
  const first = inbox.receive(0, parcel(1))
  const second = inbox.receive(0, parcel(2))
  const other = inbox.receive(1, parcel(7))
  await Promise.resolve()
  expect(begun).toEqual([1, 7])
  goOn(7)
  await other
  expect(inbox.state()).toEqual([0, 7])
  goOn(1)
  await first
  await Promise.resolve()
  expect(begun).toEqual([1, 7, 2])
  goOn(2)
  await second
  expect(inbox.state()).toEqual([2, 7])
})

test('after a parcel that could not be filed nothing of its sender is: a later one would count for it', async () => {
  const { inbox, begun, goOn } = slowInbox()
  const first = inbox.receive(0, parcel(1))
  const second = inbox.receive(0, parcel(2))
  await Promise.resolve()
  goOn(1, new Error('the disk is gone'))
  await expect(first).rejects.toThrow('the disk is gone')
  await second
  await inbox.receive(0, parcel(3))
  expect(begun).toEqual([1])
  expect(inbox.state()).toEqual([0, 0])
})

test('closing begins nothing more and waits for what was begun', async () => {
  const { inbox, begun, goOn } = slowInbox()
  void inbox.receive(0, parcel(1))
  void inbox.receive(0, parcel(2))
  await Promise.resolve()
  let isClosed = false
  const closed = inbox.close().then(() => (isClosed = true))
  void inbox.receive(1, parcel(3))
  await new Promise((resolve) => void setImmediate(resolve))
  expect(isClosed).toBe(false)
  goOn(1)
  await closed
  expect(begun).toEqual([1])
  expect(inbox.state()).toEqual([1, 0])
})

test('whatever comes again from wherever, each parcel is filed once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 6 }), async (restarts) => {
      const { inbox, filed } = inboxOf()
      // A sender that begins again sends everything that it does not know to be held.
      for (const from of [1, ...restarts]) {
        const start = Math.min(from, inbox.state()[0] as number) || 1
        for (let number = start; number <= from; number++) await inbox.receive(0, parcel(number))
      }
      expect(filed).toEqual(filed.map((_, i) => i + 1))
      expect(filed.length).toBe(Math.max(1, ...restarts))
    }),
  )
})
