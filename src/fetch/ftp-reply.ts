// What an FTP server says, and what follows from it.
//
//   220-Welcome,            a reply of several lines: the first has a dash behind its number,
//    to our server          the last has the same number and a blank; what stands between is text
//   220 Ready

import { TalkEnd } from './talk-end.ts'
import type { Wire } from './wire.ts'

export interface FtpReply {
  readonly code: number
  /** Its lines without the number of the last, one character per byte. */
  readonly lines: readonly string[]
  /** The last line as it came. */
  readonly text: string
}

/** One reply; a server that closes instead, or says what is none, ends the talk. */
export async function readReply(wire: Wire, bytesMax: number): Promise<FtpReply> {
  const lines: string[] = []
  let left = bytesMax
  let code = ''
  for (;;) {
    const line = await wire.line(left)
    if (line === null) throw new TalkEnd('FETCH_CONNECTION_LOST', 'closed before it replied')
    left -= line.length + 1
    if (left <= 0) throw new TalkEnd('FETCH_HEAD_TOO_LONG', `a reply of more than ${bytesMax} bytes`)
    const match = /^([1-5]\d\d)(-|[ \t]|$)/.exec(line)
    if (code === '') {
      if (match === null) throw new TalkEnd('FETCH_HEAD_MALFORMED', `not a reply of FTP: ${shortened(line)}`)
      code = match[1] as string
    }
    const isLast = match !== null && match[1] === code && match[2] !== '-'
    lines.push(match !== null && match[1] === code ? line.slice(4) : line)
    if (isLast) return { code: Number(code), lines, text: line }
  }
}

export function isGood({ code }: FtpReply): boolean {
  return code >= 200 && code < 300
}

/** Words of servers that are full. 530 and 421 also say other things, and only words tell them apart. */
const SAYS_FULL = /too many|maximum|limit|try again|later|full|busy|exceed|connections/i

/** Nobody may come in: the server is full, or does not want us. */
export function loginEnd(reply: FtpReply): TalkEnd {
  const isFull = reply.code < 500 || SAYS_FULL.test(reply.lines.join(' '))
  return new TalkEnd(isFull ? 'FETCH_SERVER_FULL' : 'FETCH_LOGIN_REFUSED', shortened(reply.text))
}

/**
 * A thing was asked for and not given. 421: the server closes, and says so to everybody. 425, 426: the way for the data
 * broke. Other 4xx will pass. 530: only for others. 5xx: not today and not tomorrow.
 */
export function refusalEnd(reply: FtpReply): TalkEnd {
  const detail = shortened(reply.text)
  const { code } = reply
  if (code === 421) return new TalkEnd('FETCH_SERVER_FULL', detail)
  if (code === 425 || code === 426) return new TalkEnd('FETCH_CONNECTION_LOST', detail)
  if (code >= 400 && code < 500) return new TalkEnd('FETCH_SERVER_BUSY', detail)
  if (code >= 500) return new TalkEnd('FETCH_NOT_AVAILABLE', detail)
  return new TalkEnd('FETCH_HEAD_MALFORMED', `a reply that does not fit: ${detail}`)
}

/** The port of a data connection. Whatever address is named beside it is not looked at: we know whom we talk to. */
export function dataPortOf(reply: FtpReply): number {
  const extended = /\((.)\1\1(\d{1,5})\1\)/.exec(reply.text)
  const plain = /\d{1,3},\d{1,3},\d{1,3},\d{1,3},(\d{1,3}),(\d{1,3})/.exec(reply.text)
  const port = extended !== null ? Number(extended[2]) : plain !== null ? Number(plain[1]) * 256 + Number(plain[2]) : 0
  if (port < 1 || port > 65_535) throw new TalkEnd('FETCH_HEAD_MALFORMED', `names no port: ${shortened(reply.text)}`)
  return port
}

/** A path in double quotes, doubled where they are part of it. */
export function quotedPathOf(reply: FtpReply): string | null {
  const match = /"((?:[^"]|"")*)"/.exec(reply.text)
  return match === null ? null : (match[1] as string).replaceAll('""', '"')
}

/** `20260102030405[.678]`, always UTC, as HTTP writes a date; null for anything else. */
export function httpDateOf(reply: FtpReply): string | null {
  const match = /^\d{3} (\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.\d+)?\s*$/.exec(reply.text)
  if (match === null) return null
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number)
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.toUTCString() : null
}

function shortened(text: string): string {
  const printable = text.replaceAll(/[^\x20-\x7e]/g, '?')
  return printable.length > 200 ? `${printable.slice(0, 200)}…` : printable
}
