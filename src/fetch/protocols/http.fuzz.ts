// Whatever a server sends, and however it is cut into pieces, an outcome comes back: nothing throws,
// nothing hangs, nothing stays open. And whole answers come back whole.

import * as zlib from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openStand } from '../../../test/fetch-stand.ts'
import { readMaterial } from '../../../test/material.ts'
import type { CanonicalUrl } from '../../url/index.ts'
import type { Socket } from 'node:net'

const ENCODE: Record<string, (bytes: Buffer) => Buffer> = {
  '': (bytes) => bytes,
  gzip: (bytes) => zlib.gzipSync(bytes),
  br: (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: (bytes) => zlib.zstdCompressSync(bytes),
}

/** Writes pieces in different turns of the event loop, so that they arrive as pieces. */
function trickle(socket: Socket, pieces: readonly Buffer[], done: () => void): void {
  const [first, ...rest] = pieces
  if (first === undefined) return done()
  socket.write(first, () => setImmediate(() => trickle(socket, rest, done)))
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...at].map((start, i) => bytes.subarray(start, at[i] ?? bytes.length)).filter((piece) => piece.length > 0)
}

function framed(body: Buffer, framing: 'length' | 'chunks' | 'close', coding: string): Buffer {
  const head = `HTTP/1.1 200 OK\r\n${coding === '' ? '' : `Content-Encoding: ${coding}\r\n`}`
  if (framing === 'length') return Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body])
  if (framing === 'close') return Buffer.concat([Buffer.from(`${head}Connection: close\r\n\r\n`), body])
  const chunks = cut(body, [7, 1_000, 70_000]).map((chunk) =>
    Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]),
  )
  return Buffer.concat([Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`), ...chunks, Buffer.from('0\r\n\r\n')])
}

test('whole answers come back whole, in any size, framing, coding and pieces', async () => {
  let answer: readonly Buffer[] = []
  let isClosing = false
  await using stand = await openStand((socket) => {
    const isLast = isClosing
    trickle(socket, answer, () => void (isLast && socket.end()))
  })
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.uint8Array({ maxLength: 3_000 }),
        fc.nat(300_000).map((length) => new Uint8Array(length).fill(65)),
      ),
      fc.constantFrom('length' as const, 'chunks' as const, 'close' as const),
      fc.constantFrom(...Object.keys(ENCODE)),
      fc.array(fc.nat(), { maxLength: 5 }),
      async (bytes, framing, coding, places) => {
        const body = Buffer.from(bytes)
        answer = cut(framed((ENCODE[coding] as (bytes: Buffer) => Buffer)(body), framing, coding), places)
        isClosing = framing === 'close'
        const document = await stand.document()
        expect(Buffer.from(document.body.bytes()).equals(body)).toBe(true)
        expect(document.truncated).toBeNull()
        document.release()
      },
    ),
    { numRuns: 100 },
  )
})

test('random bytes for an answer are an outcome', async () => {
  let answer: readonly Buffer[] = []
  await using stand = await openStand((socket) => trickle(socket, answer, () => socket.end()))
  const word = fc.constantFrom(
    ...[
      'HTTP/1.1 200 OK\r\n',
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 101 X\r\n',
      'HTTP/1.0 304 N\r\n',
      'HTTP/1.1 204 N\r\n',
    ],
    ...[
      '\r\n',
      '\r\n\r\n',
      '\n',
      'Content-Length: 5\r\n',
      'Content-Length: 99999999999999999999\r\n',
      'Transfer-Encoding: chunked\r\n',
    ],
    ...[
      'Transfer-Encoding: gzip\r\n',
      'Content-Encoding: gzip\r\n',
      'Content-Encoding: br, zstd\r\n',
      'Connection: upgrade\r\nUpgrade: h2c\r\n',
    ],
    ...[
      'Keep-Alive: timeout=-1\r\n',
      'Content-Type: ;;"\r\n',
      '5\r\nhello\r\n',
      '0\r\n\r\n',
      'ffffffffffffffffff\r\n',
      '\0',
      '__proto__: x\r\n',
    ],
  )
  const soup = fc
    .array(
      fc.oneof({ weight: 5, arbitrary: word.map((text) => Buffer.from(text)) }, fc.uint8Array({ maxLength: 30 })),
      { maxLength: 12 },
    )
    .map((parts) => Buffer.concat(parts))
  await fc.assert(
    fc.asyncProperty(
      fc.boolean(),
      soup,
      fc.array(fc.nat(), { maxLength: 3 }),
      fc.boolean(),
      async (isStatus, bytes, places, acceptPartial) => {
        answer = cut(isStatus ? Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n'), bytes]) : bytes, places)
        const outcome = await stand.ask('/', { acceptPartial })
        // Skipped: one that announces more bytes than we want.
        expect(['fetched', 'failed', 'skipped']).toContain(outcome.kind)
        if (outcome.kind === 'fetched') outcome.document.release()
      },
    ),
    { numRuns: 400 },
  )
})

test('an answer that was damaged on its way is an outcome, and leaves nothing open', async () => {
  let answer: readonly Buffer[] = []
  let finish = (_socket: Socket): unknown => undefined
  await using stand = await openStand((socket) => trickle(socket, answer, () => void finish(socket)))
  const headers = 'Server: x\r\nContent-Type: text/html\r\n'
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('length' as const, 'chunks' as const, 'close' as const),
      fc.array(fc.tuple(fc.nat(), fc.oneof(fc.constantFrom(0, 9, 10, 13, 32, 48, 58), fc.nat(255))), {
        minLength: 1,
        maxLength: 4,
      }),
      fc.array(fc.nat(), { maxLength: 3 }),
      fc.boolean(),
      async (framing, damages, places, isClosing) => {
        const whole = framed(Buffer.from('a body of some length'), framing, '').toString('latin1')
        const bytes = Buffer.from(whole.replace('OK\r\n', `OK\r\n${headers}`), 'latin1')
        for (const [place, byte] of damages) bytes[place % bytes.length] = byte
        answer = cut(bytes, places)
        const controller = new AbortController()
        // An answer that damage has made longer ends by closing, or by our stopping.
        finish = (socket) => (isClosing ? socket.end() : setImmediate(() => controller.abort()))
        const asked = stand.fetcher.fetch(
          {
            url: `http://127.0.0.1:${stand.server.port}/` as CanonicalUrl,
            addresses: [{ ip: '127.0.0.1', family: 4 }],
            purpose: 'page',
            isLast: false,
            acceptPartial: true,
          },
          controller.signal,
        )
        const outcome = await asked
        expect(['fetched', 'failed', 'skipped']).toContain(outcome.kind)
        if (outcome.kind === 'fetched') outcome.document.release()
        expect(stand.fetcher.figures.underWay).toBe(0)
      },
    ),
    { numRuns: 300 },
  )
})

