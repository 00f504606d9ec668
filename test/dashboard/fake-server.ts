// A server of the control API that makes everything up: for the dashboard's tests, and for working on it.
//
//   node test/dashboard/fake-server.ts       says where it is; npx vite dashboard -c dashboard/vite.config.ts serves pages that change

import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PATHS, type RouteName } from '../../src/control/paths.ts'
import { answerFake, type FakeAsked, Refusal } from './fake-answers.ts'
import { FakeCrawl } from './fake-crawl.ts'

const FILES = fileURLToPath(new URL('../../dist/dashboard', import.meta.url))
const KINDS: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

export interface FakeServer {
  readonly url: string
  readonly token: string
  readonly crawls: FakeCrawl[]
  /** What was asked, without its crawl: 'pause {}'. */
  readonly asked: string[]
  /** Streams that are open. */
  streams(): number
  breakStreams(): void
  close(): Promise<void>
}

export async function startFakeServer({ port = 0, tickMs = 1_000, files = FILES } = {}): Promise<FakeServer> {
  const token = 'a-token-for-tests'
  const crawls = [
    new FakeCrawl('north', 'running', true),
    new FakeCrawl('atlas', 'finished', false),
    new FakeCrawl('hostile', 'stopped', false),
  ]
  const asked: string[] = []
  const streams = new Set<{ crawl: FakeCrawl; response: ServerResponse; sent: number }>()
  const timer = setInterval(() => {
    for (const crawl of crawls) crawl.tick()
    for (const stream of streams) send(stream)
  }, tickMs)
  const send = (stream: { crawl: FakeCrawl; response: ServerResponse; sent: number }): void => {
    const { crawl, response } = stream
    response.write(`event: crawl\ndata: ${JSON.stringify(crawl.info())}\n\n`)
    for (const event of crawl.events.slice(stream.sent))
      response.write(`event: event\ndata: ${JSON.stringify(event)}\n\n`)
    stream.sent = crawl.events.length
  }
  const server = createServer((request, response) => {
    void (async () => {
      const url = new URL(request.url ?? '/', 'http://fake')
      response.setHeader(
        'content-security-policy',
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
      )
      response.setHeader('x-content-type-options', 'nosniff')
      if (!url.pathname.startsWith('/api/')) return sendFile(files, url.pathname, response)
      if (request.headers.authorization !== `Bearer ${token}`)
        return refuse(response, 401, 'unauthorised', 'a token is needed')
      const live = /^\/api\/crawls\/([^/]+)\/live$/.exec(url.pathname)
      const crawl = crawls.find(({ id }) => id === decodeURIComponent(live?.[1] ?? ''))
      if (live !== null && crawl !== undefined) {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const stream = { crawl, response, sent: crawl.events.length }
        streams.add(stream)
        response.on('close', () => streams.delete(stream))
        send(stream)
        return
      }
      const found = routeOf(request.method ?? 'GET', url.pathname)
      if (found === null) return refuse(response, 404, 'unknown-route', 'there is no such route')
      const body = await bodyOf(request)
      if (request.method !== 'GET') asked.push(`${found.name} ${JSON.stringify(body)}`)
      try {
        const given = { ...Object.fromEntries(url.searchParams), ...found.params, ...body } as FakeAsked
        const answer = answerFake(found.name, given, crawls)
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
        // What was done is told at once, as a crawl tells it.
        if (request.method !== 'GET') for (const stream of streams) send(stream)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        refuse(response, 400, 'invalid', error.message, error.fields)
      }
    })()
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    token,
    crawls,
    asked,
    streams: () => streams.size,
    breakStreams: () => {
      for (const { response } of streams) response.destroy()
    },
    close: () => closeServer(server, timer),
  }
}

function closeServer(server: Server, timer: ReturnType<typeof setInterval>): Promise<void> {
  clearInterval(timer)
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}

function routeOf(method: string, path: string): { name: RouteName; params: Record<string, string> } | null {
  for (const [name, route] of Object.entries(PATHS)) {
    if (route.method !== method) continue
    const pattern = new RegExp(`^${route.path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`)
    const match = pattern.exec(path)
    if (match === null) continue
    const params = Object.entries(match.groups ?? {}).map(([key, value]) => [key, decodeURIComponent(value)])
    return { name: name as RouteName, params: Object.fromEntries(params) as Record<string, string> }
  }
  return null
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
  fields?: readonly unknown[],
): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ error: { code, message, ...(fields === undefined ? {} : { fields }) } }))
}

function sendFile(folder: string, path: string, response: ServerResponse): void {
  const file = join(folder, normalize(path === '/' ? '/index.html' : path))
  if (!existsSync(file) || !statSync(file).isFile()) {
    response.writeHead(404).end()
    return
  }
  response.writeHead(200, { 'content-type': KINDS[extname(file)] ?? 'application/octet-stream' })
  createReadStream(file).pipe(response)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url, token } = await startFakeServer({ port: 7411, tickMs: 1_000 })
  console.log(`${url}#token=${token}`)
}
