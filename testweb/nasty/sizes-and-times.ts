// Too much, too slow, never, and broken off.

import { type Behaviours, drips, floods, OK, reset, says, silent, TEXT } from './behaviour.ts'

const family = 'size-time'
/** As often as a slow one says something. */
const DRIP_MS = 1_000

export const SIZES_AND_TIMES: Behaviours = {
  'infinite-body': {
    family,
    does: 'a body without end at full speed',
    act: floods(`${OK}Content-Type: text/plain\r\n\r\n`, Buffer.alloc(16_384, 'and so on ')),
  },
  'infinite-chunks': {
    family,
    does: 'chunks of one byte without end at full speed',
    act: floods(`${OK}Transfer-Encoding: chunked\r\n\r\n`, Buffer.from('1\r\nx\r\n'.repeat(2_000))),
  },
  'slowloris-body': {
    family,
    does: 'a byte of its body every second, for ever',
    act: drips(`${OK}Content-Type: text/html\r\nContent-Length: 1000000\r\n\r\n`, '.', DRIP_MS),
  },
  'slowloris-headers': {
    family,
    does: 'a byte of its head every second, for ever',
    act: drips('HTTP/1.1 200 OK\r\nX-Slow: ', 'v', DRIP_MS),
  },
  'accept-no-reply': { family, does: 'takes the request and never says anything', act: silent },
  'body-stalls': {
    family,
    does: 'stops in the middle of a body and stays',
    act: says(`${OK}Content-Length: 50000\r\n\r\n${TEXT}`, 'keep'),
  },
  'rst-at-connect': { family, does: 'resets a connection at once', act: silent, atConnect: reset },
  'rst-after-request': { family, does: 'resets when asked', act: ({ socket }) => reset(socket) },
  'rst-in-head': { family, does: 'resets inside its head', act: says(`${OK}Content-Ty`, 'reset') },
  'rst-mid-body': {
    family,
    does: 'resets in the middle of a body',
    act: says(`${OK}Content-Length: 50000\r\n\r\n${TEXT}`, 'reset'),
  },
  'half-closed': {
    family,
    does: 'closes its half before it was asked, then answers nothing',
    act: silent,
    atConnect: (socket) => {
      socket.resume()
      socket.end()
    },
  },
  'max-filesize': {
    family,
    does: 'announces more than anybody wants',
    act: says(`${OK}Content-Length: 1099511627776\r\n\r\n${TEXT}`, 'keep'),
  },
}
