// The typed client of the control API, for the dashboard, `portolan top`, and one server that passes on to another.
//
//   const client = createClient(fetchTransport('', token))             in a browser, or over TCP
//   const client = createClient(socketTransport('…/control.sock'))     of a process on this machine (socket-transport.ts)
//   const { items, next } = await client.call('pages', { crawl, host: 'example.org', text: 'harbour' })
//
// Loads nothing but the table of paths: types come from api.ts and are gone at run time. No Node module may be imported here.

import type { AnswerOf, BodyOf, CrawlEvent, CrawlInfo, ParamsOf } from './api.ts'
import { LIVE_PATH, PATHS, type RouteName } from './paths.ts'

export interface TransportRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  /** JSON. */
  readonly body: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal | null
}

export interface TransportAnswer {
  readonly status: number
  text(): Promise<string>
  /** The body as it comes. */
  chunks(): AsyncIterable<Uint8Array>
}

export type Transport = (request: TransportRequest) => Promise<TransportAnswer>

/** What the server refused, in its words. `status` 0: it was not reached, or did not speak this API. */
export class ControlError extends Error {
  readonly status: number
  readonly code: string
  /** Each field that is wrong, and why. */
  readonly fields: readonly { readonly where: string; readonly what: string }[]

  constructor(status: number, code: string, message: string, fields: ControlError['fields'] = [], cause?: unknown) {
    super(message, { cause })
    this.name = 'ControlError'
    this.status = status
    this.code = code
    this.fields = fields
  }
}

/** The body may be left out where all of it may. */
type Body<N extends RouteName> = [BodyOf<N>] extends [undefined]
  ? [body?: undefined, signal?: AbortSignal]
  : Record<string, never> extends BodyOf<N>
    ? [body?: BodyOf<N>, signal?: AbortSignal]
    : [body: BodyOf<N>, signal?: AbortSignal]

export interface LiveListener {
  /** The server is there: it has answered, or something came, if only to say so. */
  readonly onSign?: () => void
  readonly onInfo?: (info: CrawlInfo) => void
  readonly onEvent?: (event: CrawlEvent) => void
}

export interface ControlClient {
  call<N extends RouteName>(name: N, params: ParamsOf<N>, ...body: Body<N>): Promise<AnswerOf<N>>
  /** Tells what changes until the signal comes or the server ends it. Reconnecting is the caller's. */
  live(crawl: string, listener: LiveListener, signal?: AbortSignal): Promise<void>
  /** Text of a path beside the table: /metrics, /api/openapi.json. */
  text(path: string): Promise<string>
}

export interface ClientOptions {
  /** Who asks, for the record of changes: 'dashboard', 'top' … */
  readonly who?: string
}

export function createClient(transport: Transport, { who }: ClientOptions = {}): ControlClient {
  const headers = who === undefined ? {} : { 'x-portolan-who': who }
  const ask = async (method: string, path: string, body: string | null, signal: AbortSignal | null) => {
    const typed = body === null ? headers : { ...headers, 'content-type': 'application/json' }
    const answer = await transport({ method, path, body, headers: typed, signal })
    if (answer.status < 200 || answer.status > 299) throw refusal(answer.status, await answer.text())
    return answer
  }
  return {
    async call(name, params, ...[body, signal]) {
      const { method, path } = PATHS[name]
      const place = fillPath(path, params)
      const answer = await ask(method, place, method === 'GET' ? null : JSON.stringify(body ?? {}), signal ?? null)
      return parseJson(answer.status, await answer.text()) as AnswerOf<typeof name>
    },
    async live(crawl, listener, signal) {
      const answer = await ask('GET', fillPath(LIVE_PATH, { crawl }), null, signal ?? null)
      listener.onSign?.()
      for await (const { event, data } of serverSentEvents(told(answer.chunks(), listener.onSign))) {
        if (event === 'crawl') listener.onInfo?.(parseJson(answer.status, data) as CrawlInfo)
        else if (event === 'event') listener.onEvent?.(parseJson(answer.status, data) as CrawlEvent)
      }
    },
    text: async (path) => (await ask('GET', path, null, null)).text(),
  }
}

async function* told<T>(chunks: AsyncIterable<T>, tell: () => void = () => undefined): AsyncGenerator<T> {
  for await (const chunk of chunks) {
    tell()
    yield chunk
  }
}

/** Over TCP. `base` is '' for the server that a page came from. */
export function fetchTransport(base: string, token: string | null): Transport {
  return async ({ method, path, body, headers, signal }) => {
    const allHeaders = token === null ? headers : { ...headers, authorization: `Bearer ${token}` }
    const asked: RequestInit = {
      ...{ method, headers: allHeaders, body, signal, redirect: 'error' },
      // Figures of a moment, and the token is all there is to tell who we are.
      ...{ cache: 'no-store', credentials: 'omit' },
    }
    let response: Response
    try {
      response = await fetch(`${base}${path}`, asked)
    } catch (cause) {
      if (signal?.aborted === true) throw cause
      throw new ControlError(0, 'UNREACHABLE', 'the server cannot be reached', [], cause)
    }
    return { status: response.status, text: () => response.text(), chunks: () => chunksOf(response) }
  }
}

async function* chunksOf(response: Response): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader()
  if (reader === undefined) return
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value as Uint8Array
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** Params that the path names are put into it, the others into the query; undefined ones are left out. */
export function fillPath(path: string, params: Readonly<Record<string, string | number | undefined>>): string {
  const named = new Set<string>()
  const filled = path.replace(/:([a-z]+)/gi, (_, name: string) => {
    named.add(name)
    return encodeURIComponent(String(params[name]))
  })
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) {
    if (!named.has(name) && value !== undefined) query.set(name, String(value))
  }
  const text = query.toString()
  return text === '' ? filled : `${filled}?${text}`
}

function refusal(status: number, body: string): ControlError {
  try {
    const { error } = JSON.parse(body) as { error: { code: string; message: string; fields?: ControlError['fields'] } }
    return new ControlError(status, error.code, error.message, error.fields)
  } catch {
    return new ControlError(status, 'UNREADABLE', `the server answered ${status}, and not in the way of this API`)
  }
}

function parseJson(status: number, body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw new ControlError(status, 'UNREADABLE', 'the server did not answer in JSON', [], cause)
  }
}

/** Larger than any message of ours: a server that sends more in one speaks another language. */
const EVENT_LENGTH_MAX = 4 << 20

/** Reads `event:` and `data:` lines; comments, which keep the connection alive, are dropped. */
export async function* serverSentEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly event: string; readonly data: string }> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true })
    const parts = rest.split('\n\n')
    rest = parts.pop() ?? ''
    if (rest.length > EVENT_LENGTH_MAX) throw new ControlError(0, 'UNREADABLE', 'the server sends an event without end')
    for (const part of parts) {
      const lines = part.split('\n')
      const field = (name: string): string =>
        lines
          .filter((line) => line.startsWith(`${name}: `))
          .map((line) => line.slice(name.length + 2))
          .join('\n')
      if (field('data') !== '') yield { event: field('event'), data: field('data') }
    }
  }
}
