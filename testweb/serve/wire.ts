// An answer to bytes: status line, headers, framing, content coding.

import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import type { Answer, ContentCoding } from '../content/answer.ts'
import type { BytePaper } from '../content/paper.ts'
import type { Request } from './request.ts'

/** What is written, and what becomes of the connection afterwards. */
export interface Wire {
  readonly status: number
  /** Head and body. May be a view of the paper: valid until that is written on again. */
  readonly bytes: Buffer
  readonly isLast: boolean
}

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  304: 'Not Modified',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  410: 'Gone',
  421: 'Misdirected Request',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
}

/** Sent beyond what a 'short' answer has: the announced length is never reached. */
const MISSING_BYTES = 100
/** Small enough that a page has many, odd so that nothing falls on a boundary by luck. */
const CHUNK_BYTES = 1_021

export function wire(answer: Answer, request: Request, date: string, paper: BytePaper): Wire {
  const { delivery, entity } = answer
  const isLast =
    delivery.isLast || request.connection === 'close' || (request.isHttp10 && request.connection !== 'keep-alive')
  if (entity !== null && isUnchanged(entity.tag, entity.modifiedMs, request)) {
    const head = `HTTP/1.1 304 Not Modified\r\nDate: ${date}\r\nETag: ${entity.tag}\r\n${connectionLine(isLast, request)}\r\n`
    return { status: 304, bytes: Buffer.from(head, 'latin1'), isLast }
  }

  const coding = delivery.coding !== null && accepts(request.acceptEncoding, delivery.coding) ? delivery.coding : null
  paper.clear()
  answer.write(paper)
  if (coding !== null) recode(paper, (body) => compress(body, coding))
  let head = `HTTP/${delivery.httpVersion} ${answer.status} ${REASONS[answer.status] ?? 'Unnamed'}\r\nServer: testweb\r\nDate: ${date}\r\n`
  if (answer.type !== null) head += `Content-Type: ${answer.type}\r\n`
  const moved = answer.moved
  if (moved !== null) head += `Location: ${moved.href}\r\n`
  if (entity !== null) head += `ETag: ${entity.tag}\r\nLast-Modified: ${httpDate(entity.modifiedMs)}\r\n`
  if (delivery.coding !== null) head += 'Vary: Accept-Encoding\r\n'
  if (coding !== null) head += `Content-Encoding: ${coding}\r\n`
  head += answer.headers
  // A client of HTTP/1.0 knows no chunks.
  const isChunked = delivery.framing === 'chunked' && !request.isHttp10
  if (isChunked) head += 'Transfer-Encoding: chunked\r\n'
  else if (delivery.framing !== 'close') {
    head += `Content-Length: ${paper.length + (delivery.breakage === 'short' ? MISSING_BYTES : 0)}\r\n`
  }
  head += `${connectionLine(isLast, request)}\r\n`
  if (request.method === 'HEAD') paper.clear()
  else if (isChunked) recode(paper, inChunks)
  return { status: answer.status, bytes: paper.withHead(head), isLast }
}

/** A short text instead of the answer: throttling and bad requests. */
export function wireText(status: number, text: string, headers: string, date: string, isLast: boolean): Wire {
  const head =
    `HTTP/1.1 ${status} ${REASONS[status] ?? 'Unnamed'}\r\nServer: testweb\r\nDate: ${date}\r\n` +
    `Content-Type: text/plain\r\nContent-Length: ${text.length}\r\n${headers}${isLast ? 'Connection: close\r\n' : ''}\r\n`
  return { status, bytes: Buffer.from(head + text, 'latin1'), isLast }
}

function connectionLine(isLast: boolean, request: Request): string {
  if (isLast) return 'Connection: close\r\n'
  return request.isHttp10 ? 'Connection: keep-alive\r\n' : ''
}

/** If-None-Match decides alone where it is present (RFC 9110, 13.2.2). */
function isUnchanged(tag: string, modifiedMs: number, request: Request): boolean {
  if (request.ifNoneMatch !== null) {
    return (
      request.ifNoneMatch === '*' ||
      request.ifNoneMatch.split(',').some((each) => each.trim().replace(/^W\//, '') === tag)
    )
  }
  return request.ifModifiedSince !== null && Date.parse(request.ifModifiedSince) >= modifiedMs
}

function accepts(acceptEncoding: string, coding: ContentCoding): boolean {
  return acceptEncoding.split(',').some((part) => {
    const [name, quality] = part.split(';', 2)
    const isNamed = name?.trim() === coding
    return isNamed && !/q=0(?:\.0*)?\s*$/.test(quality ?? '')
  })
}

/** Replaces the body by another form of it. */
function recode(paper: BytePaper, change: (body: Buffer) => Uint8Array): void {
  const changed = change(paper.body())
  paper.clear()
  paper.bytes(changed)
}

function compress(bytes: Buffer, coding: ContentCoding): Uint8Array {
  switch (coding) {
    case 'gzip':
      return gzipSync(bytes, { level: 1 })
    case 'deflate':
      return deflateSync(bytes, { level: 1 })
    case 'br':
      return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
    default:
      return zstdCompressSync(bytes)
  }
}

function inChunks(bytes: Buffer): Uint8Array {
  const parts: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const chunk = bytes.subarray(at, at + CHUNK_BYTES)
    parts.push(Buffer.from(`${chunk.length.toString(16)}${at === 0 ? ';first=yes' : ''}\r\n`, 'latin1'), chunk, CRLF)
  }
  parts.push(Buffer.from('0\r\n\r\n', 'latin1'))
  return Buffer.concat(parts)
}

const CRLF = Buffer.from('\r\n', 'latin1')

/** Dates repeat: those of one second, and the one that nearly all pages carry. */
const dates = new Map<number, string>()

export function httpDate(ms: number): string {
  const second = Math.floor(ms / 1_000)
  let date = dates.get(second)
  if (date === undefined) {
    date = new Date(second * 1_000).toUTCString()
    if (dates.size >= 1_000) dates.clear()
    dates.set(second, date)
  }
  return date
}
