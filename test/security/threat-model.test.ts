// The threat model says which test proves each of its lines: they are there.

import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const rows = readFileSync(root('docs/security.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| \d+ \|/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))

test('its lines are numbered without a gap, and each has a threat, a defence, a place and a test', () => {
  expect(rows.map(([, number]) => Number(number))).toEqual(rows.map((_, i) => i + 1))
  expect(rows.length).toBeGreaterThan(30)
  for (const row of rows) {
    expect(row).toHaveLength(8)
    expect(row.slice(1, 7).every((cell) => cell !== '')).toBe(true)
  }
})

test.each(rows.map((row) => [row[1], row[5], row[6]]))(
  'line %s: what it names is there',
  (_, where = '', proof = '') => {
    for (const [, path = ''] of where.matchAll(/`([^`]+)`/g)) expect(existsSync(root(path)), path).toBe(true)
    const [, file = '', name = ''] = /^`([^`]+)` "(.+)"$/.exec(proof) ?? []
    expect(existsSync(root(file)), proof).toBe(true)
    expect(readFileSync(root(file), 'utf8'), proof).toContain(name)
  },
)