interface Nasty {
  readonly cases: readonly { name: string; category: string; bytes?: string }[]
}
const nasty = readMaterial<Nasty>('http', 'nasty-servers.json')
describe.skipIf(nasty === null)(`nasty servers${nasty === null ? ' (material not present)' : ''}`, () => {
  const cases = (nasty?.cases ?? []).filter((one) => typeof one.bytes === 'string' && one.category !== 'request')
  // What each comes to; those not named here are fetched whole.
  const failing: Record<string, string> = {
    'http-0.9': 'FETCH_HEAD_MALFORMED',
    'status-negative': 'FETCH_HEAD_MALFORMED',
    'status-1digit': 'FETCH_HEAD_MALFORMED',
    'protocol-typo': 'FETCH_HEAD_MALFORMED',
    'interim-only': 'FETCH_CONNECTION_LOST',
    'unsolicited-101': 'FETCH_HEAD_MALFORMED',
    'headers-no-end': 'FETCH_CONNECTION_LOST',
    // More bytes than announcedMax.
    'cl-overflow': 'skipped',
    'cl-two-different': 'FETCH_HEAD_MALFORMED',
    'cl-too-large': 'FETCH_BODY_SHORT',
    'chunk-bad-size': 'FETCH_BODY_MALFORMED',
    'chunk-overflow': 'FETCH_BODY_MALFORMED',
    'chunk-no-terminator': 'FETCH_BODY_SHORT',
  }
  test.each(cases.map((one) => [one.name, one.bytes ?? ''] as const))('%s', async (name, bytes) => {
    await using stand = await openStand((socket) => socket.end(bytes, 'latin1'))
    const outcome = await stand.ask()
    expect(outcome.kind === 'failed' ? outcome.code : outcome.kind).toBe(failing[name] ?? 'fetched')
  })
})
