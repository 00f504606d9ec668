// Single requests to an S3-compatible store: signed, sent with limits of our own, and asked again where that is a cure.
//
//   ask() ─ sign ─▶ send ─▶ 2xx: the answer
//      ▲                ├─ 307, 308 ─▶ sent to where it says, signed for that host
//      │                ├─ our clock is wrong ─▶ signed by theirs
//      │                ├─ another region ─▶ signed for that
//      └── wait a bit ──┴─ 429, 5xx, broken or silent connection: a few times, then a Fault
//
// Every request is harmless when it is made twice. Bodies come from files, a window at a time; answers are read up to a bound.

import { createReadStream } from 'node:fs'
import { Agent as PlainAgent, type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { pipeline } from 'node:stream/promises'
import { type Clock, Fault, type Random } from '../base/index.ts'
import { textIn } from './s3-xml.ts'
import { type Credentials, encodePath, queryText, sign } from './sigv4.ts'

export interface S3Place {
  /** `https://s3.eu-central-1.amazonaws.com`; without a path. */
  readonly endpoint: URL
  readonly bucket: string
  readonly region: string
  /** The bucket in the path, or in the name of the host. */
  readonly isPathStyle: boolean
}

export interface S3ClientSettings {
  readonly place: S3Place
  readonly credentials: () => Promise<Credentials>
  readonly clock: Clock
  readonly random: Random
  /** PEM of who may vouch for the store, beside nobody else; null for whom the system trusts. */
  readonly ca: string | null
  readonly connections: number
  /** A connection on which nothing moves for so long is broken. */
  readonly silenceMs: number
}

/** A stretch of a file. */
export interface FilePart {
  readonly path: string
  readonly start: number
  /** Behind the last byte. */
  readonly end: number
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Null for the bucket itself. */
  readonly key: string | null
  readonly query?: readonly (readonly [string, string])[]
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: FilePart | string
  /** Of the body: 64 hexadecimal digits. */
  readonly sha256: string
  readonly signal: AbortSignal
  readonly onBytes?: (bytes: number) => void
}

export interface S3Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

const TRIES = 4
const REDIRECTS_MAX = 3
/** S3 refuses what is signed a quarter of an hour before or after its own time. */
const SKEW_MS = 5 * 60_000
/** Waited before the second try; doubles. */
const PAUSE_MS = 200
const ANSWER_BYTES_MAX = 4 * 2 ** 20
const WINDOW_BYTES = 2 ** 18

/** An answer that is none of those the caller can use. */
export class S3Refusal extends Fault {
  readonly status: number
  /** As S3 names it: AccessDenied, NoSuchUpload …; the status where it does not say. */
  readonly reason: string

  constructor(answer: S3Answer, what: string) {
    const reason = textIn(answer.text, 'Code') ?? `status ${answer.status}`
    const message = textIn(answer.text, 'Message') ?? ''
    const isPassing = answer.status >= 500 || answer.status === 429
    super(
      isPassing ? 'SHELF_UNREACHABLE' : 'SHELF_REFUSED',
      `${what}: ${reason}${message === '' ? '' : ` (${message.slice(0, 300)})`}`,
    )
    this.status = answer.status
    this.reason = reason
  }
}

export class S3Client {
  readonly #settings: S3ClientSettings
  readonly #agents: { readonly plain: PlainAgent; readonly tls: TlsAgent }
  #region: string
  /** What their clock says beyond ours. */
  #skewMs = 0

  constructor(settings: S3ClientSettings) {
    this.#settings = settings
    this.#region = settings.place.region
    const limits = { keepAlive: true, maxSockets: settings.connections, timeout: settings.silenceMs }
    this.#agents = {
      plain: new PlainAgent(limits),
      tls: new TlsAgent({ ...limits, ...(settings.ca === null ? {} : { ca: settings.ca }) }),
    }
  }

  /** Throws a Fault for any status that is not in `expected`. */
  async ask(request: S3Request, expected: readonly number[] = [200]): Promise<S3Answer> {
    const what = `${request.method} ${this.#urlOf(request).href.replace(/\?.*/, '')}`
    for (let attempt = 1; ; attempt++) {
      let trouble: Fault
      try {
        const answer = await this.#askOnce(request)
        // S3 begins to answer before it knows: an error may stand in a 200.
        const isError = answer.status === 200 && /^[^<]*(?:<\?[^>]*>\s*)?<Error>/.test(answer.text)
        if (expected.includes(answer.status) && !isError) return answer
        trouble = new S3Refusal(isError ? { ...answer, status: 500 } : answer, what)
        if (trouble.code !== 'SHELF_UNREACHABLE') throw trouble
      } catch (cause) {
        request.signal.throwIfAborted()
        if (cause instanceof Fault) {
          if (cause.code !== 'SHELF_UNREACHABLE') throw cause
          trouble = cause
        } else if (isDistrust(cause)) throw new Fault('SHELF_REFUSED', `${what}: ${wordsOf(cause)}`, cause)
        else trouble = new Fault('SHELF_UNREACHABLE', `${what}: ${wordsOf(cause)}`, cause)
      }
      if (attempt === TRIES) throw trouble
      const pauseMs = PAUSE_MS * 2 ** (attempt - 1)
      await this.#wait(pauseMs / 2 + this.#settings.random.fraction() * pauseMs, request.signal)
    }
  }

  close(): void {
    this.#agents.plain.destroy()
    this.#agents.tls.destroy()
  }

  #urlOf({ key, query = [] }: S3Request): URL {
    const { endpoint, bucket, isPathStyle } = this.#settings.place
    const url = new URL(endpoint)
    if (!isPathStyle) url.hostname = `${bucket}.${url.hostname}`
    const path = [...(isPathStyle ? [bucket] : []), ...(key === null ? [] : [key])].join('/')
    // Encoded so far that a URL leaves it alone: what is signed is what is sent.
    url.pathname = `/${encodePath(path)}`
    url.search = queryText(query)
    return url
  }

  async #askOnce(request: S3Request): Promise<S3Answer> {
    let url = this.#urlOf(request)
    let isClockSet = false
    let isRegionSet = false
    for (let hops = 0; ;) {
      const answer = await this.#send(url, request)
      const { location } = answer.headers
      if ((answer.status === 307 || answer.status === 308) && location !== undefined && hops < REDIRECTS_MAX) {
        const next = new URL(location, url)
        // Never from a connection that is private to one that is not.
        if (next.protocol !== url.protocol) return answer
        url = next
        hops++
        continue
      }
      // An answer to HEAD has no body that could say it: their date and ours do.
      const theirMs = Date.parse(answer.headers.date ?? '')
      const isSkewed = Math.abs(theirMs - this.#settings.clock.wallMs() - this.#skewMs) > SKEW_MS
      if (answer.status === 403 && isSkewed && !isClockSet) {
        isClockSet = true
        this.#skewMs = theirMs - this.#settings.clock.wallMs()
        continue
      }
      const region = answer.headers['x-amz-bucket-region'] ?? textIn(answer.text, 'Region')
      const isElsewhere = answer.status === 301 || answer.status === 400
      if (isElsewhere && !isRegionSet && typeof region === 'string' && region !== this.#region) {
        isRegionSet = true
        this.#region = region
        const endpoint = textIn(answer.text, 'Endpoint')
        if (answer.status === 301 && endpoint !== null && /^[\w.-]+$/.test(endpoint)) url.host = endpoint
        continue
      }
      return answer
    }
  }

  async #send(url: URL, request: S3Request): Promise<S3Answer> {
    const { method, headers = {}, body, sha256, signal } = request
    const length = body === undefined ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.end - body.start
    const own: Record<string, string> = { ...headers }
    if (method === 'PUT' || method === 'POST') own['content-length'] = String(length)
    const { clock, silenceMs } = this.#settings
    const signed = sign(
      { method, host: url.host, path: url.pathname, query: [...url.searchParams], headers: own, sha256 },
      {
        credentials: await this.#settings.credentials(),
        region: this.#region,
        service: 's3',
        wallMs: clock.wallMs() + this.#skewMs,
      },
    )
    const isTls = url.protocol === 'https:'
    const options = {
      method,
      hostname: url.hostname.replaceAll(/[[\]]/g, ''),
      port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
      path: `${url.pathname}${url.search}`,
      headers: { ...own, ...signed, host: url.host },
      agent: isTls ? this.#agents.tls : this.#agents.plain,
      timeout: silenceMs,
      signal,
    }
    const outgoing = isTls ? tlsRequest(options) : plainRequest(options)
    outgoing.on('timeout', () => outgoing.destroy(new Error(`nothing moved for ${silenceMs} ms`)))
    const answered = answerOf(outgoing)
    // Whoever sends is told of the same trouble; once is enough.
    const sent = sendBody(outgoing, body, request.onBytes)
    sent.catch(() => {})
    const answer = await answered
    // A store may answer before it has taken everything; then it takes no more.
    if (!outgoing.writableFinished) outgoing.destroy()
    return answer
  }

  #wait(ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#settings
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        cancel()
        reject(signal.reason as Error)
      }
      const cancel = clock.callAt((clock.nowMs() + ms) as ReturnType<Clock['nowMs']>, () => {
        signal.removeEventListener('abort', stop)
        resolve()
      })
      signal.addEventListener('abort', stop, { once: true })
    })
  }
}

