// The head of an answer, read as browsers read it: what can be forgiven is, what would be guessing is not.
//
//   HTTP/1.1 200 OK␍␊            version, status, reason
//   Name: value␍␊                pairs, in order, as received
//   ␍␊                           and how the body will end: a length, chunks, or the connection's end
//
// Forgiven: lines ended by a line feed alone, folded lines (joined by a blank), blanks around names, lines
// that are no header (dropped), a carriage return inside a line (a blank, RFC 9112 §2.2), versions that do
// not exist, a length that is no number (there is none then), the same length twice, a length beside
// chunks (the chunks count), chunks named anywhere among the transfer codings. Not forgiven: a zero byte, a
// status without three digits, lengths that differ, a redirect to two places.
// hot: one flat string, cut by searching; every search goes forward only, so hostile heads cost no more.

import type { FailureCode } from '../base/index.ts'

/** In the place of a length: the body is chunked, or ends with the connection. */
export const CHUNKED = -1
export const UNTIL_CLOSE = -2

/** More headers than this are an attack (Node's own limit too). */
export const HEADERS_MAX = 2_000

const TAB = 9
const CR = 13
const BLANK = 32
const ZERO = 0x30

const USUAL_START = 'HTTP/1.1 '
const STATUS_LINE = /^HTTP(?:\/(\d+)(?:\.(\d+))?)?[ \t]+([1-9]\d\d)(?!\d)(.*)$/is
const DIGITS = /^\d+$/
const NO_CODINGS: readonly string[] = []
const CHUNKS = 'chunked'
const JUST_CHUNKS: readonly string[] = [CHUNKS]

/** Why an answer is none. */
export class Complaint {
  readonly code: FailureCode
  readonly detail: string

  constructor(code: FailureCode, detail: string) {
    this.code = code
    this.detail = detail
  }
}

export interface AnswerHead {
  /** As received, one character per byte, from the status line to the empty line; of HTTP/2 what HTTP/1.1 would have sent. */
  readonly text: string
  readonly httpVersion: '1.0' | '1.1' | '2'
  readonly status: number
  readonly statusText: string
  /** Name and value in turn. */
  readonly rawHeaders: readonly string[]
  /** Bytes of the body, or CHUNKED, or UNTIL_CLOSE. */
  readonly length: number
  /** Transfer codings beside chunks, in the order they were applied: nobody asked for any, and yet they come. */
  readonly transferCodings: readonly string[]
  /** The server means to keep the connection. */
  readonly isPersistent: boolean
  /** How long it means to, where it says so. */
  readonly keepMs: number | null
}

/** Takes the whole head, its empty line included. */
export function parseHead(text: string): AnswerHead | Complaint {
  if (text.includes('\0')) return malformed('a zero byte in the head')
  const lineEnd = text.indexOf('\n')
  const statusLine = text.slice(0, text.charCodeAt(lineEnd - 1) === CR ? lineEnd - 1 : lineEnd)
  let httpVersion: '1.0' | '1.1' = '1.1'
  let status = statusLine.startsWith(USUAL_START) ? usualStatus(statusLine) : 0
  let statusText = ''
  if (status !== 0) statusText = statusLine.slice(13)
  else {
    const found = STATUS_LINE.exec(statusLine)
    if (found === null) return malformed(`no status line: ${JSON.stringify(statusLine.slice(0, 60))}`)
    const [, major = '1', minor = '0', digits = '', reason = ''] = found
    if (major === '0' || (major === '1' && minor === '0')) httpVersion = '1.0'
    status = Number(digits)
    statusText = reason.replaceAll('\r', ' ').trim()
  }
  const rawHeaders: string[] = []
  const complaint = readHeaders(text, lineEnd + 1, rawHeaders)
  return complaint ?? framed(text, httpVersion, status, statusText, rawHeaders)
}

/** The status of 'HTTP/1.1 200 OK'; 0 for a line that is written in another way. */
function usualStatus(line: string): number {
  const isUsual = line.charCodeAt(12) === BLANK && line.charCodeAt(13) !== BLANK && !line.includes('\r')
  if (!isUsual) return 0
  const first = line.charCodeAt(9) - ZERO
  const second = line.charCodeAt(10) - ZERO
  const third = line.charCodeAt(11) - ZERO
  const areDigits = first > 0 && first < 10 && second >= 0 && second < 10 && third >= 0 && third < 10
  return areDigits ? first * 100 + second * 10 + third : 0
}

