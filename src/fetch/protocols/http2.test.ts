// HTTP/2, with servers that keep its rules (those that do not: test/nasty). What is asked and what becomes of it is what it would
// be over HTTP/1.1.

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import type { Http2ServerRequest, Http2ServerResponse, SecureServerOptions } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createSecureContext, type TlsOptions } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { always, answer, openStand, type Stand } from '../../../test/fetch-stand.ts'
import { Http2Server } from '../../../test/http2-server.ts'
import { RawServer } from '../../../test/raw-server.ts'
import { startMicrosocks } from '../../../test/real-servers.ts'
import { openAuthority } from '../../../test/test-authority.ts'
import { readHttp2 } from '../../../testweb/nasty/http2-face.ts'
import { END_STREAM, frame, Frame, head, numbers, settings } from '../../../testweb/nasty/http2-frames.ts'
import { Certificates } from '../../../testweb/serve/certificates.ts'
import type { FetchRequest } from '../fetcher.ts'

const nobody = always(answer('not asked'))
/** For connections whose frames are read by hand. */
const mute = (): void => undefined
const here = [{ ip: '127.0.0.1', family: 4 as const }]
const { certificates, tls, directory, caFile } = openAuthority()
/** Of both kinds unless said otherwise, as most servers are. */
const BOTH: SecureServerOptions = { ...tls, allowHTTP1: true }
const ONLY_2: SecureServerOptions = { ...tls, allowHTTP1: false }

function ok(_request: Http2ServerRequest, response: Http2ServerResponse): void {
  response.setHeader('content-type', 'text/html')
  response.end('ok')
}

interface Asking {
  readonly stand: Stand
  readonly server: Http2Server
  readonly document: (path?: string, change?: Partial<FetchRequest>) => ReturnType<Stand['document']>
  readonly ask: (path?: string, change?: Partial<FetchRequest>) => ReturnType<Stand['ask']>
}

/** A stand before a server of HTTP/2, both closed and found empty at the end. */
async function withServer(
  { options = {}, serve = BOTH, respond = ok }: { options?: object; serve?: SecureServerOptions; respond?: typeof ok },
  use: (asking: Asking) => Promise<void>,
): Promise<void> {
  await using server = await Http2Server.open(serve, respond)
  await using stand = await openStand(nobody, { caFile, http2: 'offered', ...options })
  const place = { scheme: 'https', host: 'good.test', port: server.port, addresses: here }
  await use({
    stand,
    server,
    document: (path = '/', change = {}) => stand.document(path, { ...place, ...change }),
    ask: (path = '/', change = {}) => stand.ask(path, { ...place, ...change }),
  })
}

