// Header lines that are written wrongly, and heads that are too long or have no end.

import { answer, type Behaviours, floods, OK, says, TEXT } from './behaviour.ts'

const family = 'headers'
const LENGTH = `Content-Length: ${TEXT.length}\r\n`

export const HEADERS: Behaviours = {
  'bare-lf': {
    family,
    does: 'lines end in a line feed alone',
    act: says(`HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: ${TEXT.length}\n\n${TEXT}`),
  },
  'bare-cr-in-header': {
    family,
    does: 'a carriage return inside a header',
    act: says(answer('X-Odd: one\rX-Hidden: two\r\n')),
  },
  'nul-in-header': { family, does: 'a zero byte in a header', act: says(answer('X-Odd: one\0two\r\n')) },
  'colonless-header': { family, does: 'a header line without a colon', act: says(answer('this-is-no-header\r\n')) },
  'folded-header': {
    family,
    does: 'a header continued on lines that begin with blanks',
    act: says(answer('Set-Cookie: who=somebody;\r\n  Max-Age=3600;\r\n\tVersion=1\r\n')),
  },
  'space-before-colon': {
    family,
    does: 'a blank between the name and the colon of its length',
    act: says(`${OK}Content-Length : ${TEXT.length}\r\n\r\n${TEXT}`, 'keep'),
  },
  'header-bomb-lines': {
    family,
    does: '80 headers with names of 10,000 characters',
    act: says(answer(Array.from({ length: 80 }, (_, i) => `${'n'.repeat(10_000)}${i}: v\r\n`).join(''))),
  },
  'header-100k': { family, does: 'one header of 100 kB', act: says(answer(`X-Long: ${'v'.repeat(100_000)}\r\n`)) },
  'header-too-many': { family, does: '5,001 headers', act: says(answer('X-Many: v\r\n'.repeat(5_001))) },
  'header-accumulated-300k': {
    family,
    does: '1,750 headers of 170 bytes',
    act: says(answer(`X-Many: ${'v'.repeat(160)}\r\n`.repeat(1_750))),
  },
  'header-endless-redirect-accumulate': {
    family,
    does: 'redirects without end, each with 40 kB of headers',
    act: says(({ path, home }) => {
      const next = Number(/\d+$/.exec(path)?.[0] ?? 0) + 1
      const headers = `Location: ${home}/hop${next}\r\nX-Long: ${'v'.repeat(40_000)}\r\n`
      return answer(headers, '', 'HTTP/1.1 302 Found\r\n')
    }),
  },
  'headers-no-end': {
    family,
    does: 'closes inside a header',
    act: says(`${OK}Content-Type: text/html\r\nFunny-head: yesyes`),
  },
  'headers-endless': {
    family,
    does: 'headers at full speed, for ever',
    act: floods(OK, Buffer.from('X-Endless: and so on\r\n'.repeat(100))),
  },
  'header-misspelt-te': {
    family,
    does: 'a header that ends like Transfer-Encoding and is none',
    act: says(`${OK}Client-Transfer-Encoding: chunked\r\n\r\n${TEXT}`),
  },
  'header-non-ascii': {
    family,
    does: 'bytes beyond ASCII in headers, in UTF-8 and in Latin-1',
    act: says(answer('X-Utf-8: J\xc3\xb6rg\r\nX-Latin-1: J\xf6rg\r\n')),
  },
  'dup-content-type': {
    family,
    does: 'two Content-Types that differ',
    act: says(answer('Content-Type: text/plain\r\nContent-Type: text/html; charset=utf-8\r\n')),
  },
  'no-content-type': {
    family,
    does: 'HTML without a Content-Type',
    act: says(answer('', '<!DOCTYPE html><title>Nameless</title><p>HTML all the same.')),
  },
  'garbage-content-type': {
    family,
    does: 'a Content-Type of quotes and semicolons',
    act: says(answer('Content-Type: text/html; charset="utf-8;; ; ;charset=\r\n')),
  },
  'length-in-both-cases': {
    family,
    does: 'names in odd cases, twice the same length',
    act: says(`${OK}CONTENT-LENGTH: ${TEXT.length}\r\n${LENGTH}\r\n${TEXT}`),
  },
}
