// A fetcher on a stand: with its own server, clock and spool, asked by short words, and proven to have
// closed everything at the end.

import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TlsOptions } from 'node:tls'
import { expect } from 'vitest'
import { type Clock, ManualClock } from '../src/base/index.ts'
import { type Document, Spool } from '../src/document/index.ts'
import { type FetchOutcome, type FetchRequest, HttpFetcher } from '../src/fetch/index.ts'
import { fetchOptions } from '../src/fetch/options.ts'
import type { CanonicalUrl } from '../src/url/index.ts'
import { openDescriptors } from './open-descriptors.ts'
import { RawServer, type Script } from './raw-server.ts'

/** Another place than the stand's own server. */
interface Place {
  readonly scheme?: string
  readonly host?: string
  readonly port?: number
}

export interface Stand extends AsyncDisposable {
  readonly server: RawServer
  readonly clock: ManualClock
  readonly fetcher: HttpFetcher
  readonly spoolDirectory: string
  readonly controller: AbortController
  /** Asks the server for a path; the request may be changed. */
  ask(path?: string, change?: Partial<FetchRequest> & Place): Promise<FetchOutcome>
  /** The same, for answers that must be documents. They are released at the end. */
  document(path?: string, change?: Parameters<Stand['ask']>[1]): Promise<Document>
}

let standCount = 0

export async function openStand(
  script: Script,
  options: object | ((port: number) => object) = {},
  more: { readonly tls?: TlsOptions; readonly clock?: Clock; readonly env?: Record<string, string> } = {},
): Promise<Stand> {
  const descriptorsBefore = openDescriptors()
  const clock = new ManualClock()
  const spoolDirectory = join(tmpdir(), `portolan-stand-${process.pid}-${standCount++}`)
  const spool = new Spool(spoolDirectory, 65_536)
  const fetcherFor = (given: object): HttpFetcher => {
    const settings = fetchOptions.parse({ allowPrivate: true, ...given })
    return new HttpFetcher(settings, spool, more.clock ?? clock, more.env)
  }
  // Made first: options it refuses leave nothing open. Those that name the port must wait for it.
  const early = typeof options === 'function' ? null : fetcherFor(options)
  const server = await RawServer.open(script, more.tls ?? null)
  const fetcher = early ?? fetcherFor(typeof options === 'function' ? options(server.port) : options)
  mkdirSync(spoolDirectory)
  const controller = new AbortController()
  const documents: Document[] = []
  const ask: Stand['ask'] = async (path = '/', change = {}) => {
    const {
      host = '127.0.0.1',
      scheme = more.tls === undefined ? 'http' : 'https',
      port = server.port,
      ...rest
    } = change
    const outcome = await fetcher.fetch(
      {
        url: `${scheme}://${host}:${port}${path}` as CanonicalUrl,
        addresses: [{ ip: '127.0.0.1', family: 4 }],
        purpose: 'page',
        isLast: false,
        acceptPartial: false,
        ...rest,
      },
      controller.signal,
    )
    if (outcome.kind === 'fetched') documents.push(outcome.document)
    return outcome
  }
  return {
    server,
    clock,
    fetcher,
    spoolDirectory,
    controller,
    ask,
    async document(path, change) {
      const outcome = await ask(path, change)
      if (outcome.kind !== 'fetched') throw new Error(`not fetched: ${JSON.stringify(outcome)}`)
      return outcome.document
    },
    async [Symbol.asyncDispose]() {
      await fetcher.close()
      spool.close()
      await server.close()
      for (const document of documents) document.release()
      expect(fetcher.figures).toEqual({ clients: 0, underWay: 0 })
      expect(readdirSync(spoolDirectory)).toEqual([])
      rmSync(spoolDirectory, { recursive: true })
      // Sockets close a few turns of the event loop after they are destroyed.
      for (let turn = 0; turn < 1_000 && openDescriptors() > descriptorsBefore; turn++) {
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect(openDescriptors()).toBeLessThanOrEqual(descriptorsBefore)
    },
  }
}

/** A script that answers every request with the same bytes and keeps the connection. */
export function always(bytes: string | Buffer): Script {
  return (socket) => void socket.write(bytes, 'latin1')
}

/** The same, and closes. */
export function once(bytes: string | Buffer): Script {
  return (socket) => void socket.end(bytes, 'latin1')
}

export function answer(body: string | Buffer, head = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n'): Buffer {
  const bytes = Buffer.from(body as string)
  return Buffer.concat([Buffer.from(`${head}Content-Length: ${bytes.length}\r\n\r\n`, 'latin1'), bytes])
}
