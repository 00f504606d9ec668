// The table of hosts against a plain map; and what happens at its bound.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { HostTable } from './host-table.ts'

test('pages, bytes, errors and mean are exact while hosts are few', () => {
  const visit = fc.record({
    host: fc.integer({ min: 0, max: 90 }).map((n) => `h${n}.example`),
    bytes: fc.nat(1e6),
    ms: fc.integer({ min: 1, max: 9_000 }),
    isError: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(visit, { maxLength: 300 }), (visits) => {
      const table = new HostTable()
      for (const { host, bytes, ms, isError } of visits) table.addPage(host, bytes, ms, isError)
      for (const figures of table.largest(1_000, (host) => host.pages)) {
        const own = visits.filter((visit) => visit.host === figures.host)
        expect(figures.pages).toBe(own.length)
        expect(figures.bytes).toBe(own.reduce((sum, visit) => sum + visit.bytes, 0))
        expect(figures.errors).toBe(own.filter((visit) => visit.isError).length)
        expect(figures.meanMs).toBeCloseTo(own.reduce((sum, visit) => sum + visit.ms, 0) / own.length)
      }
      expect(table.size).toBe(new Set(visits.map((visit) => visit.host)).size)
    }),
  )
})

test('the 95th percentile tells a host with a slow tail from a steady one', () => {
  const table = new HostTable()
  for (let i = 0; i < 100; i++) {
    table.addPage('steady.example', 1, 100, false)
    table.addPage('tail.example', 1, i < 90 ? 50 : 4_000, false)
  }
  const [tail, steady] = table.largest(2, (host) => host.p95Ms)
  expect(tail?.host).toBe('tail.example')
  expect(tail!.p95Ms).toBeGreaterThan(2_800)
  expect(steady!.p95Ms).toBeLessThanOrEqual(100)
})

test('a host that never answered is known by its errors', () => {
  const table = new HostTable()
  table.addFailure('gone.example')
  expect(table.largest(5, (host) => host.errors)).toEqual([
    { host: 'gone.example', pages: 0, errors: 1, bytes: 0, meanMs: 0, p95Ms: 0 },
  ])
  expect(table.largest(5, (host) => host.pages)).toEqual([])
})

test('beyond its bound the table keeps the busiest hosts, exactly, and says how many it dropped', () => {
  const table = new HostTable(100)
  for (let i = 0; i < 5_000; i++) {
    table.addPage(`once-${i}.example`, 10, 20, false)
    table.addPage(`busy-${i % 10}.example`, 7, 30, i % 100 === 0)
  }
  const busiest = table.largest(10, (host) => host.pages)
  expect(busiest.map((host) => host.host).sort()).toEqual(Array.from({ length: 10 }, (_, i) => `busy-${i}.example`))
  for (const host of busiest) expect(host).toMatchObject({ pages: 500, bytes: 3_500, meanMs: 30 })
  expect(busiest.reduce((sum, host) => sum + host.errors, 0)).toBe(50)
  expect(table.size).toBe(5_010)
  expect(table.dropped).toBeGreaterThan(4_800)
})