describe('which version', () => {
  test.each([
    ['off', BOTH, '1.1'],
    ['needed', BOTH, '1.1'],
    ['needed', ONLY_2, '2'],
    ['offered', BOTH, '2'],
    ['offered', ONLY_2, '2'],
  ] as const)('%s, to a server of %o: %s', async (http2, serve, version) => {
    await withServer({ options: { http2 }, serve }, async ({ document, server }) => {
      for (let i = 0; i < 3; i++) expect((await document(`/${i}`)).httpVersion).toBe(version)
      expect(server.asked.map((one) => one.version)).toEqual(Array(3).fill(version === '2' ? '2.0' : '1.1'))
      expect(server.connectionCount).toBe(1)
    })
  })

  test('without it a server of HTTP/2 alone fails by name, and is asked nothing', async () => {
    await withServer({ options: { http2: 'off' }, serve: ONLY_2 }, async ({ ask, server }) => {
      expect(await ask()).toMatchObject({
        kind: 'failed',
        code: 'FETCH_TLS_FAILED',
        detail: expect.stringContaining('no application protocol') as string,
      })
      expect(server.asked).toEqual([])
    })
  })

  test('a server that knows nothing of versions is spoken to in HTTP/1.1', async () => {
    for (const http2 of ['needed', 'offered']) {
      await using stand = await openStand(always(answer('old')), { caFile, http2 }, { tls })
      expect(await stand.document('/', { host: 'good.test' })).toMatchObject({ httpVersion: '1.1' })
    }
  })

  test('a server that refused HTTP/1.1 once is not offered it alone again', async () => {
    const refusals = { count: 0 }
    const serve: SecureServerOptions = {
      ...tls,
      ALPNCallback: ({ protocols }) => {
        if (protocols.includes('h2')) return 'h2'
        refusals.count++
        return undefined
      },
    }
    await withServer({ options: { http2: 'needed', keepAlive: '0ms' }, serve }, async ({ document, server }) => {
      for (let i = 0; i < 3; i++) expect((await document()).httpVersion).toBe('2')
      expect(refusals.count).toBe(1)
      expect(server.connectionCount).toBe(3)
    })
  })

  test('a server that answers HTTP/2 by wanting HTTP/1.1 is asked so next time', async () => {
    const respond = (request: Http2ServerRequest, response: Http2ServerResponse): void => {
      if (request.httpVersionMajor === 2) request.stream.close(0xd)
      else response.end('ok')
    }
    await withServer({ respond }, async ({ ask, document }) => {
      expect(await ask()).toMatchObject({ kind: 'failed', code: 'FETCH_CONNECTION_LOST', detail: /HTTP_1_1_REQUIRED/ })
      expect((await document()).httpVersion).toBe('1.1')
    })
  })

  test('over plain http it is HTTP/1.1', async () => {
    await using stand = await openStand(always(answer('plain')), { http2: 'offered' })
    expect((await stand.document()).httpVersion).toBe('1.1')
  })
})

describe('a request', () => {
  test('says what it would over HTTP/1.1, and is recorded as it went', async () => {
    const options = (port: number): object => ({
      caFile,
      http2: 'offered',
      contact: 'mailto:us@example.org',
      headers: { 'X-Campaign': 'spr\u00efng', 'Proxy-Connection': 'x' },
      logins: [{ host: `good.test:${port}`, user: 'ann', password: 'hush' }],
    })
    await using server = await Http2Server.open(BOTH, ok)
    await using stand = await openStand(nobody, options(server.port))
    const validators = { etag: '"x"', lastModified: 'Mon, 02 Jan 2023 03:04:05 GMT' }
    const document = await stand.document('/a?b=%C3%A9', {
      scheme: 'https',
      host: 'good.test',
      port: server.port,
      addresses: here,
      validators,
    })
    const [asked] = server.asked
    expect(asked?.path).toBe('/a?b=%C3%A9')
    expect(asked?.headers).toMatchObject({
      ':method': 'GET',
      ':scheme': 'https',
      ':authority': `good.test:${server.port}`,
      'accept-encoding': 'gzip, deflate, br, zstd',
      'x-campaign': 'spr\u00efng',
      authorization: `Basic ${Buffer.from('ann:hush').toString('base64')}`,
      'if-none-match': '"x"',
      'if-modified-since': 'Mon, 02 Jan 2023 03:04:05 GMT',
    })
    expect(asked?.headers).not.toHaveProperty('proxy-connection')
    const [start, ...lines] = document.requestHead.split('\r\n')
    expect(start).toBe('GET /a?b=%C3%A9 HTTP/1.1')
    const sent = Object.entries(asked?.headers ?? {}).filter(([name]) => !name.startsWith(':'))
    const expected = sent.map(([name, value]) => `${name}: ${name === 'authorization' ? '[withheld]' : String(value)}`)
    expect(lines.toSorted()).toEqual([`host: good.test:${server.port}`, ...expected, '', ''].toSorted())
  })

  test('carries the cookies of its host', async () => {
    const respond = (_request: Http2ServerRequest, response: Http2ServerResponse): void => {
      response.setHeader('set-cookie', ['a=1', 'b=2; Path=/'])
      response.end('ok')
    }
    await withServer({ respond }, async ({ document, server }) => {
      await document()
      await document()
      expect(server.asked.map((one) => one.headers['cookie'])).toEqual([undefined, 'a=1; b=2'])
    })
  })

  test('with HEAD has a head and no body, and keeps the connection', async () => {
    const respond = (_request: Http2ServerRequest, response: Http2ServerResponse): void => {
      response.setHeader('content-length', '5000')
      response.setHeader('content-type', 'text/html')
      response.end()
    }
    await withServer({ respond }, async ({ document, server }) => {
      for (let i = 0; i < 2; i++) {
        const head = await document('/', { method: 'HEAD' })
        expect(head).toMatchObject({ status: 200, truncated: null })
        expect(head.body.length).toBe(0)
        expect(head.header('content-length')).toBe('5000')
      }
      expect(server.connectionCount).toBe(1)
    })
  })
})

