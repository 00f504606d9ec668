// Hosts that speak HTTP/2 and nothing else, each in a way of its own.

import type { ClockMs } from '../../src/base/index.ts'
import { type Behaviour, type Behaviours, type Http2Talk, silent, TEXT } from './behaviour.ts'
import {
  END_HEADERS,
  END_STREAM,
  ErrorCode,
  frame,
  Frame,
  goaway,
  head,
  heads,
  numbers,
  packed,
  rst,
  settings,
} from './http2-frames.ts'
import { MANNERS } from './tls-manners.ts'

type Says = (stream: number) => readonly Buffer[]

const FLOOD_BYTES = 32 * 1024
/** SETTINGS_MAX_CONCURRENT_STREAMS. */
const STREAMS_MAX = 3
/** SETTINGS_INITIAL_WINDOW_SIZE. */
const WINDOW_SIZE = 4

function host(does: string, http2: (talk: Http2Talk) => void): Behaviour {
  return { family: 'http2', does, tls: MANNERS.good, act: silent, http2 }
}

function says(does: string, frames: Says): Behaviour {
  return host(does, ({ socket, stream }) => void socket.write(Buffer.concat(frames(stream))))
}

/** The same, and ends the connection. */
function saysAndCloses(does: string, frames: Says): Behaviour {
  return host(does, ({ socket, stream }) => void socket.end(Buffer.concat(frames(stream))))
}

/** The same frame for ever, as fast as it is taken, behind others. */
function floods(does: string, one: (stream: number) => Buffer, first: Says = () => []): Behaviour {
  return host(does, ({ socket, stream }) => {
    const bytes = one(stream)
    const many = Buffer.concat(Array.from({ length: Math.ceil(FLOOD_BYTES / bytes.length) }, () => bytes))
    const pour = (): void => {
      // A turn of the loop in between: others have theirs.
      if (!socket.destroyed) socket.write(many, () => setImmediate(pour))
    }
    socket.write(Buffer.concat(first(stream)))
    pour()
  })
}

function setting(id: number, value: number): Buffer {
  return Buffer.concat([Buffer.from([0, id]), numbers(value)])
}

const data = (stream: number, text: string, flags = END_STREAM): Buffer => frame(Frame.data, flags, stream, text)
const whole = (stream: number): Buffer => data(stream, TEXT)
const half = (stream: number): Buffer => data(stream, TEXT.slice(0, 10), 0)
const length = (bytes: number): readonly [string, string] => ['content-length', String(bytes)]
const PING = frame(Frame.ping, 0, 0, '8 bytes.')
const request = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', 'a.test'],
  [':path', '/pushed'],
] as const

