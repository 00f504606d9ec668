// What goes into the log comes out again, whatever its size, in memory and as text.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AccessLog, formatRequest, parseRequests } from './access-log.ts'

test('requests are kept as they came, beyond any growth of the columns', () => {
  const log = new AccessLog(100_000)
  const count = 5_000
  for (let i = 0; i < count; i++) {
    expect(log.begin(i, `host${i % 7}`, `127.1.0.${i % 3}`, i % 90, i % 2 === 1, `/p${i}${'x'.repeat(i % 200)}`)).toBe(
      i,
    )
  }
  for (let i = 0; i < count; i += 2) log.end(i, i + 0.5, 200 + (i % 300))
  expect(log.length).toBe(count)
  for (const i of [0, 1, 1_023, 1_024, 4_998, 4_999]) {
    expect(log.at(i)).toEqual({
      startMs: i,
      endMs: i % 2 === 0 ? i + 0.5 : Number.POSITIVE_INFINITY,
      host: `host${i % 7}`,
      ip: `127.1.0.${i % 3}`,
      connection: i % 90,
      scheme: i % 2 === 1 ? 'https' : 'http',
      path: `/p${i}${'x'.repeat(i % 200)}`,
      status: i % 2 === 0 ? 200 + (i % 300) : 0,
    })
  }
  expect([...log.requests(4_990)]).toHaveLength(10)
})

test('a full log counts what it could not keep, and loses nothing it has', () => {
  const log = new AccessLog(2)
  expect([0, 1, 2, 3].map((i) => log.begin(i, 'a', 'b', 0, false, `/${i}`))).toEqual([0, 1, -1, -1])
  log.end(-1, 9, 200)
  expect(log.dropped).toBe(2)
  expect([...log.requests()].map((request) => request.path)).toEqual(['/0', '/1'])
})

test('a cleared log begins anew', () => {
  const log = new AccessLog(10)
  log.begin(1, 'a', 'b', 0, false, '/long/path/of/the/first')
  log.clear()
  log.begin(2, 'c', 'b', 0, false, '/x')
  expect([...log.requests()].map((request) => `${request.host}${request.path}`)).toEqual(['c/x'])
})

test('lines of the log file are read back', () => {
  const anyRequest = fc.record({
    startMs: fc.nat(1e6),
    endMs: fc.nat(1e6),
    host: fc.domain(),
    ip: fc.ipV4(),
    connection: fc.nat(),
    scheme: fc.constantFrom('http' as const, 'https' as const),
    path: fc.webPath().map((path) => `/${path}`),
    status: fc.integer({ min: 0, max: 599 }),
  })
  fc.assert(
    fc.property(fc.array(anyRequest), (requests) => {
      expect(parseRequests(requests.map(formatRequest).join(''))).toEqual(requests)
    }),
  )
  expect(() => parseRequests('nonsense\n')).toThrow('not a request')
  expect(parseRequests('1.000\t2.0')).toEqual([])
})
