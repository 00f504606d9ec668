// What a server may do to whoever asks it, beside answering. A behaviour is shown by a host of its own
// (nasty-face.ts), byte by byte, by code: nothing of it goes through an HTTP library that would mend it.
//
//   connection ─▶ atConnect ─────────────▶ (no request is read)
//        └──────▶ request ─▶ act(talk) ──▶ bytes, silence, an end, a reset

import type { Socket } from 'node:net'
import type { Clock, ClockMs } from '../../src/base/index.ts'
import type { TlsManners } from './tls-manners.ts'

export const FAMILIES = [
  'status-line',
  'headers',
  'length',
  'chunked',
  'size-time',
  'content-encoding',
  'redirect',
  'cookie',
  'connection',
  'request',
  'tls',
  'http2',
] as const
export type Family = (typeof FAMILIES)[number]

/** One request, and the socket to mistreat whoever sent it. */
export interface Talk {
  readonly socket: Socket
  readonly method: string
  /** With the query. */
  readonly path: string
  /** The connection under TLS; the socket itself in the clear. */
  readonly raw: Socket
  /** Origin of the host that shows the behaviour. */
  readonly home: string
  /** An origin in the clear on the same address, where there is a plain page. */
  readonly plainHome: string
  readonly clock: Clock
}

export type Act = (talk: Talk) => void

/** One request over HTTP/2, by its stream. */
export interface Http2Talk {
  readonly socket: Socket
  readonly stream: number
  readonly clock: Clock
}

export interface Behaviour {
  readonly family: Family
  /** For people, in one line. */
  readonly does: string
  readonly act: Act
  /** Instead of reading requests. */
  readonly atConnect?: (socket: Socket) => void
  /** The host is at home on https, in this way. */
  readonly tls?: TlsManners
  /** It speaks HTTP/2 and nothing else: frames, instead of `act`. */
  readonly http2?: (talk: Http2Talk) => void
}

export type Behaviours = Readonly<Record<string, Behaviour>>

/** The body of most answers: what a client should come to have. */
export const TEXT = 'What the server meant to say.\n'
export const OK = 'HTTP/1.1 200 OK\r\n'
const LINE_END = Buffer.from('\r\n\r\n')

/** What becomes of the connection behind the last byte. 'cut' ends TCP without a word in TLS. */
export type Ending = 'end' | 'keep' | 'reset' | 'cut'

/** Says these bytes (text is latin-1), whatever was asked. To HEAD it says the head of them. */
export function says(bytes: string | Buffer | ((talk: Talk) => string | Buffer), ending: Ending = 'end'): Act {
  return (talk) => {
    const said = typeof bytes === 'function' ? bytes(talk) : bytes
    const whole = typeof said === 'string' ? Buffer.from(said, 'latin1') : said
    const headEnd = talk.method === 'HEAD' ? whole.indexOf(LINE_END) : -1
    finish(talk, headEnd === -1 ? whole : whole.subarray(0, headEnd + 4), ending)
  }
}

function finish({ socket, raw }: Talk, bytes: Buffer, ending: Ending): void {
  if (ending === 'end') {
    socket.end(bytes)
    return
  }
  socket.write(bytes, () => {
    if (ending === 'reset') resetSoon(socket)
    else if (ending === 'cut') raw.end()
  })
}

/** Once the other side has had turns to read what came before: a reset throws away what it has not. */
function resetSoon(socket: Socket, turns = 5): void {
  setImmediate(() => (turns === 0 ? reset(socket) : resetSoon(socket, turns - 1)))
}

export function reset(socket: Socket): void {
  if (!socket.destroyed) socket.resetAndDestroy()
}

/** A whole and honest answer with these headers (each line ending in CRLF) beside its length. */
export function answer(headers: string, body: string | Buffer = TEXT, statusLine = OK): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body
  return Buffer.concat([Buffer.from(`${statusLine}${headers}Content-Length: ${bytes.length}\r\n\r\n`, 'latin1'), bytes])
}

/** A page of HTML, honestly delivered. */
export function htmlAnswer(html: string, headers = ''): Buffer {
  return answer(`Content-Type: text/html\r\n${headers}`, `<!DOCTYPE html><title>Nasty</title>${html}`)
}

/** A body in chunks of equal size, with or without the chunk that ends it. */
export function chunked(body: Buffer, chunkBytes: number, last = '0\r\n\r\n'): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; at += chunkBytes) {
    const chunk = body.subarray(at, at + chunkBytes)
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from(last)])
}

/** Says the first bytes at once, then one byte after another for ever, as often as it is told to. */
export function drips(first: string, byte: string, everyMs: number): Act {
  return ({ socket, clock }) => {
    socket.write(first, 'latin1')
    let cancel = (): void => undefined
    const drop = (): void => {
      socket.write(byte, 'latin1')
      cancel = clock.callAt((clock.nowMs() + everyMs) as ClockMs, drop)
    }
    cancel = clock.callAt((clock.nowMs() + everyMs) as ClockMs, drop)
    socket.on('close', () => cancel())
  }
}

/** Says the first bytes and then a piece as often as it is taken, until the other side is gone. */
export function floods(first: string, piece: Buffer): Act {
  return ({ socket }) => {
    socket.write(first, 'latin1')
    const pour = (): void => {
      // Bounded by what the other side takes: a write that says no waits for the drain.
      while (!socket.destroyed && socket.write(piece)) continue
    }
    socket.on('drain', pour)
    pour()
  }
}

/** Reads, and says nothing ever. */
export const silent: Act = () => undefined
