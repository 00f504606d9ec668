// Lines of URLs against plain arrays: many lines in one set of columns.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import { EntryLines, Line } from './entry-lines.ts'
import type { FrontierEntry } from './frontier.ts'

const HOST = 'h' as HostKey

function entryOf(number: number, facts: Partial<FrontierEntry> = {}): FrontierEntry {
  return {
    url: `http://h/${number}` as CanonicalUrl,
    host: HOST,
    via: number % 3 === 0 ? null : (`http://v/${number % 4}` as CanonicalUrl),
    depth: number,
    hops: number % 1_024,
    band: 0,
    isSeed: number % 2 === 0,
    tries: (number * 7) % 1_024,
    pauses: (number * 11) % 1_024,
    ...facts,
  }
}

const step = fc.record({ kind: fc.constantFrom('push', 'push', 'pushFirst', 'shift'), line: fc.nat({ max: 3 }) })

test('lines keep their order at both ends and never mix', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
      const lines = new EntryLines()
      const real = Array.from({ length: 4 }, (_, band) => new Line(band))
      const model: FrontierEntry[][] = real.map(() => [])
      for (const [number, { kind, line: index }] of steps.entries()) {
        const [line, plain] = [real[index]!, model[index]!]
        const entry = entryOf(number, { band: index })
        if (kind === 'push') {
          lines.push(line, entry)
          plain.push(entry)
        } else if (kind === 'pushFirst') {
          lines.pushFirst(line, entry)
          plain.unshift(entry)
        } else if (line.count > 0) {
          expect(lines.shift(line, HOST)).toEqual(plain.shift())
        }
        expect(line.count).toBe(plain.length)
      }
      for (const [index, line] of real.entries()) expect([...lines.entries(line, HOST)]).toEqual(model[index])
      expect(lines.count).toBe(model.flat().length)
    }),
    { numRuns: 50 },
  )
})

test('rows that became free are used again', () => {
  const lines = new EntryLines()
  const line = new Line(0)
  for (let i = 0; i < 10_000; i++) {
    lines.push(line, entryOf(i))
    lines.push(line, entryOf(i + 1))
    lines.shift(line, HOST)
    if (i % 2 === 1) lines.shift(line, HOST)
  }
  expect(lines.count).toBe(line.count)
  expect([...lines.entries(line, HOST)]).toHaveLength(5_000)
})

test('counts beyond what a row can hold are refused, not cut', () => {
  const lines = new EntryLines()
  for (const facts of [{ tries: 1_024 }, { pauses: 1_024 }, { hops: 1_024 }]) {
    expect(() => lines.push(new Line(0), entryOf(0, facts))).toThrow(/more than 1023/)
  }
  expect(lines.count).toBe(0)
})
