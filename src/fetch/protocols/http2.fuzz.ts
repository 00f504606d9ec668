// The same over HTTP/2: whole answers come back whole however their frames are cut, and frames that were damaged, lost, doubled
// or put elsewhere are an outcome, and leave nothing open. More of them: npm run fuzz:http2

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { openStand, type Stand } from '../../../test/fetch-stand.ts'
import { openAuthority } from '../../../test/test-authority.ts'
import { readHttp2 } from '../../../testweb/nasty/http2-face.ts'
import {
  END_HEADERS,
  END_STREAM,
  ErrorCode,
  frame,
  Frame,
  goaway,
  head,
  numbers,
  packed,
  rst,
  settings,
} from '../../../testweb/nasty/http2-frames.ts'

const { tls, caFile } = openAuthority()
const DAMAGED = Number(process.env['PORTOLAN_FUZZ_FRAMES'] ?? 150)
const PADDED = 8

/** `answer` makes the frames of each request's stream; after them the connection is kept or ended. */
async function openFrameStand(answer: (stream: number) => { bytes: Buffer; isLast: boolean }): Promise<Stand> {
  const options = { tls: { ...tls, ALPNProtocols: ['h2'] } }
  const stand = await openStand(() => undefined, { caFile, http2: 'offered' }, options)
  stand.server.onConnection = (socket) =>
    readHttp2(socket, (_path, stream) => () => {
      const { bytes, isLast } = answer(stream)
      if (isLast) socket.end(bytes)
      else socket.write(bytes)
    })
  return stand
}

/** Data frames of a body, cut at these places, each with some padding. */
function dataFrames(stream: number, body: Buffer, places: readonly number[], padding: number): Buffer[] {
  const at = [...new Set([...places, 16_000, 32_000, 48_000].map((place) => place % (body.length + 1)))]
  const starts = [0, ...at.sort((a, b) => a - b)]
  return starts.map((start, i) => {
    const piece = body.subarray(start, starts[i + 1] ?? body.length)
    if (padding === 0) return frame(Frame.data, 0, stream, piece)
    return frame(Frame.data, PADDED, stream, Buffer.concat([Buffer.from([padding]), piece, Buffer.alloc(padding)]))
  })
}

test('whole answers come back whole, in any size, frames and padding, with or without trailers', async () => {
  let make = (_stream: number): Buffer => Buffer.alloc(0)
  await using stand = await openFrameStand((stream) => ({ bytes: make(stream), isLast: false }))
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 60_000, size: 'max' }),
      fc.array(fc.nat(), { maxLength: 6 }),
      fc.nat(200),
      fc.boolean(),
      fc.boolean(),
      async (bytes, places, padding, hasTrailers, hasLength) => {
        const body = Buffer.from(bytes)
        make = (stream) =>
          Buffer.concat([
            head(stream, hasLength ? [['content-length', String(body.length)]] : []),
            ...dataFrames(stream, body, places, padding),
            hasTrailers
              ? frame(Frame.headers, END_HEADERS | END_STREAM, stream, packed([['x-end', '1']]))
              : frame(Frame.data, END_STREAM, stream),
          ])
        const document = await stand.document('/', { host: 'good.test' })
        expect(Buffer.from(document.body.bytes()).equals(body)).toBe(true)
        expect(document.truncated).toBeNull()
        document.release()
      },
    ),
    { numRuns: 40 },
  )
  expect(stand.server.connectionCount).toBe(1)
})

test('frames that were damaged, lost, doubled or put elsewhere are an outcome, and leave nothing open', async () => {
  let make = (_stream: number): Buffer => Buffer.alloc(0)
  await using stand = await openFrameStand((stream) => ({ bytes: make(stream), isLast: true }))
  const framesOf = (stream: number): Buffer[] => [
    settings(),
    frame(Frame.headers, END_HEADERS, stream, packed([[':status', '103']])),
    head(stream, [['content-length', '30']]),
    frame(Frame.window, 0, 0, numbers(1_000)),
    frame(Frame.data, 0, stream, 'x'.repeat(20)),
    frame(Frame.ping, 0, 0, '8 bytes.'),
    frame(Frame.data, END_STREAM, stream, 'y'.repeat(10)),
    goaway(stream, ErrorCode.none),
    rst(stream, ErrorCode.cancel),
    frame(Frame.push, END_HEADERS, stream, Buffer.concat([numbers(2), packed([[':path', '/']])])),
    frame(Frame.continuation, END_HEADERS, stream, packed([['x', 'y']])),
  ]
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(10), { maxLength: 14 }),
      fc.boolean(),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
      fc.boolean(),
      async (order, isInOrder, damages, acceptPartial) => {
        make = (stream) => {
          const frames = framesOf(stream)
          const chosen = isInOrder ? order.toSorted((a, b) => a - b) : order
          const bytes = Buffer.concat(chosen.map((i) => frames[i] as Buffer))
          for (const [place, byte] of damages) if (bytes.length > 0) bytes[place % bytes.length] = byte
          return bytes
        }
        const outcome = await stand.ask('/', { host: 'good.test', acceptPartial })
        expect(['fetched', 'failed']).toContain(outcome.kind)
        if (outcome.kind === 'fetched') outcome.document.release()
        expect(stand.fetcher.figures.underWay).toBe(0)
      },
    ),
    { numRuns: DAMAGED },
  )
})
