// Heads of HTTP/2 in the words of HTTP/1.1 and back, so that all that knows of requests and answers need know of one.
//
//   GET /a HTTP/1.1␍␊           :method GET, :path /a
//   host: example.org␍␊         :authority example.org
//   connection: keep-alive␍␊    (there is no such thing)
//   Accept: */*␍␊               accept */*

import { STATUS_CODES } from 'node:http'
import { type AnswerHead, Complaint, framed, HEADERS_MAX } from './answer-head.ts'

/** Of the connection, which HTTP/2 has other ways for; a request that names them is refused. */
const NOT_SENT: ReadonlySet<string> = new Set(['connection', 'proxy-connection', 'http2-settings'])

/** What a line of the text takes beside its name and value. */
const LINE_BYTES = 4

/** The fields of a request, from its text. */
export function http2Fields(requestText: string): Record<string, string> {
  const [method = '', path = ''] = requestText.slice(0, requestText.indexOf('\r\n')).split(' ')
  const fields: Record<string, string> = { ':method': method, ':scheme': 'https', ':authority': '', ':path': path }
  for (const [name, value] of linesOf(requestText)) fields[name === 'host' ? ':authority' : name] = value
  return fields
}

/** The same as a text for people and archives: names in lower case, as they went, and nothing that did not go. */
export function http2Text(requestText: string): string {
  let text = requestText.slice(0, requestText.indexOf('\r\n') + 2)
  for (const [name, value] of linesOf(requestText)) text += `${name}: ${value}\r\n`
  return `${text}\r\n`
}

function* linesOf(requestText: string): Generator<readonly [name: string, value: string]> {
  for (let at = requestText.indexOf('\r\n') + 2, end: number; ; at = end + 2) {
    end = requestText.indexOf('\r\n', at)
    if (end <= at) return
    const colon = requestText.indexOf(':', at)
    const name = requestText.slice(at, colon).toLowerCase()
    if (!NOT_SENT.has(name)) yield [name, requestText.slice(colon + 2, end)]
  }
}

/** `fields` are names and values in turn, one character per byte; those that begin with a colon are not headers. */
export function answerHeadOf(status: number, fields: readonly string[], headMax: number): AnswerHead | Complaint {
  const rawHeaders: string[] = []
  // HTTP/2 has no words for its statuses, but readers of archives expect some.
  const statusLine = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`
  // Counted before it is joined: a few bytes of a packed head may stand for megabytes.
  let length = statusLine.length + 2
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i] as string
    if (name.startsWith(':')) continue
    const value = fields[i + 1] as string
    rawHeaders.push(name, value)
    length += name.length + value.length + LINE_BYTES
    if (length > headMax) return new Complaint('FETCH_HEAD_TOO_LONG', `more than ${headMax} bytes of head`)
  }
  if (rawHeaders.length > 2 * HEADERS_MAX) {
    return new Complaint('FETCH_HEAD_TOO_LONG', `more than ${HEADERS_MAX} headers`)
  }
  let text = statusLine
  for (let i = 0; i < rawHeaders.length; i += 2)
    text += `${rawHeaders[i] as string}: ${rawHeaders[i + 1] as string}\r\n`
  return framed(`${text}\r\n`, '2', status, '', rawHeaders)
}
