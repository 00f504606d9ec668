// The client's way to a process on this machine: HTTP over the unix socket that it listens on. No token: whoever may open the socket
// may steer. One connection a request: these are few, and a process that ends leaves no half-open ones behind.

import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { ControlError, type Transport } from './client.ts'

/** For a question; what is live has no end, and beats. A change may be a copy of everything. */
const SILENCE_MAX_MS = 60_000
const CHANGE_MAX_MS = 600_000

export function socketTransport(socketPath: string): Transport {
  return ({ method, path, body, headers, signal }) =>
    new Promise((resolve, reject) => {
      const silenceMs = method === 'GET' ? SILENCE_MAX_MS : CHANGE_MAX_MS
      const asked = request(
        {
          socketPath,
          method,
          path,
          headers: {
            ...headers,
            host: 'localhost',
            ...(body === null ? {} : { 'content-length': Buffer.byteLength(body) }),
          },
          agent: false,
          timeout: silenceMs,
          ...(signal === null ? {} : { signal }),
        },
        (answer) => {
          resolve({ status: answer.statusCode ?? 0, text: () => text(answer), chunks: () => answer })
        },
      )
      asked.on('timeout', () => asked.destroy(new Error(`no answer for ${silenceMs / 1_000} s`)))
      asked.on('error', (cause) => {
        if (signal?.aborted === true) reject(cause)
        else
          reject(new ControlError(0, 'UNREACHABLE', `the crawl's process does not answer: ${cause.message}`, [], cause))
      })
      asked.end(body ?? undefined)
    })
}