describe('an answer', () => {
  test('has the status, headers and body it would have, and a head written as HTTP/1.1', async () => {
    const respond = ({ stream }: Http2ServerRequest): void => {
      stream.respond({
        ':status': 404,
        'content-type': 'text/html; charset=utf-8',
        'x-name': 'caf\u00e9',
        'x-two': ['a', 'b'],
      })
      stream.end('gone')
    }
    await withServer({ respond }, async ({ document }) => {
      const gone = await document()
      expect(gone).toMatchObject({
        status: 404,
        statusText: '',
        httpVersion: '2',
        mediaType: 'text/html',
        ip: '127.0.0.1',
      })
      expect(gone.header('x-name')).toBe('caf\u00e9')
      expect(Buffer.from(gone.body.bytes()).toString()).toBe('gone')
      expect(gone.responseHead).toMatch(
        /^HTTP\/1\.1 404 Not Found\r\ncontent-type: text\/html; charset=utf-8\r\nx-name: caf\u00e9\r\nx-two: a\r\nx-two: b\r\ndate: [^\r]+\r\n\r\n$/,
      )
    })
  })

  test('is decompressed, and cut where it is too long, which costs the connection', async () => {
    const respond = (request: Http2ServerRequest, response: Http2ServerResponse): void => {
      if (request.url === '/gzip') {
        response.setHeader('content-encoding', 'gzip')
        response.end(gzipSync('packed'))
      } else response.end(Buffer.alloc(300_000, 'x'))
    }
    await withServer({ respond, options: { bodyMax: '100KiB' } }, async ({ document, server }) => {
      const packed = await document('/gzip')
      expect(packed.decoding).toBe('decoded')
      expect(Buffer.from(packed.body.bytes()).toString()).toBe('packed')
      const long = await document('/long')
      expect(long).toMatchObject({ truncated: 'length' })
      expect(long.body.length).toBe(100 * 1024)
      await server.untilAlone()
      await document('/gzip')
      expect(server.connectionCount).toBe(2)
    })
  })

  test('of megabytes comes whole, through whatever windows it needs', async () => {
    const body = Buffer.alloc(3_000_000, 'some words and more of them ')
    const respond = (_request: Http2ServerRequest, response: Http2ServerResponse): void => void response.end(body)
    await withServer({ respond }, async ({ document }) => {
      const { body: got } = await document()
      expect(Buffer.compare(Buffer.concat(Array.from(got.chunks(), (piece) => Buffer.from(piece))), body)).toBe(0)
    })
  })

  test('of a type or size that is not wanted is skipped at its head', async () => {
    const respond = (request: Http2ServerRequest, response: Http2ServerResponse): void => {
      response.setHeader('content-type', request.url === '/image' ? 'image/png' : 'text/html')
      response.setHeader('content-length', '2000000')
      response.write('begun')
    }
    const options = { rejectTypes: ['image/*'], announcedMax: '1MB' }
    await withServer({ respond, options }, async ({ ask, server }) => {
      expect(await ask('/image')).toMatchObject({ kind: 'skipped', reason: 'type-filtered' })
      expect(await ask('/large')).toMatchObject({ kind: 'skipped', reason: 'size-filtered' })
      await server.untilAlone()
    })
  })

  test('that does not come in time fails, and one that is stopped is over at once', async () => {
    const respond = (): void => undefined
    await withServer({ respond }, async ({ ask, server, stand }) => {
      const late = ask()
      while (server.asked.length < 1) await new Promise((resolve) => setImmediate(resolve))
      for (let i = 0; i < 31; i++) stand.clock.advance(1_000)
      expect(await late).toMatchObject({ code: 'FETCH_HEAD_TIMEOUT' })
      await server.untilAlone()
      const stopped = ask()
      while (server.asked.length < 2) await new Promise((resolve) => setImmediate(resolve))
      stand.controller.abort()
      expect(await stopped).toMatchObject({ code: 'FETCH_CONNECTION_LOST', detail: 'stopped' })
      await server.untilAlone()
    })
  })
})

