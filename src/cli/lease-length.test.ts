import { expect, test } from 'vitest'
import type { Problem } from '../config/index.ts'
import { leaseOf, readLease } from './lease-length.ts'

test('a lease is a time, and its margin a third of it', () => {
  const problems: Problem[] = []
  expect(readLease(undefined, problems)).toEqual({ leaseMs: 12_000, marginMs: 4_000 })
  expect(readLease('6s', problems)).toEqual({ leaseMs: 6_000, marginMs: 2_000 })
  expect(readLease('10m', problems)).toEqual(leaseOf(600_000))
  expect(problems).toEqual([])
})

test.each(['4s', '11m', 'soon', ''])('a lease of %j is refused', (text) => {
  const problems: Problem[] = []
  readLease(text, problems)
  expect(problems).toEqual([{ where: '--lease', what: `'${text}' is no time from 5s to 10m; say something like 12s` }])
})
