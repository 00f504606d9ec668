// What happens between answers, and what a request looks like.

import { answer, type Behaviours, htmlAnswer, OK, says, TEXT } from './behaviour.ts'

const shows = says(({ path }) => htmlAnswer(`<p>You asked for ${path.replaceAll(/[<&]/g, '')}.`), 'keep')
const request = { family: 'request', act: shows } as const

export const CONNECTIONS: Behaviours = {
  'http10-keepalive': {
    family: 'connection',
    does: 'HTTP/1.0 without a word about the connection, which stays open and silent',
    act: says(answer('', TEXT, 'HTTP/1.0 200 OK\r\n'), 'keep'),
  },
  'pipelined-garbage': {
    family: 'connection',
    does: 'says more behind a whole answer',
    act: says(Buffer.concat([answer(''), Buffer.from('garbage that nobody asked for\r\n\r\n')]), 'keep'),
  },
  'closes-after-keep-alive': {
    family: 'connection',
    does: 'promises to keep the connection and closes it',
    act: says(answer('Connection: keep-alive\r\nKeep-Alive: timeout=100\r\n')),
  },
  'http2-preface-on-http1': {
    family: 'connection',
    does: 'frames of HTTP/2 in the clear',
    act: says(Buffer.from([0, 0, 0x12, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0x80, 0, 4, 0, 1, 0, 0]), 'keep'),
  },
  'tls-on-http': {
    family: 'connection',
    does: 'a TLS alert in the clear',
    act: says(Buffer.from([0x15, 3, 1, 0, 2, 2, 0x46]), 'keep'),
  },
  'blank-lines-first': {
    family: 'connection',
    does: 'blank lines before its answer',
    act: says(`\r\n\r\n\n${OK}Content-Length: ${TEXT.length}\r\n\r\n${TEXT}`, 'keep'),
  },
  'request-query-no-slash': { ...request, does: 'a URL with a query and no path' },
  'request-two-qm': { ...request, does: 'a URL with two question marks' },
  'request-percent': { ...request, does: 'a URL with a lone percent sign' },
  'request-spaces': { ...request, does: 'a URL with blanks in path and query' },
  'host-default-port': { ...request, does: 'a URL that names the default port' },
}
