// What is ready in one round of the event loop is written in one go.

import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Outbox } from './outbox.ts'

function senders(count: number, sent: number[]): { send(): void }[] {
  return Array.from({ length: count }, (_, index) => ({ send: () => void sent.push(index) }))
}

test('all that wait are sent together, in their order, once', async () => {
  const sent: number[] = []
  const outbox = new Outbox()
  for (const sender of senders(3, sent)) {
    outbox.add(sender)
    await Promise.resolve()
  }
  expect(sent).toEqual([])
  await setImmediate()
  expect(sent).toEqual([0, 1, 2])
  await setImmediate()
  expect(sent).toHaveLength(3)
})

test('many do not wait for the end of the round', async () => {
  const sent: number[] = []
  const outbox = new Outbox()
  for (const sender of senders(70, sent)) outbox.add(sender)
  expect(sent.length).toBeGreaterThanOrEqual(32)
  await setImmediate()
  expect(sent).toEqual(Array.from({ length: 70 }, (_, index) => index))
})

test('who adds itself while others are sent comes in the next round', async () => {
  const sent: string[] = []
  const outbox = new Outbox()
  outbox.add({
    send: () => {
      sent.push('first')
      outbox.add({ send: () => void sent.push('second') })
    },
  })
  await setImmediate()
  expect(sent).toEqual(['first'])
  await setImmediate()
  expect(sent).toEqual(['first', 'second'])
})
