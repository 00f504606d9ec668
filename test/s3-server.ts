// An S3-compatible store for tests, stricter than those in the world: it checks every signature by its own reading of the
// specification (sharing no line with src/shelf), every digest that is sent, the rules of uploads in parts, and the clock.
// And it misbehaves on request.

import { createHash, createHmac, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TlsOptions } from 'node:tls'

export const ACCESS_KEY = 'AKIATESTTESTTESTTEST'
export const SECRET_KEY = 'abcdefghijklmnopqrstuvwxyz/+0123456789AB'

export interface StoredObject {
  readonly body: Buffer
  readonly etag: string
  readonly meta: Readonly<Record<string, string>>
  readonly checksum: string | null
}

interface StoredPart {
  readonly body: Buffer
  readonly etag: string
  readonly checksum: string | null
}

interface Upload {
  readonly key: string
  readonly initiated: string
  readonly meta: Readonly<Record<string, string>>
  readonly parts: Map<number, StoredPart>
}

export type Operation =
  | 'head'
  | 'put'
  | 'create'
  | 'part'
  | 'complete'
  | 'list-uploads'
  | 'list-parts'
  | 'abort'
  | 'get'

/** What goes wrong with one request, before anything is done unless it says so. */
export type Misdeed =
  | 'error-500'
  | 'slow-down'
  | 'reset'
  /** Takes some of the body, then nothing moves any more. */
  | 'silence'
  /** Does it, and breaks the connection before it answers. */
  | 'reset-after'
  /** Says 200 and tells of an error in the body. */
  | 'error-in-200'
  /** Does it, and says another ETag than it will. */
  | 'wrong-etag'
  | 'denied'
  | 'not-implemented'
  | 'redirect'

export interface S3ServerOptions {
  readonly bucket?: string
  readonly region?: string
  /** Of every part but the last. */
  readonly partBytesMin?: number
  /** Parts in one answer. */
  readonly listedMax?: number
  /** Whether it knows x-amz-checksum-sha256, or takes no notice of it as older ones do. */
  readonly knowsChecksums?: boolean
  /** Beyond the time of this machine. */
  readonly clockMs?: number
  readonly tls?: TlsOptions
  /** Asked of each request that is properly signed, with how many of this kind came before. */
  readonly misdeed?: (operation: Operation, count: number) => Misdeed | null
}

export class S3Server implements AsyncDisposable {
  readonly objects = new Map<string, StoredObject>()
  readonly uploads = new Map<string, Upload>()
  readonly log: Operation[] = []
  /** Requests whose signature is not right, with the text that should have been signed. */
  readonly badSignatures: string[] = []
  readonly #options: S3ServerOptions
  readonly #server: ReturnType<typeof createServer>
  misdeed: NonNullable<S3ServerOptions['misdeed']>

