// Bodies in chunks that are framed wrongly, and transfer codings that are none of ours.

import { gzipSync } from 'node:zlib'
import { type Behaviours, chunked, OK, says, TEXT } from './behaviour.ts'

const family = 'chunked'
const TE = 'Transfer-Encoding: chunked\r\n\r\n'
const LIMIT_BYTES = 81_920

/** An answer with these transfer codings, and this body as it stands. */
function coded(codings: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${OK}Transfer-Encoding: ${codings}\r\n\r\n`), body])
}

const IN_CHUNKS = chunked(Buffer.from(TEXT), 10)

export const CHUNKS: Behaviours = {
  'chunk-bad-size': {
    family,
    does: 'a chunk size that is no number',
    act: says(`${OK}${TE}4\r\nsome\r\nzz\r\nfoo\r\n0\r\n\r\n`),
  },
  'chunk-overflow': {
    family,
    does: 'a chunk size above 2^64',
    act: says(`${OK}${TE}4\r\nsome\r\n1000000000000000000000\r\nhello`),
  },
  'chunk-premature-close': { family, does: 'closes inside a chunk', act: says(`${OK}${TE}4\r\nsome\r\n20\r\nmo`) },
  'chunk-no-terminator': { family, does: 'closes before the last chunk', act: says(`${OK}${TE}4\r\nsome\r\n`) },
  'chunk-no-terminator-open': {
    family,
    does: 'never says the last chunk, and stays open',
    act: says(`${OK}${TE}4\r\nsome\r\n`, 'keep'),
  },
  'chunk-reset': { family, does: 'resets inside a chunk', act: says(`${OK}${TE}4\r\nsome\r\n20\r\nmo`, 'reset') },
  'chunk-nul-in-trailer': {
    family,
    does: 'a zero byte in a trailer',
    act: says(`${OK}${TE}4\r\nsome\r\n0\r\nX-Odd: a\0b\r\n\r\n`),
  },
  'chunk-trailers': {
    family,
    does: 'trailers as they should be',
    act: says(`${OK}${TE}4\r\nsome\r\n0\r\nX-Checksum: 1\r\nX-Signature: 2\r\n\r\n`, 'keep'),
  },
  'chunk-extensions': {
    family,
    does: 'extensions of sizes',
    act: says(`${OK}${TE}4;a=b;c="d"\r\nsome\r\n0\r\n\r\n`, 'keep'),
  },
  'chunk-redirect-garbage': {
    family,
    does: 'a redirect whose body is no chunks',
    act: says(({ home }) => `HTTP/1.1 302 Found\r\nLocation: ${home}/plain\r\n${TE}Not a valid chunk.`),
  },
  'chunk-limit': {
    family,
    does: '81,920 bytes in 80 chunks',
    act: says(Buffer.concat([Buffer.from(`${OK}${TE}`), chunked(Buffer.alloc(LIMIT_BYTES, 'portolan'), 1_024)])),
  },
  'te-not-last': {
    family,
    does: 'says chunked before gzip, and means chunks',
    act: says(coded('chunked, gzip', IN_CHUNKS)),
  },
  'te-twice': {
    family,
    does: 'says chunked twice and means once',
    act: says(coded('chunked, chunked', IN_CHUNKS), 'keep'),
  },
  'te-identity-chunked': {
    family,
    does: 'says identity behind chunked',
    act: says(coded('chunked, identity', IN_CHUNKS)),
  },
  'te-unsolicited-gzip': {
    family,
    does: 'a transfer coding of gzip under the chunks',
    act: says(coded('gzip, chunked', chunked(gzipSync(TEXT), 10)), 'keep'),
  },
  'te-unknown': { family, does: 'a transfer coding nobody knows', act: says(coded('x-secret', Buffer.from(TEXT))) },
}