export const HTTP2: Behaviours = {
  'http2-plain': says('an honest page', (s) => [head(s, [length(TEXT.length)]), whole(s)]),
  'http2-trailers': says('fields behind the body', (s) => [
    head(s),
    data(s, TEXT, 0),
    frame(Frame.headers, END_HEADERS | END_STREAM, s, packed([['x-checksum', '1']])),
  ]),
  'http2-interim': says('103 before the answer', (s) => [
    frame(Frame.headers, END_HEADERS, s, packed([[':status', '103']])),
    head(s),
    whole(s),
  ]),
  'http2-goaway-then-rest': says('says in the middle of a body that it is the last', (s) => [
    head(s),
    half(s),
    goaway(s, ErrorCode.none),
    data(s, TEXT.slice(10)),
  ]),
  'http2-settings-flood': floods('settings for ever', settings),
  'http2-ping-flood': floods('pings for ever', () => PING),
  'http2-priority-flood': floods('priorities for ever', (s) => frame(Frame.priority, 0, s + 2, Buffer.alloc(5, 1))),
  'http2-window-flood': floods('windows wider by a byte, for ever', () => frame(Frame.window, 0, 0, numbers(1))),
  'http2-unknown-flood': floods('frames nobody knows, for ever', () => frame(0xfa, 0, 0, 'what is this')),
  'http2-interim-flood': floods('103 for ever', (s) =>
    frame(Frame.headers, END_HEADERS, s, packed([[':status', '103']])),
  ),
  'http2-empty-data-flood': floods(
    'a body of empty frames for ever',
    (s) => data(s, '', 0),
    (s) => [head(s)],
  ),
  'http2-continuation-flood': floods(
    'a head continued for ever',
    (s) => frame(Frame.continuation, 0, s, packed([['x', 'y']])),
    (s) => [frame(Frame.headers, 0, s, packed([[':status', '200']]))],
  ),
  'http2-large-head': says('a head of 100 KiB', (s) => [
    ...heads(s, [[':status', '200'], ...Array.from({ length: 25 }, (_, i) => [`x-${i}`, 'y'.repeat(4_096)] as const)]),
    whole(s),
  ]),
  'http2-many-headers': says('3,000 headers', (s) => [
    ...heads(s, [[':status', '200'], ...Array.from({ length: 3_000 }, (_, i) => [`x${i}`, 'y'] as const)]),
    whole(s),
  ]),
  // One entry of the table, named by a byte each time.
  'http2-head-bomb': says('a head of 6 KiB that unpacks to megabytes', (s) => [
    frame(
      Frame.headers,
      END_HEADERS,
      s,
      Buffer.concat([
        packed([[':status', '200']]),
        packed([['x', 'y'.repeat(4_000)]], 0x40),
        Buffer.alloc(1_900, 0x80 | 62),
      ]),
    ),
    whole(s),
  ]),
  'http2-no-status': says('a head without a status', (s) => [
    frame(Frame.headers, END_HEADERS, s, packed([['content-type', 'text/html']])),
    whole(s),
  ]),
  'http2-status-101': says('a change of protocol', (s) => [
    frame(Frame.headers, END_HEADERS, s, packed([[':status', '101']])),
  ]),
  'http2-request-pseudo': says('a path in its answer', (s) => [head(s, [[':path', '/']]), whole(s)]),
  'http2-connection-header': says('a Connection header, which there is none of', (s) => [
    head(s, [['connection', 'close']]),
    whole(s),
  ]),
  'http2-bad-packing': says('a head that does not unpack', (s) => [
    frame(Frame.headers, END_HEADERS, s, Buffer.alloc(6, 0xff)),
  ]),
  'http2-frame-too-large': says('a frame larger than allowed', (s) => [head(s), data(s, 'x'.repeat(20_000))]),
  'http2-other-stream': says('answers what nobody asked', (s) => [head(s + 2), whole(s + 2)]),
  'http2-push': says('pushes a page nobody asked for', (s) => [
    frame(Frame.push, END_HEADERS, s, Buffer.concat([numbers(2), packed(request)])),
    head(s),
    whole(s),
  ]),
  'http2-garbage': says('HTTP/1.1 instead of frames', () => [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')]),
  'http2-window-overflow': says('a window larger than there can be', () => [
    frame(Frame.window, 0, 0, numbers(0x7fff_ffff)),
  ]),
  'http2-no-streams': says('takes no requests and no bytes, and says nothing more', (s) => [
    frame(Frame.settings, 0, 0, Buffer.concat([setting(STREAMS_MAX, 0), setting(WINDOW_SIZE, 0)])),
    frame(Frame.headers, END_HEADERS, s, packed([[':status', '103']])),
  ]),
  'http2-length-short': says('fewer bytes than it announced', (s) => [head(s, [length(100)]), whole(s)]),
  'http2-length-long': says('more bytes than it announced', (s) => [head(s, [length(10)]), whole(s)]),
  'http2-two-lengths': says('two lengths that differ', (s) => [head(s, [length(30), length(31)]), whole(s)]),
  'http2-rst-after-head': says('resets behind the head', (s) => [head(s), rst(s, ErrorCode.cancel)]),
  'http2-rst-no-error': says('resets in the middle of a body, without an error', (s) => [
    head(s),
    half(s),
    rst(s, ErrorCode.none),
  ]),
  'http2-refused': says('refuses the request', (s) => [rst(s, ErrorCode.refused)]),
  'http2-calm': says('asks for calm', (s) => [goaway(s, ErrorCode.calm)]),
  'http2-http1-required': says('wants HTTP/1.1', (s) => [rst(s, ErrorCode.http11Required)]),
  'http2-goaway-early': says('goes away instead of answering', () => [goaway(0, ErrorCode.none)]),
  'http2-goaway-mid-body': saysAndCloses('goes away in the middle of a body', (s) => [
    head(s),
    half(s),
    goaway(s, ErrorCode.none),
  ]),
  'http2-early-close': saysAndCloses('closes in the middle of a body', (s) => [head(s), half(s)]),
  'http2-close': saysAndCloses('closes instead of answering', () => []),
  'http2-silent': host('takes the request and says nothing', () => undefined),
  'http2-stalls': host('stops in the middle of a body, and pings', ({ socket, stream, clock }) => {
    socket.write(Buffer.concat([head(stream), half(stream)]))
    let cancel = (): void => undefined
    const ping = (): void => {
      socket.write(PING)
      cancel = clock.callAt((clock.nowMs() + 1_000) as ClockMs, ping)
    }
    ping()
    socket.on('close', () => cancel())
  }),
}
