// The client runs in a browser, and reads events however they are cut; the door of the room loads nothing that serves.

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fillPath, serverSentEvents } from './client.ts'
import { PATHS } from './paths.ts'

/** Everything a file loads when it is loaded: imports of values, followed through our own files. */
function loadedBy(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen
  seen.add(path)
  for (const [, what = '', names = '', target = ''] of readFileSync(path, 'utf8').matchAll(
    /^(import|export) (type |\*|\{[^}]*\})[^;'\n]*?from '([^']+)'/gm,
  )) {
    const isType =
      names === 'type ' ||
      (names !== '*' &&
        names
          .slice(1, -1)
          .split(',')
          .every((name) => /^\s*(?:type |$)/.test(name)))
    if (isType || what === '') continue
    if (target.startsWith('.')) loadedBy(join(dirname(path), target), seen)
    else seen.add(target)
  }
  return seen
}

test('the client loads its table of paths and nothing else', () => {
  const client = join(import.meta.dirname, 'client.ts')
  expect([...loadedBy(client)]).toEqual([client, join(import.meta.dirname, 'paths.ts')])
})

test('the door of the room loads neither fastify nor the checks of the API', () => {
  const loaded = loadedBy(join(import.meta.dirname, 'index.ts'))
  expect(loaded.size).toBeGreaterThan(5)
  expect(
    [...loaded].filter((one) =>
      /^fastify$|control\/(?:api|server|directory-sources|running-crawl)\.ts$|catalogue/.test(one),
    ),
  ).toEqual([])
})

test('events are read alike however the network cuts them', async () => {
  const events = fc.array(
    fc.record({
      event: fc.constantFrom('crawl', 'event'),
      data: fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify({ text })),
    }),
    { maxLength: 8 },
  )
  await fc.assert(
    fc.asyncProperty(events, fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 20 }), async (sent, cuts) => {
      const text = sent.map(({ event, data }) => `: here\n\nevent: ${event}\ndata: ${data}\n\n`).join('')
      const bytes = new TextEncoder().encode(text)
      async function* chunks(): AsyncGenerator<Uint8Array> {
        let at = 0
        for (let one = 0; at < bytes.length; one++) {
          const length = 1 + (cuts[one % cuts.length] ?? 0)
          yield bytes.subarray(at, at + length)
          at += length
        }
      }
      const heard = []
      for await (const event of serverSentEvents(chunks())) heard.push(event)
      expect(heard).toEqual(sent)
    }),
    { numRuns: 200 },
  )
})

test('whatever a param holds, it stays in its place of the path', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string(), (host, text) => {
      const path = fillPath(PATHS.host.path, { crawl: 'a', host, text })
      // `.` and `..` are steps, not names; no host is called so.
      if (host === '.' || host === '..') return
      const url = new URL(path, 'http://localhost')
      expect(url.pathname.split('/').map(decodeURIComponent)).toEqual(['', 'api', 'crawls', 'a', 'hosts', host])
      expect(url.searchParams.get('text')).toBe(text)
    }),
  )
})
