// What is gathered in one turn of the loop goes step by step, all of it before the loop reads again.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Convoy, IN_STEP } from './convoy.ts'

async function walk(convoy: Convoy, name: number, steps: number, said: string[]): Promise<void> {
  await convoy.gather()
  for (let step = 0; step < steps; step++) {
    if (step > 0) await IN_STEP
    said.push(`${step} ${name}`)
  }
}

test('however many come, and however many steps each has: a step is done for all of a group before the next one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 32 }), async (steps) => {
      const convoy = new Convoy()
      const said: string[] = []
      await Promise.all(steps.map((count, name) => walk(convoy, name, count, said)))
      const inStep = [0, 1, 2, 3, 4, 5].flatMap((step) =>
        steps.flatMap((count, name) => (step < count ? [`${step} ${name}`] : [])),
      )
      expect(said).toEqual(inStep)
    }),
  )
})

test('of more than go together the first group is through before the second begins, in the same turn of the loop', async () => {
  const convoy = new Convoy()
  const said: string[] = []
  const all = Promise.all(Array.from({ length: 80 }, (_, name) => walk(convoy, name, 3, said)))
  const turn = new Promise<number>((resolve) => setImmediate(() => resolve(said.length)))
  expect(said).toEqual([])
  // This was to come after them, and nothing that is read comes in between.
  expect(await turn).toBe(240)
  await all
  const groups = said.map((one) => Math.floor(Number(one.split(' ')[1]) / 32))
  expect(groups).toEqual([...groups].sort((one, two) => one - two))
})

test('one that waits for something else holds nobody up', async () => {
  const convoy = new Convoy()
  const said: string[] = []
  let goOn = (): void => {}
  const slow = (async () => {
    await convoy.gather()
    await new Promise<void>((resolve) => (goOn = resolve))
    said.push('slow')
  })()
  await Promise.all([walk(convoy, 1, 2, said), walk(convoy, 2, 2, said)])
  expect(said).toEqual(['0 1', '0 2', '1 1', '1 2'])
  goOn()
  await slow
})

test('one that comes while a group goes is of the next', async () => {
  const convoy = new Convoy()
  const said: string[] = []
  const late = walk(convoy, 1, 1, said).then(() => walk(convoy, 3, 2, said))
  await Promise.all([walk(convoy, 2, 6, said), late])
  expect(said).toEqual(['0 1', '0 2', '1 2', '2 2', '3 2', '4 2', '5 2', '0 3', '1 3'])
})

test('one that goes alone goes behind what was put off to the end of the round: requests are written first', async () => {
  const convoy = new Convoy()
  const said: string[] = []
  setImmediate(() => said.push('written'))
  await convoy.alone().then(() => said.push('alone'))
  expect(said).toEqual(['written', 'alone'])
})
