import { expect, test } from 'vitest'
import { recordId } from './record-id.ts'

test('ids are random UUIDs, and no two are the same', () => {
  const ids = Array.from({ length: 2_000 }, recordId)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(new Set(ids).size).toBe(ids.length)
  // Every other digit takes every value.
  for (let at = 0; at < 36; at++) {
    const digits = new Set(ids.map((id) => id[at]))
    expect(digits.size).toBe([8, 13, 14, 18, 23].includes(at) ? 1 : at === 19 ? 4 : 16)
  }
})
