import { expect, test } from 'vitest'
import { RestartBudget } from './restart-budget.ts'

test('so many within a span, and not one more', () => {
  const budget = new RestartBudget(2, 100)
  expect([0, 10, 20].map((ms) => budget.spend(ms))).toEqual([true, true, false])
})

test('what lies a span back is forgotten; what was refused was not spent', () => {
  const budget = new RestartBudget(2, 100)
  for (const ms of [0, 60, 70, 99]) budget.spend(ms)
  expect(budget.spend(100)).toBe(true)
  expect(budget.spend(101)).toBe(false)
  expect(budget.spend(160)).toBe(true)
})

test('one that breaks now and then goes on for ever', () => {
  const budget = new RestartBudget(3, 100)
  for (let ms = 0; ms < 10_000; ms += 34) expect(budget.spend(ms)).toBe(true)
})