describe('a connection', () => {
  test('carries one request after another, and is closed when it has been idle', async () => {
    await withServer({}, async ({ document, server, stand }) => {
      for (let i = 0; i < 20; i++) await document(`/${i}`)
      expect(server.connectionCount).toBe(1)
      for (let i = 0; i < 16; i++) stand.clock.advance(1_000)
      await server.untilAlone()
      expect(stand.fetcher.figures.clients).toBe(0)
    })
  })

  test('that the server takes leave of while it is idle is forgotten', async () => {
    await withServer({}, async ({ document, server, stand }) => {
      for (const leave of ['close', 'goaway', 'destroy'] as const) {
        await document()
        for (const session of server.sessions) session[leave]()
        while (stand.fetcher.figures.clients > 0) await new Promise((resolve) => setImmediate(resolve))
        // Having taken leave, Node's side does not listen to our closing any more.
        for (const session of server.sessions) session.destroy()
        await server.untilAlone()
      }
      await document()
      expect(server.connectionCount).toBe(4)
    })
  })

  test.each([
    [10_000, 1],
    [200_000, 0],
  ])('that brings %i bytes of noise while it is idle: %i is kept', async (noiseBytes, kept) => {
    await using stand = await openStand(mute, { caFile, http2: 'offered' }, { tls: { ...tls, ALPNProtocols: ['h2'] } })
    const noise = frame(0xfa, 0, 0, 'what is this')
    const said = { isOver: false }
    stand.server.onConnection = (socket) =>
      readHttp2(socket, (_path, stream) => () => {
        socket.write(Buffer.concat([head(stream), frame(Frame.data, END_STREAM, stream, 'ok')]))
        setImmediate(() => {
          const frames = Array.from({ length: Math.ceil(noiseBytes / noise.length) }, () => noise)
          socket.write(Buffer.concat(frames), () => (said.isOver = true))
        })
      })
    await stand.document('/', { host: 'good.test' })
    while (!said.isOver) await new Promise((resolve) => setImmediate(resolve))
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    stand.clock.advance(200)
    expect(stand.fetcher.figures.clients).toBe(kept)
  })

  test('whose server speaks first, in the same breath as its part of the handshake', async () => {
    const old: TlsOptions = { ...tls, ALPNProtocols: ['h2'], maxVersion: 'TLSv1.2' }
    await using stand = await openStand(mute, { caFile, http2: 'offered' }, { tls: old })
    stand.server.onConnection = (socket) => {
      // A window that is too large: whoever lost these bytes would go on.
      socket.write(Buffer.concat([settings(), frame(Frame.window, 0, 0, numbers(0x7fff_ffff))]))
      readHttp2(socket, () => null)
    }
    expect(await stand.ask('/', { host: 'good.test' })).toMatchObject({
      code: 'FETCH_HEAD_MALFORMED',
      detail: 'HTTP/2: Flow control error',
    })
  })

  test('two at once, against the rule, are both answered and leave one connection', async () => {
    const respond = (request: Http2ServerRequest, response: Http2ServerResponse): void => void response.end(request.url)
    await withServer({ respond }, async ({ document, stand }) => {
      const documents = await Promise.all([document('/a'), document('/b')])
      expect(documents.map((one) => Buffer.from(one.body.bytes()).toString())).toEqual(['/a', '/b'])
      expect(stand.fetcher.figures.clients).toBe(1)
    })
  })

  test('to an address that is private is not made', async () => {
    await withServer({ options: { allowPrivate: false } }, async ({ ask, server }) => {
      expect(await ask()).toMatchObject({ kind: 'skipped', reason: 'private-address' })
      expect(server.connectionCount).toBe(0)
    })
  })

  test('needs a certificate we trust', async () => {
    await withServer({}, async ({ ask, server }) => {
      for (const host of ['expired.test', 'self-signed.test']) {
        expect(await ask('/', { host } as Partial<FetchRequest>)).toMatchObject({ code: 'FETCH_TLS_FAILED' })
      }
      expect(server.asked).toEqual([])
    })
  })
})

