// What went wrong, in our words, decided here where the code of the error still exists. The same code
// means different things at different times (a reset while the body comes is a short body), so the
// phase decides first. Everything without a code is a bug of ours and becomes a Fault, except the
// parser's errors, to which undici gives a name and a message but no code.

import { type FailureCode, Fault } from '../base/index.ts'

/** How far a request has come: 'tls' from the TCP connection to the end of the handshake. */
export type Phase = 'connect' | 'tls' | 'head' | 'body'

const OF_CONNECT: Readonly<Record<string, FailureCode>> = {
  ECONNREFUSED: 'FETCH_CONNECT_REFUSED',
  ETIMEDOUT: 'FETCH_CONNECT_TIMEOUT',
}

const OF_TLS: Readonly<Record<string, FailureCode>> = {
  ETIMEDOUT: 'FETCH_CONNECT_TIMEOUT',
}

const OF_HEAD: Readonly<Record<string, FailureCode>> = {
  UND_ERR_HEADERS_OVERFLOW: 'FETCH_HEAD_TOO_LONG',
  UND_ERR_HEADERS_TIMEOUT: 'FETCH_HEAD_TIMEOUT',
  // Undici's name for any parse error after a Content-Length was read.
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'FETCH_HEAD_MALFORMED',
  // A promise of the parser that a server's bytes could break.
  ERR_ASSERTION: 'FETCH_HEAD_MALFORMED',
}

const OF_BODY: Readonly<Record<string, FailureCode>> = {
  // Trailers beyond the limit.
  UND_ERR_HEADERS_OVERFLOW: 'FETCH_BODY_MALFORMED',
  UND_ERR_BODY_TIMEOUT: 'FETCH_BODY_STALLED',
  ERR_ASSERTION: 'FETCH_BODY_MALFORMED',
}

/** The failure an error of the network, of TLS or of the parser stands for. Throws a Fault for what is none of them. */
export function failureOf(error: Error, phase: Phase): FailureCode {
  if (error instanceof Fault) throw error
  const code = (error as NodeJS.ErrnoException).code
  const isParser = error.name === 'HTTPParserError'
  if (typeof code !== 'string' && !isParser) throw new Fault('ASSERTION', `fetching broke: ${error.message}`, error)
  if (code === 'UND_ERR_INVALID_ARG')
    throw new Fault('ASSERTION', `undici refuses our request: ${error.message}`, error)
  const key = code ?? ''
  if (phase === 'connect') return OF_CONNECT[key] ?? 'FETCH_CONNECT_FAILED'
  if (phase === 'tls') return OF_TLS[key] ?? 'FETCH_TLS_FAILED'
  if (phase === 'head') {
    if (isParser || isBadResponse(error, key)) return 'FETCH_HEAD_MALFORMED'
    // TLS 1.3 tells of a missing client certificate only after the handshake.
    if (key.startsWith('ERR_SSL_') || key === 'EPROTO') return 'FETCH_TLS_FAILED'
    return OF_HEAD[key] ?? 'FETCH_CONNECTION_LOST'
  }
  // The parser is also the one to notice that the connection ended inside a chunk.
  if (isParser) return error.message.includes('Invalid EOF state') ? 'FETCH_BODY_SHORT' : 'FETCH_BODY_MALFORMED'
  return OF_BODY[key] ?? 'FETCH_BODY_SHORT'
}

/** An interim answer nobody asked for (100, 101): undici closes the socket and says so in words only. */
function isBadResponse(error: Error, code: string): boolean {
  return code === 'UND_ERR_SOCKET' && (error.message === 'bad response' || error.message === 'bad upgrade')
}

/** One line for people: the code if there is one, and what the error says. No stack, no buffers. */
export function detailOf(error: Error): string {
  const code = (error as NodeJS.ErrnoException).code
  const message = error.message.length > 200 ? `${error.message.slice(0, 200)}…` : error.message
  return code === undefined || message.includes(code) ? message : `${code}: ${message}`
}
