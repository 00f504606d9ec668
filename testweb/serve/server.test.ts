// The web over real sockets: every variant arrives as it should, byte for byte where bytes matter.

import { connect, type Socket } from 'node:net'
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Variant } from '../content/variant.ts'
import { startTestWeb, type TestWeb } from '../test-web.ts'

let testWeb: TestWeb
beforeAll(async () => {
  testWeb = await startTestWeb({
    hosts: 3,
    pages: 20,
    meanBytes: 6_000,
    slowMs: 40,
    throttleTimes: 2,
    retryAfterS: 2,
    changePeriodMs: 1_000,
  })
})
afterAll(() => testWeb.stop())

interface Reply {
  readonly line: string
  readonly headers: Map<string, string>
  readonly body: Buffer
}

/** Sends bytes as they are and returns what came until the connection ended. */
function exchange(bytes: string, ip = '127.1.0.1', onSocket?: (socket: Socket) => void): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = connect(testWeb.port, ip)
    const parts: Buffer[] = []
    onSocket?.(socket)
    socket.on('data', (part: Buffer) => parts.push(part))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(Buffer.concat(parts)))
    socket.write(bytes)
  })
}

function readReply(bytes: Buffer): Reply {
  const end = bytes.indexOf('\r\n\r\n')
  const [line = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const headers = new Map(
    lines.map((each) => [each.slice(0, each.indexOf(':')).toLowerCase(), each.slice(each.indexOf(':') + 1).trim()]),
  )
  return { line, headers, body: bytes.subarray(end + 4) }
}

/** One request on a connection of its own. */
async function ask(path: string, headers = '', method = 'GET'): Promise<Reply> {
  return readReply(
    await exchange(`${method} ${path} HTTP/1.1\r\nHost: 127.1.0.1\r\nConnection: close\r\n${headers}\r\n`),
  )
}

const exhibit = (variant: Variant): string => `/_/${variant}`
const expectedBody = (path: string, timeMs = 0): Buffer =>
  testWeb.web.body(`http://127.1.0.1:${testWeb.port}${path}`, timeMs)!

describe('a page', () => {
  test('comes with its length, type and validators', async () => {
    const { line, headers, body } = await ask('/')
    expect(line).toBe('HTTP/1.1 200 OK')
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(Number(headers.get('content-length'))).toBe(body.length)
    expect(headers.get('etag')).toMatch(/^"\w+-0"$/)
    expect(headers.get('last-modified')).toBe('Wed, 01 Jan 2020 00:00:00 GMT')
    expect(body.equals(expectedBody('/'))).toBe(true)
  })

  test('is not sent again to whoever has it', async () => {
    const { headers } = await ask('/')
    const again = await ask('/', `If-None-Match: "x", W/${headers.get('etag')}\r\n`)
    expect(again.line).toBe('HTTP/1.1 304 Not Modified')
    expect(again.body).toHaveLength(0)
    expect((await ask('/', 'If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT\r\n')).line).toContain('304')
    expect((await ask('/', 'If-Modified-Since: Tue, 31 Dec 2019 00:00:00 GMT\r\n')).line).toContain('200')
    // The tag decides alone.
    expect(
      (await ask('/', 'If-None-Match: "x"\r\nIf-Modified-Since: Wed, 01 Jan 2030 00:00:00 GMT\r\n')).line,
    ).toContain('200')
  })

  test('that changes has a new tag, date and body once its time has come', async () => {
    const before = await ask(exhibit('changing'))
    testWeb.setTime(16_000)
    onTestFinished(() => testWeb.setTime(0))
    const after = await ask(exhibit('changing'), `If-None-Match: ${before.headers.get('etag')}\r\n`)
    expect(after.line).toContain('200')
    expect(after.body.equals(expectedBody(exhibit('changing'), 16_000))).toBe(true)
    expect(Date.parse(after.headers.get('last-modified')!) - Date.parse(before.headers.get('last-modified')!)).toBe(
      16_000,
    )
  })

  test('has only its head for HEAD', async () => {
    const { headers, body } = await ask('/', '', 'HEAD')
    expect(Number(headers.get('content-length'))).toBeGreaterThan(500)
    expect(body).toHaveLength(0)
  })
})

describe('statuses', () => {
  test.each<[Variant, number]>([
    ['missing', 404],
    ['gone', 410],
    ['error', 500],
    ['busy', 502],
    ['empty', 200],
  ])('%s is %d', async (variant, status) => {
    const { line, body } = await ask(exhibit(variant))
    expect(line).toContain(` ${status} `)
    if (variant === 'empty') expect(body).toHaveLength(0)
  })

  test.each<[Variant, number, RegExp]>([
    ['redirect-301', 301, /^http:\/\/127\.1\.0\.1:\d+\//],
    ['redirect-302', 302, /^\/(?!\/)/],
    ['redirect-303', 303, /^\/\/127\.1\.0\.1:\d+\//],
    ['redirect-307', 307, /^\.\./],
    ['redirect-308', 308, /#there$/],
    ['redirect-away', 302, /^http:\/\/127\.1\.0\.[23]:/],
    ['redirect-loop', 302, /^\/loop\/\d+$/],
  ])('%s answers %d and says where to', async (variant, status, location) => {
    const { line, headers } = await ask(exhibit(variant))
    expect(line).toContain(` ${status} `)
    expect(headers.get('location')).toMatch(location)
  })

  test('a host that is none of this web is misdirected, a method but GET and HEAD not allowed', async () => {
    expect(
      readReply(await exchange('GET / HTTP/1.1\r\nHost: elsewhere.test\r\nConnection: close\r\n\r\n')).line,
    ).toContain('421')
    expect((await ask('/', '', 'DELETE')).line).toContain('405')
  })

  test('what is no request ends the connection', async () => {
    expect(readReply(await exchange('what?\r\n\r\n')).line).toContain('400')
    expect(readReply(await exchange(`GET / HTTP/1.1\r\nX: ${'x'.repeat(70_000)}`)).line).toContain('431')
  })
})

describe('throttling', () => {
  test.each<[Variant, number]>([
    ['throttled-seconds', 429],
    ['throttled-date', 429],
    ['throttled-bare', 429],
    ['unavailable', 503],
  ])('%s refuses twice with %d, then answers', async (variant, status) => {
    testWeb.reset()
    const askedMs = Date.now()
    const first = await ask(exhibit(variant))
    expect(first.line).toContain(` ${status} `)
    const retryAfter = first.headers.get('retry-after')
    if (variant === 'throttled-bare') expect(retryAfter).toBeUndefined()
    else if (variant === 'throttled-date') {
      const pauseMs = Date.parse(retryAfter!) - askedMs
      expect(pauseMs).toBeGreaterThanOrEqual(2_000)
    } else expect(retryAfter).toBe('2')
    expect((await ask(exhibit(variant))).line).toContain(` ${status} `)
    expect((await ask(exhibit(variant))).line).toContain(' 200 ')
    expect((await ask(exhibit(variant))).line).toContain(' 200 ')
  })
})

describe('delivery', () => {
  test('several requests in one packet are answered in order on one connection', async () => {
    const paths = ['/', '/_/slow', '/_/gone', '/_/chunked']
    const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: 127.1.0.1\r\n\r\n`).join('')
    const bytes = await exchange(`${requests}GET /_/text HTTP/1.1\r\nHost: 127.1.0.1\r\nConnection: close\r\n\r\n`)
    const statuses = [...bytes.toString('latin1').matchAll(/^HTTP\/1\.1 (\d+)/gm)].map((each) => each[1])
    expect(statuses).toEqual(['200', '200', '410', '200', '200'])
    const connections = new Set([...testWeb.log.requests(testWeb.log.length - 5)].map((request) => request.connection))
    expect(connections.size).toBe(1)
  })

  test('a request that comes a byte at a time is answered all the same', async () => {
    const text = 'GET / HTTP/1.1\r\nHost: 127.1.0.1\r\nConnection: close\r\n\r\n'
    const bytes = await exchange(text.slice(0, 1), '127.1.0.1', (socket) => {
      const rest = text.slice(1).split('')
      socket.setNoDelay(true)
      const next = (): void => {
        const char = rest.shift()
        if (char !== undefined) socket.write(char, () => setImmediate(next))
      }
      socket.on('connect', next)
    })
    expect(readReply(bytes).line).toContain('200')
  })

  test('a slow answer begins no sooner than told', async () => {
    await ask(exhibit('slow'))
    const { startMs, endMs } = testWeb.log.at(testWeb.log.length - 1)
    expect(endMs - startMs).toBeGreaterThanOrEqual(40)
  })

  test('HTTP/1.0 has no length, and ends with the connection', async () => {
    const { line, headers, body } = readReply(await exchange('GET /_/http-1.0 HTTP/1.1\r\nHost: 127.1.0.1\r\n\r\n'))
    expect(line).toBe('HTTP/1.0 200 OK')
    expect(headers.has('content-length')).toBe(false)
    expect(body.equals(expectedBody(exhibit('http-1.0')))).toBe(true)
  })

  test('a closing answer closes', async () => {
    const { headers } = readReply(await exchange('GET /_/closing HTTP/1.1\r\nHost: 127.1.0.1\r\n\r\n'))
    expect(headers.get('connection')).toBe('close')
  })

  test('chunks add up to the page; a client of HTTP/1.0 gets a length instead', async () => {
    const { headers, body } = await ask(exhibit('chunked'))
    expect(headers.get('transfer-encoding')).toBe('chunked')
    expect(unchunk(body).equals(expectedBody(exhibit('chunked')))).toBe(true)
    const old = readReply(await exchange('GET /_/chunked HTTP/1.0\r\nHost: 127.1.0.1\r\n\r\n'))
    expect(old.body.equals(expectedBody(exhibit('chunked')))).toBe(true)
  })

  test.each<[Variant, (bytes: Buffer) => Buffer]>([
    ['gzip', gunzipSync],
    ['deflate', inflateSync],
    ['br', brotliDecompressSync],
    ['zstd', zstdDecompressSync],
  ])('%s is used if accepted, and only then', async (variant, decode) => {
    const packed = await ask(exhibit(variant), `Accept-Encoding: identity, ${variant};q=0.5\r\n`)
    expect(packed.headers.get('content-encoding')).toBe(variant)
    expect(decode(packed.body).equals(expectedBody(exhibit(variant)))).toBe(true)
    for (const accept of ['', `Accept-Encoding: ${variant};q=0\r\n`, 'Accept-Encoding: identity\r\n']) {
      const plain = await ask(exhibit(variant), accept)
      expect(plain.headers.has('content-encoding')).toBe(false)
      expect(plain.body.equals(expectedBody(exhibit(variant)))).toBe(true)
    }
  })

  test('a lost connection has no answer, a short one less than it says', async () => {
    expect(await exchange('GET /_/lost HTTP/1.1\r\nHost: 127.1.0.1\r\n\r\n')).toHaveLength(0)
    expect(testWeb.log.at(testWeb.log.length - 1).status).toBe(0)
    const { headers, body } = readReply(await exchange('GET /_/short HTTP/1.1\r\nHost: 127.1.0.1\r\n\r\n'))
    expect(body.length).toBe(Number(headers.get('content-length')) - 100)
    expect(body.equals(expectedBody(exhibit('short')))).toBe(true)
  })

  test.each<[Variant, string | undefined]>([
    ['french', 'text/html; charset=ISO-8859-1'],
    ['shift-jis', 'text/html'],
    ['untyped-html', undefined],
    ['image', 'image/png'],
    ['style', 'text/css'],
    ['script', 'text/javascript'],
    ['pdf', 'application/pdf'],
    ['text', 'text/plain'],
    ['rss', 'application/rss+xml'],
    ['atom', 'application/atom+xml'],
  ])('%s is of type %s', async (variant, type) => {
    const { headers, body } = await ask(exhibit(variant))
    expect(headers.get('content-type')).toBe(type)
    expect(body.equals(expectedBody(exhibit(variant)))).toBe(true)
  })

  test('directives stand where they are said to stand', async () => {
    expect((await ask(exhibit('nofollow-header'))).headers.get('x-robots-tag')).toBe('nofollow')
    expect((await ask(exhibit('nofollow-meta'))).body.toString()).toContain(
      '<meta name="ROBOTS" content="index, NoFollow">',
    )
    expect((await ask(exhibit('noindex'))).body.toString()).toContain('<meta name="robots" content="noindex">')
    expect((await ask(exhibit('hostile-title'))).body.toString()).toContain('<title><script>alert("testweb")</script>')
  })
})

describe('the log', () => {
  test('counts every request once, with host, address, connection and status', async () => {
    testWeb.reset()
    await ask('/')
    await ask('/_/gone')
    await ask('/_/gone')
    expect(testWeb.requests(`http://127.1.0.1:${testWeb.port}/_/gone`)).toBe(2)
    expect(testWeb.requests(`http://127.1.0.2:${testWeb.port}/_/gone`)).toBe(0)
    expect([...testWeb.log.requests()].map(({ host, ip, path, status }) => ({ host, ip, path, status }))).toEqual([
      { host: '127.1.0.1', ip: '127.1.0.1', path: '/', status: 200 },
      { host: '127.1.0.1', ip: '127.1.0.1', path: '/_/gone', status: 410 },
      { host: '127.1.0.1', ip: '127.1.0.1', path: '/_/gone', status: 410 },
    ])
    expect(testWeb.politeness({ delayMs: 0 })).toEqual([])
    expect(testWeb.politeness({ delayMs: 60_000 }).map((each) => each.rule)).toEqual(['host-delay', 'host-delay'])
  })

  test('pipelining shows as asking twice at once', async () => {
    testWeb.reset()
    const request = 'GET / HTTP/1.1\r\nHost: 127.1.0.1\r\n'
    await exchange(`${request}\r\n${request}Connection: close\r\n\r\n`)
    expect(testWeb.politeness({ delayMs: 0 }).map((each) => each.rule)).toEqual(['host-overlap'])
  })

  test('a log that was full proves nothing', async () => {
    const small = await startTestWeb({ hosts: 1, pages: 1, logMax: 0 })
    onTestFinished(() => small.stop())
    await new Promise((resolve) => {
      const socket = connect(small.port, '127.1.0.1', () => socket.end('GET / HTTP/1.0\r\n\r\n'))
      socket.on('close', resolve)
      socket.resume()
    })
    expect(small.log.dropped).toBe(1)
    expect(() => small.politeness({ delayMs: 0 })).toThrow('proves nothing')
  })
})

test('a request whose client leaves before the answer ends with it, and is not under way for ever', async () => {
  const late = await startTestWeb({ hosts: 1, pages: 1, latencyMs: 3_600_000 })
  onTestFinished(() => late.stop())
  const socket = connect(late.port, '127.1.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: 127.1.0.1\r\n\r\n'))
  await expect.poll(() => late.log.length).toBe(1)
  expect(late.log.at(0).endMs).toBe(Infinity)
  socket.destroy()
  await expect.poll(() => late.log.at(0).endMs).toBeLessThan(Infinity)
})

describe('large pages', () => {
  test('arrive whole at a client that reads slowly, and end in the log when the last byte is gone', async () => {
    const large = await startTestWeb({ hosts: 1, pages: 3, meanBytes: 8_000_000, linksPerPage: 2 })
    onTestFinished(() => large.stop())
    const paths = [0, 1, 2].map((page) => new URL(large.url(0, page)))
    const received = await new Promise<Buffer>((resolve) => {
      const parts: Buffer[] = []
      const socket = connect(large.port, '127.1.0.1')
      for (const [i, { pathname, search }] of paths.entries()) {
        socket.write(
          `GET ${pathname}${search} HTTP/1.1\r\nHost: 127.1.0.1\r\n${i === 2 ? 'Connection: close\r\n' : ''}\r\n`,
        )
      }
      socket.on('data', (part: Buffer) => {
        parts.push(part)
        socket.pause()
        setImmediate(() => socket.resume())
      })
      socket.on('close', () => resolve(Buffer.concat(parts)))
    })
    let at = 0
    for (const url of paths) {
      const body = large.web.body(url.href)!
      at = received.indexOf('\r\n\r\n', at) + 4
      expect(received.subarray(at, at + body.length).equals(body)).toBe(true)
      at += body.length
    }
    expect(at).toBe(received.length)
    const requests = [...large.log.requests()]
    expect(requests).toHaveLength(3)
    for (const [i, { endMs }] of requests.entries()) {
      expect(endMs).toBeLessThan(Number.POSITIVE_INFINITY)
      if (i > 0) expect(endMs).toBeGreaterThanOrEqual(requests[i - 1]!.endMs)
    }
  })
})

test('with latency, two requests at once show as such however fast the server is', async () => {
  const late = await startTestWeb({ hosts: 1, pages: 1, latencyMs: 20 })
  onTestFinished(() => late.stop())
  const once = (): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect(late.port, '127.1.0.1', () => socket.write('GET / HTTP/1.0\r\n\r\n'))
      socket.resume()
      socket.on('close', () => resolve())
    })
  await Promise.all([once(), once()])
  expect(late.politeness({ delayMs: 0 }).map((each) => each.rule)).toEqual(['host-overlap'])
})

describe('addresses', () => {
  test('each host has its own; named hosts are told apart by the name asked for', async () => {
    const named = await startTestWeb({ hosts: 4, pages: 1, naming: 'names', hostsPerAddress: 4 })
    onTestFinished(() => named.stop())
    const titles = await Promise.all(
      [0, 3].map((index) => {
        const { name, ip } = named.web.hosts.at(index)
        return new Promise<string>((resolve) => {
          let text = ''
          const socket = connect(named.port, ip, () =>
            socket.write(`GET / HTTP/1.0\r\nHost: ${name.toUpperCase()}:${named.port}\r\n\r\n`),
          )
          socket.on('data', (part) => (text += String(part)))
          socket.on('close', () => resolve(/<title>(.*)<\/title>/.exec(text)?.[1] ?? text))
        })
      }),
    )
    expect(titles).toEqual(['Page 0 of h0.site0.test', 'Page 0 of h3.site0.test'])
  })

  test('more addresses than listeners are served by one listener', async () => {
    const wide = await startTestWeb({ hosts: 3_000, pages: 1 })
    onTestFinished(() => wide.stop())
    const { ip } = wide.web.hosts.at(2_999)
    const text = await new Promise<string>((resolve) => {
      const socket = connect(wide.port, ip, () => socket.write('GET / HTTP/1.0\r\n\r\n'))
      let all = ''
      socket.on('data', (part) => (all += String(part)))
      socket.on('close', () => resolve(all))
    })
    expect(text).toContain(`Page 0 of ${ip}`)
  })

  test('a port that is taken is refused, not replaced', async () => {
    await expect(startTestWeb({ hosts: 1, pages: 1, port: testWeb.port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})

function unchunk(bytes: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (size === 0) return Buffer.concat(parts)
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
}
