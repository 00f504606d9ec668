// The first line of an answer, and answers that have none.

import { type Behaviours, OK, says, TEXT } from './behaviour.ts'

const family = 'status-line'
const LENGTH = `Content-Length: ${TEXT.length}\r\n\r\n${TEXT}`

export const STATUS_LINES: Behaviours = {
  'http-0.9': {
    family,
    does: 'text from the first byte on, no head at all',
    act: says(`<!DOCTYPE html>\n<html><p>${TEXT}</html>\n`),
  },
  'status-no-reason': { family, does: 'no reason phrase behind the status', act: says(`HTTP/1.1 200 \r\n${LENGTH}`) },
  'status-colon': { family, does: 'a colon behind the status', act: says(`HTTP/1.1 200: OK\r\n${LENGTH}`) },
  'status-999': { family, does: 'a status nobody defined', act: says(`HTTP/1.1 999 OK\r\n${LENGTH}`) },
  'status-negative': { family, does: 'a negative status', act: says(`HTTP/1.1 -1 OK\r\n${LENGTH}`) },
  'status-1digit': { family, does: 'a status of one digit', act: says(`HTTP/1.1 2 OK\r\n${LENGTH}`) },
  'status-100digits': {
    family,
    does: 'a status of a hundred digits',
    act: says(`HTTP/1.1 ${'2'.repeat(100)} OK\r\n${LENGTH}`),
  },
  'version-100digits': {
    family,
    does: 'a minor version of a hundred digits',
    act: says(`HTTP/1.${'1'.repeat(100)} 200 OK\r\n${LENGTH}`),
  },
  'version-1.2': { family, does: 'a version that does not exist', act: says(`HTTP/1.2 200 OK\r\n${LENGTH}`) },
  'protocol-typo': { family, does: 'HTP instead of HTTP', act: says(`HTP/1.1 200 OK\r\n${LENGTH}`) },
  'empty-reply': { family, does: 'reads the request and closes', act: says('') },
  'interim-only': { family, does: '100 Continue, then closes', act: says('HTTP/1.1 100 Continue\r\n\r\n') },
  'many-interim': {
    family,
    does: 'three interim answers before the answer',
    act: says(
      `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${OK}${LENGTH}`,
    ),
  },
  'endless-interim': {
    family,
    does: 'interim answers and no end of them',
    act: says('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000)),
  },
  'unsolicited-101': {
    family,
    does: 'changes to a protocol nobody asked for',
    act: says('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nxyz', 'keep'),
  },
}