async function sendBody(
  outgoing: ClientRequest,
  body: S3Request['body'],
  onBytes: S3Request['onBytes'],
): Promise<void> {
  if (body === undefined || typeof body === 'string') {
    outgoing.end(body)
    return
  }
  if (body.start === body.end) {
    outgoing.end()
    return
  }
  const { path, start, end } = body
  const file = createReadStream(path, { start, end: end - 1, highWaterMark: WINDOW_BYTES })
  if (onBytes !== undefined) file.on('data', (piece) => onBytes(piece.length))
  await pipeline(file, outgoing)
}

function answerOf(outgoing: ClientRequest): Promise<S3Answer> {
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject)
    outgoing.on('response', (incoming: IncomingMessage) => {
      const pieces: Buffer[] = []
      let bytes = 0
      incoming.on('data', (piece: Buffer) => {
        bytes += piece.length
        if (bytes > ANSWER_BYTES_MAX) {
          const isMuch = new Fault('SHELF_REFUSED', `an answer of more than ${ANSWER_BYTES_MAX} bytes is none of S3's`)
          incoming.destroy(isMuch)
        } else pieces.push(piece)
      })
      incoming.on('error', reject)
      incoming.on('end', () => {
        const text = Buffer.concat(pieces).toString('utf8')
        if (incoming.complete) resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text })
        else reject(new Error('the answer was cut off'))
      })
    })
  })
}

/** Of its certificate: asking again does not make it better. */
function isDistrust(cause: unknown): boolean {
  return /CERT|UNABLE_TO_VERIFY|ERR_TLS/.test((cause as NodeJS.ErrnoException).code ?? '')
}

function wordsOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException
  // Of several addresses that were tried, node tells in an error without words.
  return message || code || String(cause)
}
