// How long a body is said to be, and how long it is.

import { answer, type Behaviours, OK, says, TEXT } from './behaviour.ts'

const family = 'length'
const SMUGGLED = answer('X-Smuggled: yes\r\n', 'EVIL!')

function withLengths(...lengths: string[]): string {
  return `${OK}${lengths.map((length) => `Content-Length: ${length}\r\n`).join('')}\r\n${TEXT}`
}

export const LENGTHS: Behaviours = {
  'cl-not-number': { family, does: 'a length in letters', act: says(withLengths('thousand')) },
  'cl-negative': { family, does: 'a length below zero', act: says(withLengths('-6')) },
  'cl-trailing-letters': { family, does: 'letters behind the length', act: says(withLengths('12 bananas')) },
  'cl-overflow': { family, does: 'a length above 2^63', act: says(withLengths('9223372036854775808')) },
  'cl-two-different': { family, does: 'two lengths that differ', act: says(withLengths('6', '7')) },
  'cl-two-same': {
    family,
    does: 'the same length twice',
    act: says(withLengths(`${TEXT.length}`, `${TEXT.length}`), 'keep'),
  },
  'cl-too-large': { family, does: 'closes long before its length', act: says(withLengths('50000')) },
  'cl-too-small': {
    family,
    does: 'says more than its length, and what is too much looks like an answer',
    act: says(`${OK}Content-Length: 2\r\n\r\nok${SMUGGLED.toString('latin1')}`, 'keep'),
  },
  'cl-and-te': {
    family,
    does: 'a length and chunks',
    act: says(`${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`, 'keep'),
  },
  'head-with-body': {
    family,
    does: 'answers HEAD with a body',
    act: ({ socket }) => void socket.write(answer('')),
  },
  '204-with-body': {
    family,
    does: '204, with a body that looks like an answer',
    act: says(`HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n${SMUGGLED.toString('latin1')}`, 'keep'),
  },
  '304-with-body': {
    family,
    does: '304 that nobody asked for, with a body',
    act: says('HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello', 'keep'),
  },
  'no-length-keepalive': {
    family,
    does: 'no length, and the connection stays open',
    act: says(`${OK}Connection: keep-alive\r\n\r\n${TEXT}`, 'keep'),
  },
}
