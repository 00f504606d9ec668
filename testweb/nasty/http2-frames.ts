// HTTP/2 by hand, for servers that lie: frames, and heads that are packed without any tables.
//
//   length 24 │ type 8 │ flags 8 │ stream 32 │ payload

/** What a client says first. */
export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

export const FRAME_HEAD_BYTES = 9
const FRAME_BYTES_MAX = 16 * 1024

export const Frame = {
  data: 0,
  headers: 1,
  priority: 2,
  rst: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
} as const

export const END_STREAM = 1
export const ACK = 1
export const END_HEADERS = 4

export const ErrorCode = {
  none: 0,
  protocol: 1,
  refused: 7,
  cancel: 8,
  calm: 11,
  http11Required: 13,
} as const

export function frame(type: number, flags: number, stream: number, payload: Buffer | string = ''): Buffer {
  const bytes = Buffer.from(payload as string, 'latin1')
  const head = Buffer.alloc(FRAME_HEAD_BYTES)
  head.writeUIntBE(bytes.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, bytes])
}

type Field = readonly [name: string, value: string]

/** A head, each field as a literal that no table keeps (RFC 7541 §6.2.2); with a `kind` of 0x40 one that the table keeps. */
export function packed(fields: readonly Field[], kind = 0): Buffer {
  return Buffer.concat(fields.map(([name, value]) => Buffer.concat([Buffer.from([kind]), text(name), text(value)])))
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1')
  const length: number[] = []
  if (bytes.length < 127) length.push(bytes.length)
  else {
    length.push(127)
    let rest = bytes.length - 127
    for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) | 128)
    length.push(rest)
  }
  return Buffer.concat([Buffer.from(length), bytes])
}

export function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, 4 * i)
  return bytes
}

export const settings = (): Buffer => frame(Frame.settings, 0, 0)

/** An honest head of a page. */
export function head(stream: number, fields: readonly Field[] = []): Buffer {
  return frame(
    Frame.headers,
    END_HEADERS,
    stream,
    packed([[':status', '200'], ['content-type', 'text/html'], ...fields]),
  )
}

/** A head of any size, continued from frame to frame. */
export function heads(stream: number, fields: readonly Field[]): Buffer[] {
  const bytes = packed(fields)
  const frames: Buffer[] = []
  for (let at = 0; at < bytes.length; at += FRAME_BYTES_MAX) {
    const isLast = at + FRAME_BYTES_MAX >= bytes.length
    const type = at === 0 ? Frame.headers : Frame.continuation
    frames.push(frame(type, isLast ? END_HEADERS : 0, stream, bytes.subarray(at, at + FRAME_BYTES_MAX)))
  }
  return frames
}

export function rst(stream: number, code: number): Buffer {
  return frame(Frame.rst, 0, stream, numbers(code))
}

export function goaway(lastStream: number, code: number): Buffer {
  return frame(Frame.goaway, 0, 0, numbers(lastStream, code))
}
