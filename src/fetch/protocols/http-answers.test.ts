// What becomes of each kind of answer: whole ones are documents, broken ones are failures with a name,
// and half a body is a document only when it is asked for.

import { describe, expect, test } from 'vitest'
import { always, answer, once, openStand } from '../../../test/fetch-stand.ts'
import { RawServer, type Script } from '../../../test/raw-server.ts'

const OK = 'HTTP/1.1 200 OK\r\n'

describe('a whole answer', () => {
  test('is a document that says what the server said', async () => {
    await using stand = await openStand(
      always(
        answer(
          'hello',
          `${OK}X-ODD-case: \xe9\r\nSet-Cookie: a\r\nset-cookie: b\r\nContent-Type: Text/HTML; charset="UTF-8"\r\n`,
        ),
      ),
    )
    const document = await stand.document('/a?b')
    expect(document).toMatchObject({
      url: `http://127.0.0.1:${stand.server.port}/a?b`,
      httpVersion: '1.1',
      status: 200,
      statusText: 'OK',
      mediaType: 'text/html',
      charset: 'utf-8',
      decoding: 'none',
      truncated: null,
      wireTruncated: null,
      ip: '127.0.0.1',
      fetchedAtMs: stand.clock.wallMs(),
    })
    expect(document.rawHeaders.slice(0, 6)).toEqual(['X-ODD-case', '\xe9', 'Set-Cookie', 'a', 'set-cookie', 'b'])
    expect(document.headers('set-cookie')).toEqual(['a', 'b'])
    expect(Buffer.from(document.body.bytes()).toString()).toBe('hello')
    expect(document.wire).toBe(document.body)
  })

  test('says how long it took, to the first byte and to the last', async () => {
    await using stand = await openStand((socket) => {
      stand.clock.advance(20)
      socket.write(`${OK}Content-Length: 4\r\n\r\nab`, 'latin1', () => {
        setImmediate(() => {
          stand.clock.advance(10)
          socket.write('cd')
        })
      })
    })
    const document = await stand.document()
    expect(document.firstByteMs).toBeGreaterThanOrEqual(20)
    expect(document.durationMs).toBe(30)
  })

  test.each<[name: string, bytes: string, body: string]>([
    ['with a length', `${OK}Content-Length: 2\r\n\r\nok`, 'ok'],
    ['with a length of 0', `${OK}Content-Length: 0\r\n\r\n`, ''],
    [
      'in chunks with extensions and trailers',
      `${OK}Transfer-Encoding: chunked\r\n\r\n2;a=b\r\nok\r\n0\r\nX: y\r\n\r\n`,
      'ok',
    ],
    ['ended by closing', `${OK}\r\nuntil the end`, 'until the end'],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nold', 'old'],
    ['without a reason phrase', 'HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok', 'ok'],
    ['with a status of its own', 'HTTP/1.1 999 Huh\r\nContent-Length: 2\r\n\r\nok', 'ok'],
    ['after early hints', `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`, 'ok'],
    ['followed by the answer to nothing', `${OK}Content-Length: 2\r\n\r\nok${OK}Content-Length: 4\r\n\r\nEVIL`, 'ok'],
    ['of 204, which has no body', 'HTTP/1.1 204 No Content\r\n\r\n', ''],
    ['of 304, which has no body', 'HTTP/1.1 304 Not Modified\r\nContent-Encoding: gzip\r\n\r\n', ''],
    ['of 404', 'HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone', 'gone'],
    ['of 429', 'HTTP/1.1 429 Slow Down\r\nRetry-After: 9\r\nContent-Length: 0\r\n\r\n', ''],
    ['of 503', 'HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy', 'busy'],
    ['of 302, not followed', 'HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n', ''],
  ])('%s is fetched', async (_name, bytes, body) => {
    await using stand = await openStand(once(bytes))
    const document = await stand.document()
    expect(Buffer.from(document.body.bytes()).toString('latin1')).toBe(body)
    expect(document.truncated).toBeNull()
    expect(stand.server.heads).toHaveLength(1)
  })

  // What a strict reader refuses and browsers show.
  test.each<[name: string, bytes: string, body: string]>([
    ['lines ended by a line feed only', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok', 'ok'],
    ['line ends of both kinds', 'HTTP/1.1 200 OK\r\nContent-Length: 2\n\r\nok', 'ok'],
    ['a folded header', `${OK}X: a\r\n  b\r\nContent-Length: 2\r\n\r\nok`, 'ok'],
    ['a line that is no header', `${OK}no-colon\r\nContent-Length: 2\r\n\r\nok`, 'ok'],
    ['a header without a name', `${OK}: x\r\nContent-Length: 2\r\n\r\nok`, 'ok'],
    ['a blank before the colon', `${OK}Content-Length : 2\r\n\r\nok`, 'ok'],
    ['a carriage return too many', `${OK}Content-Length: 2\r\r\n\r\nok`, 'ok'],
    ['empty lines before it', `\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`, 'ok'],
    ['a version that does not exist', 'HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nok', 'ok'],
    ['the name of HTTP/2 on its lips', 'HTTP/2 200\r\nContent-Length: 2\r\n\r\nok', 'ok'],
    ['a colon after its status', 'HTTP/1.1 200: OK\r\nContent-Length: 2\r\n\r\nok', 'ok'],
    ['a length in letters', `${OK}Content-Length: many\r\n\r\nok`, 'ok'],
    ['a negative length', `${OK}Content-Length: -6\r\n\r\nok`, 'ok'],
    ['an empty length', `${OK}Content-Length:\r\n\r\nok`, 'ok'],
    ['the same length twice', `${OK}Content-Length: 2\r\nContent-Length: 2\r\n\r\nok`, 'ok'],
    ['the same length twice in a line', `${OK}Content-Length: 2, 2\r\n\r\nok`, 'ok'],
    ['a length and chunks', `${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`, 'ok'],
    ['a transfer coding that is none', `${OK}Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok`, 'ok'],
    ['an unknown transfer coding', `${OK}Transfer-Encoding: x\r\nContent-Length: 9\r\n\r\nok`, 'ok'],
    ['an interim answer nobody asked for', `HTTP/1.1 100 Continue\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`, 'ok'],
    ['chunks with line feeds only', `${OK}Transfer-Encoding: chunked\r\n\r\n2\nok\n0\n\n`, 'ok'],
    ['blanks after a chunk size', `${OK}Transfer-Encoding: Chunked\r\n\r\n2  \r\nok\r\n0  \r\n\r\n`, 'ok'],
    [
      'absurd chunk extensions',
      `${OK}Transfer-Encoding: chunked\r\n\r\n2;${'x="\0;'.repeat(900)}\r\nok\r\n0;\r\n\r\n`,
      'ok',
    ],
    ['no end after the last chunk', `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n`, 'ok'],
    ['chunks of HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n', 'ok'],
    ['a body where there is none', 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello', ''],
  ])('with %s is fetched, as browsers do', async (_name, bytes, body) => {
    await using stand = await openStand(once(bytes))
    const document = await stand.document()
    expect(Buffer.from(document.body.bytes()).toString('latin1')).toBe(body)
    expect(document.truncated).toBeNull()
  })

  test('of HTTP/1.0 is known as such, however the first bytes are cut', async () => {
    for (const [bytes, version] of [
      ['HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n', '1.0'],
      ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', '1.1'],
    ] as const) {
      for (const cutAt of [1, 6, 7, 8]) {
        await using stand = await openStand((socket) => {
          socket.write(bytes.slice(0, cutAt), () => setImmediate(() => socket.write(bytes.slice(cutAt))))
        })
        expect((await stand.document()).httpVersion).toBe(version)
      }
    }
  })

  test('larger than memory allows lies in a file without a name', async () => {
    const body = Buffer.alloc(300_000, 'portolan ')
    await using stand = await openStand(always(answer(body)))
    expect(Buffer.from((await stand.document()).body.bytes())).toEqual(body)
  })
})

const reset: Script = (socket) => void socket.resetAndDestroy()

describe('an answer that is none', () => {
  test.each<[name: string, script: Script, code: string]>([
    ['a closed connection', (socket) => void socket.end(), 'FETCH_CONNECTION_LOST'],
    ['a reset connection', reset, 'FETCH_CONNECTION_LOST'],
    ['half a head', once(`${OK}Content-Type: te`), 'FETCH_CONNECTION_LOST'],
    ['an interim answer and no more', once('HTTP/1.1 103 Early Hints\r\n\r\n'), 'FETCH_CONNECTION_LOST'],
    ['text without a head', once('<!doctype html><p>HTTP/0.9'), 'FETCH_HEAD_MALFORMED'],
    ['a mistyped protocol', once('HTP/1.1 200 OK\r\n\r\n'), 'FETCH_HEAD_MALFORMED'],
    ['a status without sense', once('HTTP/1.1 2 OK\r\n\r\n'), 'FETCH_HEAD_MALFORMED'],
    ['a zero in a header', once(`${OK}X: a\0b\r\n\r\n`), 'FETCH_HEAD_MALFORMED'],
    [
      'two lengths that differ',
      once(`${OK}Content-Length: 6\r\nContent-Length: 7\r\n\r\n-foo-\n`),
      'FETCH_HEAD_MALFORMED',
    ],
    ['lengths in one line that differ', once(`${OK}Content-Length: 6, 7\r\n\r\n-foo-\n`), 'FETCH_HEAD_MALFORMED'],
    ['interim answers without end', once('HTTP/1.1 100 Continue\r\n\r\n'.repeat(30)), 'FETCH_HEAD_MALFORMED'],
    [
      'an upgrade nobody asked for',
      once('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      'FETCH_HEAD_MALFORMED',
    ],
    ['frames of HTTP/2', once('\0\0\x12\x04\0\0\0\0\0'), 'FETCH_HEAD_MALFORMED'],
    ['one header too long', once(`${OK}X: ${'a'.repeat(70_000)}\r\n\r\n`), 'FETCH_HEAD_TOO_LONG'],
    ['too many headers', once(`${OK}${'X-Header: y\r\n'.repeat(9_000)}\r\n`), 'FETCH_HEAD_TOO_LONG'],
    ['too many small headers', once(`${OK}${'x:\r\n'.repeat(2_001)}\r\n`), 'FETCH_HEAD_TOO_LONG'],
  ])('%s fails by its name', async (_name, script, code) => {
    await using stand = await openStand(script)
    expect(await stand.ask()).toMatchObject({ kind: 'failed', code })
  })

  test('nobody at the port is a refusal to connect', async () => {
    await using stand = await openStand(always(''))
    const gone = await RawServer.open(always(''))
    const { port } = gone
    await gone.close()
    expect(await stand.ask('/', { port })).toMatchObject({ kind: 'failed', code: 'FETCH_CONNECT_REFUSED' })
  })
})

describe('a body that breaks off', () => {
  const broken: [name: string, script: Script, code: string, partial: string][] = [
    ['before its length', once(`${OK}Content-Length: 50\r\n\r\nshort`), 'FETCH_BODY_SHORT', 'short'],
    ['inside a chunk', once(`${OK}Transfer-Encoding: chunked\r\n\r\n20\r\nhalf`), 'FETCH_BODY_SHORT', 'half'],
    [
      'inside a chunk, with its end announced',
      once(`${OK}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n20\r\nhalf`),
      'FETCH_BODY_SHORT',
      'half',
    ],
    [
      'without the last chunk',
      once(`${OK}Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n`),
      'FETCH_BODY_SHORT',
      'body',
    ],
    [
      'at a chunk of no size',
      once(`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\nfoo\r\n0\r\n\r\n`),
      'FETCH_BODY_MALFORMED',
      'ok',
    ],
    [
      'at a chunk too large for numbers',
      once(`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n${'f'.repeat(30)}\r\nfoo`),
      'FETCH_BODY_MALFORMED',
      'ok',
    ],
    [
      'at a chunk longer than its size',
      once(`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nok!\r\n0\r\n\r\n`),
      'FETCH_BODY_MALFORMED',
      'ok',
    ],
    [
      'at a size with words behind it',
      once(`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\nadd some salt\r\n0\r\n\r\n`),
      'FETCH_BODY_MALFORMED',
      'ok',
    ],
    [
      'at a chunk extension without end',
      once(`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n2;${'x'.repeat(20_000)}\r\nok\r\n0\r\n\r\n`),
      'FETCH_BODY_MALFORMED',
      'ok',
    ],
    [
      'at trailers without end',
      once(`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n${'X: y\r\n'.repeat(20_000)}\r\n`),
      'FETCH_BODY_MALFORMED',
      'ok',
    ],
    [
      'by a reset',
      (socket) =>
        socket.write(`${OK}Content-Length: 50\r\n\r\nshort`, () => setImmediate(() => socket.resetAndDestroy())),
      'FETCH_BODY_SHORT',
      'short',
    ],
  ]

  test.each(broken)('%s is a failure', async (_name, script, code) => {
    await using stand = await openStand(script)
    expect(await stand.ask()).toMatchObject({ kind: 'failed', code })
  })

  test.each(broken)(
    '%s is a truncated document when half is better than none',
    async (_name, script, _code, partial) => {
      await using stand = await openStand(script)
      const document = await stand.document('/', { acceptPartial: true })
      expect(document).toMatchObject({ truncated: 'disconnect', wireTruncated: 'disconnect' })
      expect(Buffer.from(document.body.bytes()).toString()).toBe(partial)
    },
  )

  test('of a redirect is no loss', async () => {
    await using stand = await openStand(
      once('HTTP/1.1 302 Found\r\nLocation: /b\r\nTransfer-Encoding: chunked\r\n\r\nNot a chunk'),
    )
    const document = await stand.document()
    expect(document.header('location')).toBe('/b')
    expect(document.truncated).toBe('disconnect')
  })
})
