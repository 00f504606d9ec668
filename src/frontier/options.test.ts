import { expect, test } from 'vitest'
import { frontierOptions } from './options.ts'

test('the defaults are courteous', () => {
  expect(frontierOptions.parse({})).toMatchObject({ delay: 1_000, ipDelay: 0, ipConnections: 8, urlsPerTurn: 20 })
})

test('an address that nobody may ask is refused', () => {
  expect(frontierOptions.safeParse({ ipConnections: 0 }).success).toBe(false)
})

test('a rest without a unit is refused', () => {
  expect(frontierOptions.safeParse({ delay: '5' }).success).toBe(false)
})
