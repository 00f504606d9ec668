// Hosts with a part of a name, in every order, however few are looked at for one answer.

import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { createDatabase } from './database.ts'
import { listHosts } from './host-list.ts'
import { hostSum } from './host-rows.ts'

test('are those that a plain filter finds, in parts that lead on', () => {
  const path = join(temporaryDirectory(onTestFinished), 'hosts.sqlite')
  const { writer, reader } = createDatabase(path)
  onTestFinished(() => {
    reader.close()
    writer.close()
  })
  const hosts = Array.from({ length: 60 }, (_, i) => ({
    id: i + 1,
    name: `${'abc'[i % 3]}${(i * 37) % 60}.example`,
    pages: i % 7,
    errors: i % 2,
    bytes: i * i,
    ms: 10 * i,
    mean: i % 5,
  }))
  for (const host of hosts) {
    const { id, name, pages, errors, bytes, ms, mean } = host
    writer
      .prepare('INSERT INTO hosts(id, name, pages, errors, bytes, ms, mean, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
      .run(id, name, pages, errors, bytes, ms, mean, hostSum(host))
  }
  const figure = { pages: 'pages', errors: 'errors', bytes: 'bytes', time: 'mean' } as const
  fc.assert(
    fc.property(
      fc.constantFrom('pages', 'errors', 'bytes', 'time', 'host'),
      fc.constantFrom(undefined, 'a', 'B1', '3', 'example', 'none'),
      fc.integer({ min: 1, max: 70 }),
      fc.integer({ min: 1, max: 70 }),
      (sort, text, limit, lookedAtMax) => {
        const meant = hosts.filter(({ name }) => name.includes((text ?? '').toLowerCase()))
        meant.sort((a, b) => {
          const byName = a.name < b.name ? -1 : 1
          return sort === 'host' ? byName : b[figure[sort]] - a[figure[sort]] || -byName
        })
        const found: string[] = []
        for (let after: string | undefined, parts = 0; ; parts++) {
          expect(parts).toBeLessThan(130)
          const part = listHosts(reader, { sort, text, limit, after }, lookedAtMax)
          found.push(...part.items.map(({ host }) => host))
          if (part.total !== null) expect(part.total).toBe(meant.length)
          if (part.next === null) break
          after = part.next
        }
        expect(found).toEqual(meant.map(({ name }) => name))
      },
    ),
    { numRuns: 100 },
  )
})
