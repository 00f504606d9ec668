// Bodies that are compressed: rightly, twice, wrongly, half, and to burst whoever unpacks them.

import {
  brotliCompressSync,
  constants,
  crc32,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { answer, type Act, type Behaviours, says, TEXT } from './behaviour.ts'

const family = 'content-encoding'
const BOMB_BYTES = 11_500_000
const LIMIT_BYTES = 65_536

/** Large enough that there is something to lose in the middle of it. */
export const LONG_TEXT = Array.from({ length: 900 }, (_, line) => `Line ${line} of a text of nine hundred.\n`).join('')

/** An answer in these codings; the bytes are made when first asked for. */
function coded(codings: string | readonly string[], make: () => Buffer): Act {
  let bytes: Buffer | null = null
  return says(() => {
    const lines = [codings].flat().map((coding) => `Content-Encoding: ${coding}\r\n`)
    bytes ??= answer(`Content-Type: text/plain\r\n${lines.join('')}`, make())
    return bytes
  }, 'keep')
}

const bomb = (): Buffer => Buffer.alloc(BOMB_BYTES, 0)
const brotli = (bytes: Buffer): Buffer => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })

/** RFC 1952, by hand: a comment and an extra field, both as long as they may be and longer than anybody's. */
function gzipWithExtras(text: string): Buffer {
  const extra = Buffer.alloc(60_000, 'x')
  const extraLength = Buffer.alloc(2)
  extraLength.writeUInt16LE(extra.length)
  const tail = Buffer.alloc(8)
  tail.writeUInt32LE(crc32(text), 0)
  tail.writeUInt32LE(text.length, 4)
  return Buffer.concat([
    // Flags: an extra field, a name, a comment.
    Buffer.from([0x1f, 0x8b, 8, 0b0001_1100, 0, 0, 0, 0, 0, 3]),
    extraLength,
    extra,
    Buffer.from('a-name\0'),
    Buffer.from(`${'a comment '.repeat(1_000)}\0`),
    deflateRawSync(text),
    tail,
  ])
}

function broken(bytes: Buffer, at: number): Buffer {
  bytes[at] = (bytes[at] ?? 0) ^ 0xff
  return bytes
}

export const CONTENT_CODINGS: Behaviours = {
  'gzip-bomb': { family, does: '11 MB of zeros in gzip', act: coded('gzip', () => gzipSync(bomb())) },
  'deflate-bomb': { family, does: '11 MB of zeros in deflate', act: coded('deflate', () => deflateSync(bomb())) },
  'brotli-bomb': { family, does: '11 MB of zeros in brotli', act: coded('br', () => brotli(bomb())) },
  'zstd-bomb': { family, does: '11 MB of zeros in zstd', act: coded('zstd', () => zstdCompressSync(bomb())) },
  'nested-bomb': {
    family,
    does: 'a bomb in gzip in gzip in gzip',
    act: coded('gzip, gzip, gzip', () => gzipSync(gzipSync(gzipSync(bomb())))),
  },
  'gzip-ok': { family, does: 'gzip as it should be, by its old name', act: coded('x-gzip', () => gzipSync(LONG_TEXT)) },
  'br-ok': { family, does: 'brotli as it should be', act: coded('br', () => brotli(Buffer.from(LONG_TEXT))) },
  'deflate-raw': {
    family,
    does: 'deflate without the frame it should have',
    act: coded('deflate', () => deflateRawSync(LONG_TEXT)),
  },
  'deflate-zlib': { family, does: 'deflate as it should be', act: coded('deflate', () => deflateSync(LONG_TEXT)) },
  'zstd-ok': { family, does: 'zstd as it should be', act: coded('zstd', () => zstdCompressSync(LONG_TEXT)) },
  'multi-encoding': {
    family,
    does: 'three codings in two headers',
    act: coded(['gzip, deflate', 'gzip'], () => gzipSync(deflateSync(gzipSync(LONG_TEXT)))),
  },
  'unknown-encoding': {
    family,
    does: 'a coding nobody knows between two that are known',
    act: coded('gzip, foo, deflate', () => deflateSync(gzipSync(LONG_TEXT))),
  },
  'long-encoding-chain': {
    family,
    does: 'gzip, thirty times over',
    act: coded(Array.from({ length: 30 }, () => 'gzip').join(', '), () => gzipSync(LONG_TEXT)),
  },
  'gzip-truncated-crc': {
    family,
    does: 'gzip without its checksum',
    act: coded('gzip', () => gzipSync(LONG_TEXT).subarray(0, -8)),
  },
  'gzip-unexpected-eof': {
    family,
    does: 'gzip that ends in the middle, under a length that fits',
    act: coded('gzip', () => {
      const whole = gzipSync(LONG_TEXT)
      return whole.subarray(0, whole.length >> 1)
    }),
  },
  'gzip-bad-header': {
    family,
    does: 'gzip with a broken first byte',
    act: coded('gzip', () => broken(gzipSync(LONG_TEXT), 0)),
  },
  'gzip-bad-middle': {
    family,
    does: 'gzip with a broken byte in the middle',
    act: coded('gzip', () => {
      const whole = gzipSync(LONG_TEXT)
      return broken(whole, whole.length >> 1)
    }),
  },
  'deflate-bad-header': {
    family,
    does: 'deflate with broken first bytes',
    act: coded('deflate', () => broken(broken(deflateSync(LONG_TEXT), 0), 1)),
  },
  'gzip-not-gzip': { family, does: 'says gzip and is plain', act: coded('gzip', () => Buffer.from(TEXT)) },
  'gzip-extra-fields': {
    family,
    does: 'gzip with a huge comment and a huge extra field',
    act: coded('gzip', () => gzipWithExtras(LONG_TEXT)),
  },
  'gzip-two-members': {
    family,
    does: 'gzip in two members, one behind the other',
    act: coded('gzip', () => Buffer.concat([gzipSync('first, '), gzipSync('second')])),
  },
  'gzip-trailing-garbage': {
    family,
    does: 'gzip with text behind it',
    act: coded('gzip', () => Buffer.concat([gzipSync(TEXT), Buffer.from('and some more')])),
  },
  'gzip-trunc-limit': {
    family,
    does: '64 KiB and one more in gzip',
    act: coded('gzip', () => gzipSync(Buffer.alloc(LIMIT_BYTES + 1_024, 'portolan'))),
  },
}
