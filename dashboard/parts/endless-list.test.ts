// A list that is given in pieces and held in part is the list.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EndlessList } from './endless-list.ts'

/** Pieces of uneven sizes, empty ones too, as a server gives that looks for rare things. */
function stand(sizes: readonly number[]) {
  const starts: number[] = []
  let rows = 0
  for (const size of sizes) {
    starts.push(rows)
    rows += size
  }
  let asked = 0
  let pending: Promise<void> = Promise.resolve()
  const list = new EndlessList<number>(
    (after) => {
      asked++
      const piece = after === undefined ? 0 : Number(after)
      const start = starts[piece] ?? 0
      const items = Array.from({ length: sizes[piece] ?? 0 }, (_, at) => start + at)
      const answer = Promise.resolve({ items, next: piece + 1 < sizes.length ? String(piece + 1) : null, total: null })
      pending = answer.then(() => undefined)
      return answer
    },
    () => undefined,
  )
  const settle = async (): Promise<void> => {
    do {
      await pending
      await new Promise((resolve) => setTimeout(resolve, 0))
    } while (list.isLoading)
  }
  return { list, rows, settle, asked: () => asked }
}

test('a list of which more is read meanwhile is begun anew, and stays as it was until that is there', async () => {
  const answers = [
    { items: [] as number[], next: null, total: 0, readShare: 0 },
    { items: [1], next: '1', total: 2, readShare: 0.5 },
    { items: [1, 2], next: null, total: 2, readShare: 1 },
  ]
  let held: PromiseWithResolvers<void> = Promise.withResolvers()
  held.resolve()
  const list = new EndlessList<number>(
    async () => {
      await held.promise
      return answers.shift()!
    },
    () => undefined,
  )
  const settle = async (): Promise<void> => {
    while (list.isLoading) await new Promise((resolve) => setTimeout(resolve, 0))
  }
  list.look(0, 10)
  await settle()
  expect([list.isWhole, list.length, list.readShare]).toEqual([true, 0, 0])
  held = Promise.withResolvers()
  list.askAgain()
  expect([list.isWhole, list.length, list.readShare]).toEqual([true, 0, 0])
  held.resolve()
  await settle()
  expect([list.isWhole, list.row(0), list.readShare]).toEqual([false, 1, 0.5])
  list.askAgain()
  await settle()
  expect([list.isWhole, list.length, list.row(1), list.readShare]).toEqual([true, 2, 2, 1])
  list.close()
})

test('whatever is looked at is there, forwards and back, and is what the server has', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 60 }),
      fc.array(fc.integer({ min: 0, max: 2_000 }), { maxLength: 8 }),
      async (sizes, jumps) => {
        const { list, rows, settle } = stand(sizes)
        // One walks to the end, as a person does who scrolls.
        for (;;) {
          const before = list.length
          list.look(before, before + 20)
          await settle()
          if (list.isWhole) break
        }
        expect(list.length).toBe(rows)
        for (const jump of jumps) {
          if (rows === 0) break
          const at = jump % rows
          list.look(at, at)
          await settle()
          expect(list.row(at)).toBe(at)
        }
      },
    ),
    { numRuns: 60 },
  )
})

test('of a long list only what is near the eye is held', async () => {
  const { list, settle } = stand(Array.from({ length: 200 }, () => 10))
  while (!list.isWhole) {
    list.look(list.length, list.length)
    await settle()
  }
  const held = Array.from({ length: 2_000 }, (_, row) => list.row(row)).filter((row) => row !== null)
  expect(held.length).toBeLessThanOrEqual(300)
  expect(list.row(1_999)).toBe(1_999)
  expect(list.row(0)).toBeNull()
})

test('after a fault nothing is asked until one says so', async () => {
  let isBroken = true
  const list = new EndlessList<string>(
    () => (isBroken ? Promise.reject(new Error('no')) : Promise.resolve({ items: ['a'], next: null, total: 1 })),
    () => undefined,
  )
  list.look(0, 0)
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(list.error).toBeInstanceOf(Error)
  isBroken = false
  list.look(0, 0)
  expect(list.isLoading).toBe(false)
  list.again()
  list.look(0, 0)
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(list.row(0)).toBe('a')
})
