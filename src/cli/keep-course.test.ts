// The course is kept while the share is here, and by nobody else; its last word is said where it was here at last.

import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import { keepCourse } from './keep-course.ts'

function stand() {
  const clock = new ManualClock()
  const said: string[] = []
  const state = { isChair: false, isAway: false }
  const end = keepCourse(
    clock,
    () => state.isChair,
    async () => {
      said.push('opened')
      return {
        keepCourse: async (isLast) => {
          if (state.isAway) throw new Error('away')
          said.push(isLast ? 'last' : 'sample')
        },
        close: async () => void said.push('closed'),
      }
    },
  )
  const pass = async (seconds: number): Promise<void> => {
    for (let i = 0; i < seconds; i++) {
      clock.advance(1_000)
      await setImmediate()
    }
  }
  return { said, state, end, pass }
}

test('a node that never has the share keeps nothing and opens nothing', async () => {
  const { said, end, pass } = stand()
  await pass(30)
  await end()
  expect(said).toEqual([])
})

test('a sample every five seconds while the share is here, and a last one at the end', async () => {
  const { said, state, end, pass } = stand()
  state.isChair = true
  await pass(11)
  expect(said).toEqual(['opened', 'sample', 'sample', 'sample'])
  await end()
  expect(said.slice(4)).toEqual(['last', 'closed'])
})

test('whoever gave the share away says nothing more', async () => {
  const { said, state, end, pass } = stand()
  state.isChair = true
  await pass(2)
  state.isChair = false
  await pass(20)
  await end()
  expect(said).toEqual(['opened', 'sample', 'closed'])
})

test('what fails is tried again and ends nothing', async () => {
  const { said, state, end, pass } = stand()
  Object.assign(state, { isChair: true, isAway: true })
  await pass(12)
  state.isAway = false
  await pass(5)
  await end()
  expect(said).toEqual(['opened', 'sample', 'last', 'closed'])
})