function readHeaders(text: string, start: number, rawHeaders: string[]): Complaint | null {
  // Where the next colon and carriage return are; looked for again only when passed.
  let colon = -1
  let carriageReturn = -1
  let isFoldable = false
  for (let at = start, lineEnd: number; ; at = lineEnd + 1) {
    lineEnd = text.indexOf('\n', at)
    if (lineEnd === -1) return null
    if (colon < at) colon = indexOrEnd(text, ':', at)
    if (carriageReturn < at) carriageReturn = indexOrEnd(text, '\r', at)
    const end = carriageReturn === lineEnd - 1 ? carriageReturn : lineEnd
    if (end === at) return null
    // Carriage returns before the one that ends the line.
    const isOdd = carriageReturn < end
    const first = text.charCodeAt(at)
    if (first === BLANK || first === TAB) {
      if (isFoldable) rawHeaders[rawHeaders.length - 1] += ` ${cleaned(text, at, end, isOdd)}`
      continue
    }
    isFoldable = false
    if (colon >= end) continue
    const name = cleaned(text, at, colon, isOdd)
    if (name === '') continue
    if (rawHeaders.length === 2 * HEADERS_MAX) {
      return new Complaint('FETCH_HEAD_TOO_LONG', `more than ${HEADERS_MAX} headers`)
    }
    rawHeaders.push(name, cleaned(text, colon + 1, end, isOdd))
    isFoldable = true
  }
}

function indexOrEnd(text: string, what: string, from: number): number {
  const at = text.indexOf(what, from)
  return at === -1 ? text.length : at
}

/** Without blanks at its ends. */
function cleaned(text: string, from: number, to: number, isOdd: boolean): string {
  if (isOdd) {
    const plain = text.slice(from, to).replaceAll('\r', ' ')
    return cleaned(plain, 0, plain.length, false)
  }
  let start = from
  let end = to
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === BLANK || code === TAB
}

/** RFC 9112 §6.3, and "extract a length" of the Fetch standard where that is what browsers do. */
export function framed(
  text: string,
  httpVersion: '1.0' | '1.1' | '2',
  status: number,
  statusText: string,
  rawHeaders: string[],
): AnswerHead | Complaint {
  let lengths = ''
  let codings = ''
  let connection = ''
  let keepAlive = ''
  let location = ''
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    const { length } = name
    if (length !== 8 && length !== 10 && length !== 14 && length !== 17) continue
    const value = rawHeaders[i + 1] as string
    switch (name.toLowerCase()) {
      case 'location':
        // To choose one would be guessing; browsers refuse, too.
        if (location !== '' && location !== value && isRedirect(status)) return malformed('a redirect to two places')
        location = value
        break
      case 'content-length':
        lengths = joined(lengths, value)
        break
      case 'transfer-encoding':
        codings = joined(codings, value)
        break
      case 'connection':
        connection = joined(connection, value)
        break
      case 'keep-alive':
        keepAlive = value
        break
      default:
    }
  }
  let length = UNTIL_CLOSE
  let transferCodings = NO_CODINGS
  if (status < 200 || status === 204 || status === 304) length = 0
  else {
    if (codings !== '') transferCodings = codingsOf(codings)
    if (transferCodings.includes(CHUNKS)) {
      length = CHUNKED
      transferCodings = transferCodings === JUST_CHUNKS ? NO_CODINGS : transferCodings.filter((one) => one !== CHUNKS)
    } else if (transferCodings.length === 0 && lengths !== '') {
      const agreed = agreedLength(lengths)
      if (agreed === null) return malformed(`lengths that differ: ${lengths.slice(0, 60)}`)
      length = agreed
    }
  }
  return {
    text,
    httpVersion,
    status,
    statusText,
    rawHeaders,
    length,
    transferCodings,
    isPersistent: httpVersion === '1.0' ? hasToken(connection, 'keep-alive') : !hasToken(connection, 'close'),
    keepMs: keepAlive === '' ? null : keepMsOf(keepAlive),
  }
}

function joined(before: string, value: string): string {
  return before === '' ? value : `${before},${value}`
}

/** Without their parameters; 'identity' is none. */
function codingsOf(codings: string): readonly string[] {
  const lower = codings.toLowerCase()
  if (lower === CHUNKS) return JUST_CHUNKS
  const names = lower.split(',').map((coding) => coding.split(';', 1)[0]?.trim() ?? '')
  return names.filter((name) => name !== '' && name !== 'identity')
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400
}

/** Null when several differ; UNTIL_CLOSE when it is no number. Larger than numbers are exact is large enough. */
function agreedLength(lengths: string): number | null {
  let length = lengths
  if (lengths.includes(',')) {
    const all = lengths.split(',').map((one) => one.trim())
    length = all[0] as string
    if (all.some((one) => one !== length && !isSameNumber(one, length))) return null
  }
  return DIGITS.test(length) ? Number(length) : UNTIL_CLOSE
}

/** '06' is 6 as well. */
function isSameNumber(one: string, other: string): boolean {
  return DIGITS.test(one) && DIGITS.test(other) && Number(one) === Number(other)
}

function hasToken(list: string, token: string): boolean {
  if (list.length < token.length) return false
  const lower = list.toLowerCase()
  if (!lower.includes(',')) return lower === token
  return lower.split(',').some((one) => one.trim() === token)
}

function keepMsOf(keepAlive: string): number | null {
  const seconds = /timeout\s*=\s*"?(\d{1,9})/i.exec(keepAlive)?.[1]
  return seconds === undefined ? null : Number(seconds) * 1_000
}

function malformed(detail: string): Complaint {
  return new Complaint('FETCH_HEAD_MALFORMED', detail)
}