  private constructor(options: S3ServerOptions) {
    this.#options = options
    this.misdeed = options.misdeed ?? (() => null)
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      this.#answer(request, response).catch((cause: unknown) => {
        response.writeHead(599).end(String(cause))
      })
    }
    this.#server = options.tls === undefined ? createServer(answer) : createTlsServer(options.tls, answer)
  }

  static async start(options: S3ServerOptions = {}): Promise<S3Server> {
    const server = new S3Server(options)
    await new Promise<void>((resolve) => {
      server.#server.listen(0, '127.0.0.1', resolve)
    })
    return server
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get endpoint(): string {
    return this.#options.tls === undefined ? `http://127.0.0.1:${this.port}` : `https://localhost:${this.port}`
  }

  get bucket(): string {
    return this.#options.bucket ?? 'crawls'
  }

  count(operation: Operation): number {
    return this.log.filter((one) => one === operation).length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => {
      this.#server.close(resolve)
    })
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://x')
    const [, bucket = '', ...rest] = url.pathname.split('/').map((part) => decodeURIComponent(part))
    const key = rest.join('/')
    const operation = operationOf(request.method ?? '', url.searchParams, key)
    const complaint = this.#judge(request, url)
    if (complaint !== null) {
      request.resume()
      return complaint(response, request.method === 'HEAD')
    }
    const misdeed = this.misdeed(operation, this.count(operation))
    this.log.push(operation)
    if (misdeed === 'reset') return void request.socket.destroy()
    if (misdeed === 'silence') return void request.once('data', () => request.pause())
    if (misdeed === 'redirect') {
      request.resume()
      const there = `${this.endpoint}${request.url}${url.search === '' ? '?' : '&'}hop=1`
      return void response.writeHead(307, { location: there }).end()
    }
    const body = await bodyOf(request)
    if (body === null) return
    if (misdeed === 'error-500') return fail(response, 500, 'InternalError', 'try again')
    if (misdeed === 'slow-down') return fail(response, 503, 'SlowDown', 'please reduce your rate')
    if (misdeed === 'denied') return fail(response, 403, 'AccessDenied', 'not you')
    if (misdeed === 'not-implemented') return fail(response, 501, 'NotImplemented', 'not here')
    if (misdeed === 'error-in-200') {
      return void response.writeHead(200).end('<?xml version="1.0"?>\n<Error><Code>InternalError</Code></Error>')
    }
    const wrong = this.#wrongDigest(request, body)
    if (wrong !== null) return fail(response, 400, wrong, 'the body is not what its digest says')
    if (bucket !== this.bucket) return fail(response, 404, 'NoSuchBucket', bucket)
    const isLost = misdeed === 'reset-after'
    const send = (status: number, headers: Record<string, string>, text = ''): void => {
      if (isLost) return void request.socket.destroy()
      const own = misdeed === 'wrong-etag' && 'etag' in headers ? { ...headers, etag: '"0000"' } : headers
      const said = misdeed === 'wrong-etag' ? text.replace(/<ETag>.*<\/ETag>/, '<ETag>"0000"</ETag>') : text
      response.writeHead(status, { date: this.#now.toUTCString(), ...own }).end(said)
    }
    this.#perform(operation, request, url.searchParams, key, body, send)
  }

  get #now(): Date {
    return new Date(Date.now() + (this.#options.clockMs ?? 0))
  }

  #perform(
    operation: Operation,
    request: IncomingMessage,
    query: URLSearchParams,
    key: string,
    body: Buffer,
    send: (status: number, headers: Record<string, string>, text?: string) => void,
  ): void {
    const { partBytesMin = 0, listedMax = 1_000, knowsChecksums = true } = this.#options
    const refuse = (status: number, code: string): void => send(status, {}, `<Error><Code>${code}</Code></Error>`)
    const said = request.headers['x-amz-checksum-sha256']
    const checksum = knowsChecksums && typeof said === 'string' ? said : null
    const upload = this.uploads.get(query.get('uploadId') ?? '')
    if (['part', 'complete', 'list-parts', 'abort'].includes(operation) && upload?.key !== key) {
      return refuse(404, 'NoSuchUpload')
    }
    switch (operation) {
      case 'put': {
        const etag = md5(body)
        this.objects.set(key, { body, etag, meta: metaOf(request), checksum })
        return send(200, { etag: `"${etag}"` })
      }
      case 'get':
      case 'head': {
        const object = this.objects.get(key)
        if (object === undefined) return refuse(404, 'NoSuchKey')
        const asked = request.headers['x-amz-checksum-mode'] === 'ENABLED' && object.checksum !== null
        return send(200, {
          'content-length': String(object.body.length),
          etag: `"${object.etag}"`,
          ...object.meta,
          ...(asked ? { 'x-amz-checksum-sha256': object.checksum } : {}),
        })
      }
      case 'create': {
        const id = randomBytes(8).toString('hex')
        const initiated = new Date(Date.now() + this.uploads.size).toISOString()
        this.uploads.set(id, { key, initiated, meta: metaOf(request), parts: new Map() })
        return send(
          200,
          {},
          `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
        )
      }
      case 'part': {
        const etag = md5(body)
        upload?.parts.set(Number(query.get('partNumber')), { body, etag, checksum })
        return send(200, { etag: `"${etag}"` })
      }
      case 'list-uploads': {
        const rows = [...this.uploads]
          .filter(([, one]) => one.key.startsWith(query.get('prefix') ?? ''))
          .map(
            ([id, one]) =>
              `<Upload><Key>${one.key.replaceAll('&', '&amp;')}</Key><UploadId>${id}</UploadId><Initiated>${one.initiated}</Initiated></Upload>`,
          )
        return send(200, {}, `<ListMultipartUploadsResult>${rows.join('')}</ListMultipartUploadsResult>`)
      }
      case 'list-parts': {
        const after = Number(query.get('part-number-marker') ?? 0)
        const all = [...(upload?.parts ?? [])].filter(([number]) => number > after).sort(([a], [b]) => a - b)
        const page = all.slice(0, listedMax)
        const rows = page.map(
          ([number, part]) =>
            `<Part><PartNumber>${number}</PartNumber><ETag>&quot;${part.etag}&quot;</ETag><Size>${part.body.length}</Size>` +
            `${part.checksum === null ? '' : `<ChecksumSHA256>${part.checksum}</ChecksumSHA256>`}</Part>`,
        )
        const more = all.length > page.length
        return send(
          200,
          {},
          `<ListPartsResult><IsTruncated>${more}</IsTruncated><NextPartNumberMarker>${page.at(-1)?.[0] ?? 0}</NextPartNumberMarker>${rows.join('')}</ListPartsResult>`,
        )
      }
      case 'abort':
        this.uploads.delete(query.get('uploadId') ?? '')
        return send(204, {})
      case 'complete': {
        const listed = [...body.toString().matchAll(/<Part>(.*?)<\/Part>/g)].map(([, part = '']) => ({
          number: Number(/<PartNumber>(\d+)</.exec(part)?.[1]),
          etag: /<ETag>"?(.*?)"?<\/ETag>/.exec(part)?.[1],
          checksum: /<ChecksumSHA256>(.*?)</.exec(part)?.[1] ?? null,
        }))
        const parts: StoredPart[] = []
        for (const [index, { number, etag, checksum: sent }] of listed.entries()) {
          const part = upload?.parts.get(number)
          if (part === undefined || part.etag !== etag) return refuse(400, 'InvalidPart')
          if (part.checksum !== null && part.checksum !== sent) return refuse(400, 'InvalidPart')
          if (index > 0 && number <= (listed[index - 1]?.number ?? 0)) return refuse(400, 'InvalidPartOrder')
          if (index < listed.length - 1 && part.body.length < partBytesMin) return refuse(400, 'EntityTooSmall')
          parts.push(part)
        }
        const etag = `${md5(Buffer.concat(parts.map((part) => Buffer.from(part.etag, 'hex'))))}-${parts.length}`
        const sums = parts.map((part) => Buffer.from(part.checksum ?? '', 'base64'))
        this.objects.set(key, {
          body: Buffer.concat(parts.map((part) => part.body)),
          etag,
          meta: upload?.meta ?? {},
          checksum: knowsChecksums ? `${sha256(Buffer.concat(sums)).toString('base64')}-${parts.length}` : null,
        })
        this.uploads.delete(query.get('uploadId') ?? '')
        return send(200, {}, `<CompleteMultipartUploadResult><ETag>"${etag}"</ETag></CompleteMultipartUploadResult>`)
      }
    }
  }

  /** Reads the signature as the specification says it is made. Null where it is right. */
  #judge(request: IncomingMessage, url: URL): ((response: ServerResponse, isHead: boolean) => void) | null {
    const refuse = (status: number, code: string, more = '', headers = {}) => {
      return (response: ServerResponse, isHead: boolean): void => {
        response.writeHead(status, { date: this.#now.toUTCString(), ...headers })
        response.end(isHead ? '' : `<Error><Code>${code}</Code>${more}</Error>`)
      }
    }
    const authorization =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/
    const [, accessKey, day = '', region = '', names = '', signature] =
      authorization.exec(request.headers.authorization ?? '') ?? []
    if (accessKey !== ACCESS_KEY) return refuse(403, 'InvalidAccessKeyId')
    const own = this.#options.region ?? 'us-east-1'
    if (region !== own) {
      return refuse(400, 'AuthorizationHeaderMalformed', `<Region>${own}</Region>`, { 'x-amz-bucket-region': own })
    }
    const date = String(request.headers['x-amz-date'])
    const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? []
    const sentMs = Date.UTC(Number(y), Number(mo) - 1, Number(d), Number(h), Number(mi), Number(s))
    if (!date.startsWith(day) || !(Math.abs(sentMs - this.#now.getTime()) < 900_000)) {
      return refuse(403, 'RequestTimeTooSkewed', `<ServerTime>${this.#now.toISOString()}</ServerTime>`)
    }
    const signed = names.split(';')
    // Every header that means something to us must be signed.
    const unsigned = Object.keys(request.headers).find((name) => name.startsWith('x-amz-') && !signed.includes(name))
    if (unsigned !== undefined || !signed.includes('host')) return refuse(403, 'AccessDenied', `unsigned ${unsigned}`)
    let text = `${request.method}\n${(request.url ?? '').split('?')[0]}\n`
    const query = (request.url ?? '').split('?')[1] ?? ''
    text +=
      query === ''
        ? ''
        : query
            .split('&')
            .toSorted()
            .map((one) => (one.includes('=') ? one : `${one}=`))
            .join('&')
    text += '\n'
    for (const name of signed) text += `${name}:${String(request.headers[name]).trim()}\n`
    text += `\n${names}\n${String(request.headers['x-amz-content-sha256'])}`
    const toSign = `AWS4-HMAC-SHA256\n${date}\n${day}/${region}/s3/aws4_request\n${sha256(Buffer.from(text)).toString('hex')}`
    let key = hmac(Buffer.from(`AWS4${SECRET_KEY}`), day)
    key = hmac(hmac(hmac(key, region), 's3'), 'aws4_request')
    if (hmac(key, toSign).toString('hex') === signature) return null
    this.badSignatures.push(`${url.href}\n${text}`)
    return refuse(403, 'SignatureDoesNotMatch')
  }

  #wrongDigest(request: IncomingMessage, body: Buffer): string | null {
    if (sha256(body).toString('hex') !== request.headers['x-amz-content-sha256']) return 'XAmzContentSHA256Mismatch'
    const checksum = request.headers['x-amz-checksum-sha256']
    if (checksum !== undefined && sha256(body).toString('base64') !== checksum) return 'BadDigest'
    return null
  }
}

function operationOf(method: string, query: URLSearchParams, key: string): Operation {
  if (method === 'HEAD') return 'head'
  if (method === 'DELETE') return 'abort'
  if (method === 'PUT') return query.has('uploadId') ? 'part' : 'put'
  if (method === 'POST') return query.has('uploads') ? 'create' : 'complete'
  if (key === '' && query.has('uploads')) return 'list-uploads'
  return query.has('uploadId') ? 'list-parts' : 'get'
}

/** Null where the sender gave up. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const pieces: Buffer[] = []
  try {
    for await (const piece of request) pieces.push(piece as Buffer)
  } catch {
    return null
  }
  return Buffer.concat(pieces)
}

function fail(response: ServerResponse, status: number, code: string, message: string): void {
  response.writeHead(status).end(`<Error><Code>${code}</Code><Message>${message}</Message></Error>`)
}

function metaOf(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      name.startsWith('x-amz-meta-') ? [[name, String(value)]] : [],
    ),
  )
}

function md5(body: Buffer): string {
  return createHash('md5').update(body).digest('hex')
}

function sha256(body: Buffer): Buffer {
  return createHash('sha256').update(body).digest()
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
