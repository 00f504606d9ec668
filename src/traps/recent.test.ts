import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Recent } from './recent.ts'

test('whatever is put in and used, it holds no more than its bound, the last half of what was used, and each key once', () => {
  const uses = fc.array(fc.record({ key: fc.integer({ min: 0, max: 30 }), isSet: fc.boolean() }), { maxLength: 200 })
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 16 }), uses, (max, sequence) => {
      const table = new Recent<number, string>(max)
      const values = new Map<number, string>()
      let used: number[] = []
      for (const [at, { key, isSet }] of sequence.entries()) {
        const known = table.peek(key)
        if (isSet) {
          table.set(key, `${at}`)
          values.set(key, `${at}`)
        } else expect(table.get(key)).toBe(known)
        if (isSet || known !== undefined) used = [key, ...used.filter((one) => one !== key)]
        expect(table.size).toBeLessThanOrEqual(max + 1)
        for (const recent of used.slice(0, Math.floor(max / 2))) expect(table.peek(recent)).toBe(values.get(recent))
        const keys = [...table].map(([one]) => one)
        expect(new Set(keys).size).toBe(keys.length)
        expect(keys.length).toBe(table.size)
      }
    }),
  )
})

test('what is forgotten is counted', () => {
  const table = new Recent<number, number>(4)
  for (let key = 0; key < 9; key++) table.set(key, key)
  expect(table.forgotten + table.size).toBe(9)
  expect(table.peek(0)).toBeUndefined()
})
