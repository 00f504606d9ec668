import { expect, test } from 'vitest'
import { limitOf } from './limits.ts'

test('a number may be written for people; what is none is for the server to name', () => {
  const typed = ['', ' ', '1,000', '1 000', '10_000', 'many']
  expect(typed.map(limitOf)).toEqual([undefined, undefined, 1_000, 1_000, 10_000, 'many'])
})
