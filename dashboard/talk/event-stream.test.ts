// A stream of events is the same, wherever it is cut.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventStreamReader } from './event-stream.ts'

const message = fc.record({
  event: fc.constantFrom('crawl', 'event'),
  data: fc.jsonValue().map((value) => JSON.stringify(value)),
})

test('messages come out as they were sent, in pieces of any size, with either end of lines and comments between', () => {
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 10 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      fc.constantFrom('\n', '\r\n'),
      (sent, cuts, end) => {
        const text = sent
          .map(({ event, data }) => `: here${end}${end}event: ${event}${end}data: ${data}${end}${end}`)
          .join('')
        const reader = new EventStreamReader()
        const got = []
        for (let at = 0, round = 0; at < text.length; round++) {
          const size = cuts[round % cuts.length] ?? 1
          got.push(...reader.take(text.slice(at, at + size)))
          at += size
        }
        expect(got).toEqual(sent)
      },
    ),
  )
})

test('a message without an end does not fill the memory', () => {
  const reader = new EventStreamReader()
  for (let round = 0; round < 10; round++) expect(reader.take('x'.repeat(1_000_000))).toEqual([])
  expect(reader.take('\n\nevent: crawl\ndata: {}\n\n')).toEqual([{ event: 'crawl', data: '{}' }])
})
