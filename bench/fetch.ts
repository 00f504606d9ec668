// What does a page cost to fetch, and how much of that is ours on top of a bare socket?
//
//   node bench/fetch.ts [--pages 40000] [--runs 3]
//
// Pages of 14 kB from a raw server in another process, 64 origins on 127.0.0.0/8, one request at a
// time on each, keep-alive. CPU time of this process, best of the runs; the ways take turns. In "between work" some 150 µs of
// work follow each page, as in a crawl, and are taken off the figure: a request then meets a server that sleeps.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { Random, systemClock } from '../src/base/index.ts'
import { Spool } from '../src/document/index.ts'
import { HttpFetcher } from '../src/fetch/index.ts'
import { fetchOptions } from '../src/fetch/options.ts'
import type { CanonicalUrl } from '../src/url/index.ts'

const HOSTS = 64
const PAGE_BYTES = 14_000

/** Text that compresses about as well as HTML does (4:1), from a fixed seed. */
function pageBytes(): Buffer {
  const random = new Random('bench-fetch')
  const words = Array.from(
    { length: 300 },
    () => '<a href="/'.slice(0, random.below(10)) + random.next32().toString(36),
  )
  let text = '<!doctype html>'
  while (text.length < PAGE_BYTES) text += ` ${random.pick(words)}`
  return Buffer.from(text.slice(0, PAGE_BYTES))
}

function answer(body: Buffer, coding: string): Buffer {
  const head =
    `HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nServer: bench\r\nContent-Type: text/html; charset=utf-8\r\n` +
    `ETag: "5f1-62a"\r\nCache-Control: max-age=600\r\n${coding}Content-Length: ${body.length}\r\nConnection: keep-alive\r\n\r\n`
  return Buffer.concat([Buffer.from(head), body])
}

function serve(): void {
  const page = pageBytes()
  const plain = answer(page, '')
  const gzipped = answer(gzipSync(page), 'Content-Encoding: gzip\r\n')
  const server = createServer((socket) => {
    socket.setNoDelay(true)
    socket.on('data', (request) => socket.write(request.includes('GET /gzip') ? gzipped : plain))
    socket.on('error', () => socket.destroy())
  })
  server.listen(0, '0.0.0.0', () => process.send?.((server.address() as { port: number }).port))
}

async function cpuUs(pages: number, one: (host: number, page: number) => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  let next = 0
  const visit = async (host: number): Promise<void> => {
    while (next < pages) await one(host, next++)
  }
  await Promise.all(Array.from({ length: HOSTS }, (_, host) => visit(host)))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / pages
}

/** Looks at each byte of a page often enough to cost about what a crawl does with it. */
function workOn(bytes: Uint8Array): number {
  let sum = 0
  for (let round = 0; round < 12; round++) for (const byte of bytes) sum = (sum * 31 + byte) | 0
  return sum
}

const ipOf = (host: number): string => `127.0.1.${host + 1}`

/** The least there is: the request written, bytes counted as they come, nothing read in them or kept. */
class BareSocket {
  readonly #socket: Socket
  readonly #request: string
  #missing = 0
  #resolve: () => void = () => undefined

  constructor(ip: string, port: number, buffer: Buffer) {
    this.#request = `GET /p HTTP/1.1\r\nhost: ${ip}:${port}\r\nconnection: keep-alive\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n`
    const callback = (length: number): boolean => {
      this.#missing -= length
      if (this.#missing === 0) this.#resolve()
      return true
    }
    this.#socket = connect({ host: ip, port, noDelay: true, onread: { buffer, callback } })
  }

  ask(answerBytes: number): Promise<void> {
    this.#missing = answerBytes
    return new Promise((resolve) => {
      this.#resolve = resolve
      this.#socket.write(this.#request, 'latin1')
    })
  }

  close(): void {
    this.#socket.destroy()
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { pages: { type: 'string', default: '40000' }, runs: { type: 'string', default: '3' } },
  })
  const pages = Number(values.pages)
  const child = fork(fileURLToPath(import.meta.url), ['serve'])
  const [port] = (await once(child, 'message')) as [number]

  const shared = Buffer.alloc(65_536)
  const sockets = Array.from({ length: HOSTS }, (_, host) => new BareSocket(ipOf(host), port, shared))
  const answerBytes = answer(pageBytes(), '').length
  const bare = (host: number): Promise<void> => (sockets[host] as BareSocket).ask(answerBytes)

  const fetcher = new HttpFetcher(fetchOptions.parse({ allowPrivate: true }), new Spool(tmpdir(), 65_536), systemClock)
  const addresses = Array.from({ length: HOSTS }, (_, host) => [{ ip: ipOf(host), family: 4 as const }])
  const { signal } = new AbortController()
  const ours =
    (folder: string, work: (bytes: Uint8Array) => number = () => 0) =>
    async (host: number, page: number): Promise<void> => {
      const outcome = await fetcher.fetch(
        {
          url: `http://${ipOf(host)}:${port}/${folder}${page}` as CanonicalUrl,
          addresses: addresses[host] ?? [],
          purpose: 'page',
          isLast: false,
          acceptPartial: false,
        },
        signal,
      )
      if (outcome.kind !== 'fetched') throw new Error(JSON.stringify(outcome))
      const bytes = outcome.document.body.bytes()
      if (bytes.length !== PAGE_BYTES) throw new Error('a page of the wrong size')
      work(bytes)
      outcome.document.release()
    }

  const ways = {
    'bare socket': bare,
    fetcher: ours('p'),
    'fetcher, gzip': ours('gzip'),
    'fetcher, between work': ours('p', workOn),
  }
  const page = pageBytes()
  let workUs = Infinity
  const best: Record<string, number> = {}
  for (let run = 0; run <= Number(values.runs); run++) {
    for (const [name, way] of Object.entries(ways)) {
      const us = await cpuUs(pages, way)
      // The first round warms up.
      if (run > 0) best[name] = Math.min(best[name] ?? Infinity, us)
    }
    workUs = Math.min(workUs, await cpuUs(pages, async () => void workOn(page)))
  }
  best['fetcher, between work'] = (best['fetcher, between work'] as number) - workUs
  await fetcher.close()
  for (const socket of sockets) socket.close()
  child.kill()
  for (const [name, us] of Object.entries(best))
    console.log(`${name.padEnd(21)} ${us.toFixed(1)} µs CPU per page of 14 kB`)
  console.log(JSON.stringify({ bench: 'fetch', pages, hosts: HOSTS, cpuUsPerPage: best, node: process.version }))
}

if (process.argv[2] === 'serve') serve()
else await main()
