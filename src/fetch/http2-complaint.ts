// What became of an HTTP/2 stream that did not come to its end, in our words.
//
// Errors are told from the codes of the protocol, by whoever ended the stream: the server (RST_STREAM, GOAWAY), or the
// library that reads the frames, when they are none. Before the head and after it the same thing has two names.

import { Complaint } from './answer-head.ts'

/** RFC 9113 §7. */
const NAMES = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
] as const
type Name = (typeof NAMES)[number]

/** Somebody broke the rules; it was not us. */
const MALFORMED: ReadonlySet<string> = new Set<Name>([
  'PROTOCOL_ERROR',
  'FLOW_CONTROL_ERROR',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'COMPRESSION_ERROR',
])

/** What Node's reader says of frames that are none, or too many. */
const OF_FRAMES: ReadonlySet<string> = new Set(['ERR_HTTP2_ERROR', 'ERR_HTTP2_TOO_MANY_INVALID_FRAMES'])

/** A server's word for calm fits in few bytes; when as many as these came first, it was our reader, who met a head too long. */
const WORD_BYTES_MAX = 1_024

export interface StreamEnd {
  /** Of the stream, or of the GOAWAY that took it along. */
  readonly code: number
  /** Said by the server for the whole connection. */
  readonly isGoaway: boolean
  /** Of the library, about frames. */
  readonly error: NodeJS.ErrnoException | null
  readonly hasHead: boolean
  /** Bytes of the body that were announced and did not come; 0 where nothing is known. */
  readonly missing: number
  /** Bytes that came since the request. */
  readonly wireBytes: number
}

/** The server wants to be asked in HTTP/1.1. */
export function wantsHttp1(code: number): boolean {
  return code === NAMES.indexOf('HTTP_1_1_REQUIRED') || code === NAMES.indexOf('INADEQUATE_SECURITY')
}

export function complaintOf(end: StreamEnd): Complaint {
  const name = NAMES[end.code] ?? `error ${end.code}`
  const isBrokenFrame = OF_FRAMES.has(end.error?.code ?? '')
  const isMalformed = isBrokenFrame || (MALFORMED.has(name) && !end.isGoaway)
  const told = isBrokenFrame && end.error !== null ? end.error.message : name
  const detail = `HTTP/2: ${told}${end.isGoaway ? ' (GOAWAY)' : ''}`
  if (end.hasHead) {
    if (end.missing > 0 && !isBrokenFrame) {
      return new Complaint('FETCH_BODY_SHORT', `${end.missing} bytes are missing (${detail})`)
    }
    return new Complaint(isMalformed ? 'FETCH_BODY_MALFORMED' : 'FETCH_BODY_SHORT', detail)
  }
  if (isBrokenFrame && told.includes('CONTINUATION')) return new Complaint('FETCH_HEAD_TOO_LONG', detail)
  if (isMalformed) return new Complaint('FETCH_HEAD_MALFORMED', detail)
  if (name === 'ENHANCE_YOUR_CALM') {
    const isTooLong = !end.isGoaway && end.wireBytes > WORD_BYTES_MAX
    return isTooLong
      ? new Complaint('FETCH_HEAD_TOO_LONG', 'HTTP/2: more headers than are read')
      : new Complaint('FETCH_SERVER_BUSY', detail)
  }
  return new Complaint('FETCH_CONNECTION_LOST', detail)
}
