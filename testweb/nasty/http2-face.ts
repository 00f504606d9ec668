// The side of HTTP/2 that every such host has: reads what a client says, frame by frame, and answers honestly what is not
// the behaviour's business (settings, /robots.txt, /plain).

import type { Socket } from 'node:net'
import {
  ACK,
  END_HEADERS,
  END_STREAM,
  frame,
  Frame,
  FRAME_HEAD_BYTES,
  head,
  packed,
  PREFACE,
  settings,
} from './http2-frames.ts'

const HTTP2_PLAIN = '<!DOCTYPE html><title>Nasty</title><p>A plain page.'

/**
 * The paths that matter, as clients pack them (Huffman's code of RFC 7541, which begins at a byte's start): a head need not be
 * unpacked to find them. Other paths are taken for '/'.
 */
const PACKED_PATHS: readonly (readonly [path: string, bytes: Buffer])[] = [
  ['/robots.txt', huffman('011000 101100 00111 100011 00111 01001 01000 010111 01001 1111001 01001')],
  ['/plain', huffman('011000 101011 101000 00011 00110 101010')],
]

function huffman(codes: string): Buffer {
  const bits = codes.replaceAll(' ', '')
  const bytes = bits.padEnd(8 * Math.ceil(bits.length / 8), '1').match(/.{8}/g) ?? []
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)))
}

/** `onRequest` is told of each request, and returns what shall answer it; null for what is honest. */
export function readHttp2(socket: Socket, onRequest: (path: string, stream: number) => (() => void) | null): void {
  let pending: Buffer = Buffer.alloc(0)
  let isGreeted = false
  socket.on('end', () => socket.end())
  socket.on('data', (piece: Buffer) => {
    pending = Buffer.concat([pending, piece])
    if (!isGreeted) {
      if (pending.length < PREFACE.length) return
      pending = pending.subarray(PREFACE.length)
      isGreeted = true
      socket.write(settings())
    }
    while (pending.length >= FRAME_HEAD_BYTES) {
      const length = pending.readUIntBE(0, 3)
      const end = FRAME_HEAD_BYTES + length
      if (pending.length < end) return
      const [type, flags] = [pending[3], pending[4] ?? 0]
      const stream = pending.readUInt32BE(5)
      const payload = pending.subarray(FRAME_HEAD_BYTES, end)
      pending = pending.subarray(end)
      if (type === Frame.settings && (flags & ACK) === 0) socket.write(frame(Frame.settings, ACK, 0))
      if (type !== Frame.headers) continue
      const path = PACKED_PATHS.find(([, bytes]) => payload.includes(bytes))?.[0] ?? '/'
      const act = onRequest(path, stream)
      if (act !== null) act()
      else if (path === '/robots.txt') {
        socket.write(frame(Frame.headers, END_HEADERS | END_STREAM, stream, packed([[':status', '404']])))
      } else socket.write(Buffer.concat([head(stream), frame(Frame.data, END_STREAM, stream, HTTP2_PLAIN)]))
    }
  })
}