describe('other ways out', () => {
  function tunnel(socket: Socket, head: string): void {
    socket.removeAllListeners('data')
    const upstream = connect(Number(/:(\d+) /.exec(head)?.[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(upstream).pipe(socket)
    })
    upstream.on('error', () => socket.destroy())
    socket.on('close', () => upstream.destroy())
  }

  test.each([
    ['needed', 'http'],
    ['offered', 'http'],
    ['offered', 'https'],
  ])('through the tunnel of a proxy (%s, %s)', async (http2, kind) => {
    const proxy = await RawServer.open(tunnel, kind === 'https' ? tls : null)
    const options = { http2, proxy: `${kind}://localhost:${proxy.port}` }
    await withServer({ options, serve: ONLY_2 }, async ({ document }) => {
      for (let i = 0; i < 2; i++) expect((await document('/', { addresses: [] })).httpVersion).toBe('2')
      expect(proxy.connectionCount).toBe(http2 === 'needed' ? 2 : 1)
    })
    await proxy.close()
  })

  test.each(['socks5', 'socks5h'])('through %s', async (kind) => {
    await using proxy = await startMicrosocks()
    const options = { proxy: `${kind}://127.0.0.1:${proxy.port}`, http2: 'needed', tls: 'accept-any' }
    await withServer({ options, serve: ONLY_2 }, async ({ document }) => {
      const host = kind === 'socks5' ? 'good.test' : 'localhost'
      const change: Partial<FetchRequest> & { host: string } = { host, addresses: kind === 'socks5' ? here : [] }
      expect((await document('/', change)).httpVersion).toBe('2')
    })
  })

  test('a client certificate is shown', async () => {
    const clients = new Certificates(Date.now())
    const [certFile, keyFile] = [join(directory, 'client.pem'), join(directory, 'client-key.pem')]
    writeFileSync(certFile, clients.certificateFor('client.test'))
    writeFileSync(keyFile, clients.key)
    const context = createSecureContext({
      cert: certificates.certificateFor('good.test'),
      key: certificates.key,
      ca: clients.authority,
    })
    const serve: SecureServerOptions = {
      SNICallback: (_name, done) => done(null, context),
      requestCert: true,
      rejectUnauthorized: true,
      ca: clients.authority,
    }
    const clientCertificates = [{ hosts: ['good.test'], certFile, keyFile }]
    await withServer({ options: { clientCertificates }, serve }, async ({ document, ask }) => {
      expect((await document()).httpVersion).toBe('2')
      expect(await ask('/', { host: 'other.test' } as Partial<FetchRequest>)).toMatchObject({ kind: 'failed' })
    })
  })
})

test('what speaks HTTP/2 is loaded where it is asked for, and not before', () => {
  const script = `import { fetchOptions } from './src/fetch/options.ts'; import { HttpFetcher } from './src/fetch/index.ts'
    for (const http2 of ['off', 'offered']) {
      const fetcher = new HttpFetcher(fetchOptions.parse({ http2 }), null, { nowMs: () => 0, wallMs: () => 0, callAt: () => () => undefined })
      const request = { url: 'http://127.0.0.1/', addresses: [{ ip: '127.0.0.1', family: 4 }], purpose: 'page', isLast: true, acceptPartial: false }
      console.log((await fetcher.fetch(request, new AbortController().signal)).reason)
      console.log(process.moduleLoadList.includes('NativeModule http2'))
    }`
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect(said.trim().split('\n')).toEqual(['private-address', 'false', 'private-address', 'true'])
})
