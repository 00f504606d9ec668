// Pages that come together are settled in step, and each of them as if it had come alone.

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { directory, startWeb } from '../../test/crawl/expect-truth.ts'
import { crawl, FAST } from '../../test/crawl/run-crawl.ts'
import { wrapMethod } from '../../test/wrap-method.ts'
import type { PageRecord } from '../store/index.ts'
import { Admission, type LinkSource } from './admission.ts'
import { Books, type Settled } from './books.ts'

const TOGETHER = 24

/** As many hosts as pages that are to come together, which answer at once; all say the same, unless told otherwise. */
async function startChorus(
  bodyOf = (_host: number) => '<title>one of many</title><p>the same everywhere, <a href="/next">and on</a></p>',
): Promise<string[]> {
  const waiting: (() => void)[] = []
  let isOver = false
  const answer = (response: ServerResponse, host: number): void => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(bodyOf(host))
  }
  const servers = Array.from({ length: TOGETHER }, (_, host) =>
    createServer(({ url }, response) => {
      if (url === '/robots.txt' || url === '/next') return void response.writeHead(404).end()
      waiting.push(() => answer(response, host))
      isOver ||= waiting.length === TOGETHER
      if (isOver) for (const one of waiting.splice(0)) one()
    }),
  )
  const urls = servers.map(async (server, i) => {
    const host = `127.8.0.${i + 1}`
    await new Promise<void>((resolve) => server.listen(0, host, resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return `http://${host}:${(server.address() as AddressInfo).port}/`
  })
  return Promise.all(urls)
}

function originals(pages: readonly PageRecord[]): Map<string | undefined, number> {
  const counts = new Map<string | undefined, number>()
  for (const { duplicateOf, status } of pages) {
    if (status === 200) counts.set(duplicateOf, (counts.get(duplicateOf) ?? 0) + 1)
  }
  return counts
}

test('between the meeting of its links and its books a page waits for nothing that comes from outside', async () => {
  const web = await startWeb({ hosts: 24, pages: 30, linksPerPage: 12 })
  const said: string[] = []
  const booked = new Set<string>()
  const late: string[] = []
  wrapMethod(Admission.prototype, 'admitLinks', ([source], run) => {
    const { url } = source as LinkSource
    const later = run() as Promise<void> | undefined
    // Called when all promises that are kept have been heard, and before the loop goes on.
    const look = (): void => process.nextTick(() => booked.has(url) || late.push(url))
    if (later === undefined) look()
    else void later.then(look)
    said.push('links')
    return later
  })
  wrapMethod(Books.prototype, 'settle', ([settled], run) => {
    booked.add((settled as Settled).entry.url)
    said.push('books')
    return run()
  })
  const { pages } = await crawl({ seeds: web.seeds(), dir: directory() })
  expect(pages.length).toBeGreaterThan(600)
  expect(late).toEqual([])
  // And they did go in step, or this says nothing.
  expect(said.filter((one, i) => one === 'links' && said[i + 1] === 'links').length).toBeGreaterThan(50)
})

test('a large page is settled before the next one is looked at', async () => {
  const large = 'much to read. '.repeat(20_000)
  const seeds = await startChorus((host) => `<title>${host}</title><p>${large}<a href="/next">and on</a></p>`)
  const said: string[] = []
  wrapMethod(Admission.prototype, 'admitLinks', ([source], run) => {
    said.push(`links ${(source as LinkSource).url}`)
    return run()
  })
  wrapMethod(Books.prototype, 'settle', ([settled], run) => {
    const { entry, verdict } = settled as Settled
    if (verdict.kind === 'page' && entry.depth === 0) said.push(`books ${entry.url}`)
    return run()
  })
  // Without an archive, whose line all would stand in.
  const { pages } = await crawl({ seeds, dir: directory(), flags: { ...FAST, warc: 'off', duplicates: 'follow' } })
  expect(pages.filter(({ status }) => status === 200)).toHaveLength(TOGETHER)
  expect(said).toHaveLength(2 * TOGETHER)
  for (let i = 0; i < said.length; i += 2) expect(said[i + 1]?.slice(6)).toBe(said[i]?.slice(6))
})

test('of equal pages that come together one is the original', async () => {
  const { pages } = await crawl({ seeds: await startChorus(), dir: directory() })
  const first = pages.find(({ status, duplicateOf }) => status === 200 && duplicateOf === undefined)
  expect(originals(pages)).toEqual(
    new Map<string | undefined, number>([
      [undefined, 1],
      [first?.url, TOGETHER - 1],
    ]),
  )
})

test('where the first of them breaks us, the next one is the original, and the first its copy when it is tried again', async () => {
  const seeds = await startChorus()
  let broken: string | null = null
  wrapMethod(Admission.prototype, 'admitLinks', ([source], run) => {
    if (broken !== null) return run()
    broken = (source as LinkSource).url
    throw new TypeError('odd')
  })
  const { pages, failures } = await crawl({ seeds, dir: directory() })
  expect(failures).toEqual([])
  const first = pages.find(({ status, duplicateOf }) => status === 200 && duplicateOf === undefined)
  expect(first?.url).not.toBe(broken)
  expect(pages.find(({ url }) => url === broken)?.duplicateOf).toBe(first?.url)
  expect(originals(pages).get(first?.url)).toBe(TOGETHER - 1)
})
