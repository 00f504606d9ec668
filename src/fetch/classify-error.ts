// What went wrong, in our words, decided here where the code of the error still exists. The same code
// means different things at different times (a reset while the body comes is a short body), so the
// phase decides first. Everything without a code is a bug of ours and becomes a Fault. What is wrong with
// an answer is no error but a complaint of its reader, and has its name from there.

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

/** The failure an error of the network or of TLS stands for. Throws a Fault for what is none of them. */
export function failureOf(error: Error, phase: Phase): FailureCode {
  if (error instanceof Fault) throw error
  const { code } = error as NodeJS.ErrnoException
  if (typeof code !== 'string' || code.startsWith('ERR_INVALID_') || code === 'ERR_ASSERTION')
    throw new Fault('ASSERTION', `fetching broke: ${error.message}`, error)
  switch (phase) {
    case 'connect':
      return OF_CONNECT[code] ?? 'FETCH_CONNECT_FAILED'
    case 'tls':
      return OF_TLS[code] ?? 'FETCH_TLS_FAILED'
    case 'head':
      // TLS 1.3 tells of a missing client certificate only after the handshake.
      return code.startsWith('ERR_SSL_') || code === 'EPROTO' ? 'FETCH_TLS_FAILED' : 'FETCH_CONNECTION_LOST'
    case 'body':
      return 'FETCH_BODY_SHORT'
  }
}

/** One line for people: the code if there is one, and what the error says. No stack, no buffers, no advice on running Node. */
export function detailOf(error: Error): string {
  // OpenSSL puts addresses of memory and lines of its source into the message, and the reason beside it.
  const { code, reason } = error as NodeJS.ErrnoException & { readonly reason?: unknown }
  const told = typeof reason === 'string' ? reason : (error.message.split('; if the root CA is', 1)[0] ?? '')
  const message = told.length > 200 ? `${told.slice(0, 200)}…` : told
  return code === undefined || message.includes(code) ? message : `${code}: ${message}`
}
