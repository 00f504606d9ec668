// What a request for each behaviour must come to, in the words of fetching. One row for each: a behaviour
// without a row is a failing test.

import type { FailureCode, SkipReason } from '../../src/base/index.ts'
import type { Decoding, Truncation } from '../../src/document/index.ts'
import { LONG_TEXT } from '../../testweb/index.ts'
import { EXPECTED_HTTP2 } from './expected-http2.ts'

/** Of a document; what is not named is 200, whole, and not coded. */
export interface ExpectedPage {
  readonly status?: number
  readonly body?: string | RegExp | number
  readonly truncated?: Truncation
  readonly decoding?: Decoding
  readonly type?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

export type Expected =
  | { readonly page: ExpectedPage }
  | {
      readonly failed: FailureCode | readonly FailureCode[]
      /** What is kept at the last try, where half is better than none. */
      readonly atLast?: ExpectedPage
    }
  | { readonly skipped: SkipReason }

const TEXT = 'What the server meant to say.\n'
const page = (one: ExpectedPage = {}): Expected => ({ page: { body: TEXT, ...one } })
const decoded = (body: ExpectedPage['body'] = LONG_TEXT): Expected => page({ body, decoding: 'decoded' })
const html = page({ body: /^<!DOCTYPE html>/, type: 'text/html' })
const moved = (status = 302): Expected => page({ status, body: '' })
const malformed: Expected = { failed: 'FETCH_HEAD_MALFORMED' }
const tooLong: Expected = { failed: 'FETCH_HEAD_TOO_LONG' }
const lost: Expected = { failed: 'FETCH_CONNECTION_LOST' }
const noTls: Expected = { failed: 'FETCH_TLS_FAILED' }
const broken = (failed: FailureCode, body: string, truncated: Truncation): Expected => ({
  failed,
  atLast: { body, truncated },
})
/** A bomb: cut at the first MiB, or at a hundred times its size. */
const bomb = page({ body: /^\0{1048576,}$/, decoding: 'decoded', truncated: 'length' })

export const EXPECTED: Readonly<Record<string, Expected>> = {
  'http-0.9': malformed,
  'status-no-reason': page(),
  'status-colon': page(),
  'status-999': page({ status: 999 }),
  'status-negative': malformed,
  'status-1digit': malformed,
  'status-100digits': malformed,
  'version-100digits': page(),
  'version-1.2': page(),
  'protocol-typo': malformed,
  'empty-reply': lost,
  'interim-only': lost,
  'many-interim': page(),
  'endless-interim': malformed,
  'unsolicited-101': malformed,

  'bare-lf': page({ type: 'text/html' }),
  'bare-cr-in-header': page({ headers: { 'x-odd': 'one X-Hidden: two' } }),
  'nul-in-header': malformed,
  'colonless-header': page(),
  'folded-header': page({ headers: { 'set-cookie': 'who=somebody; Max-Age=3600; Version=1' } }),
  'space-before-colon': page(),
  'header-bomb-lines': tooLong,
  'header-100k': tooLong,
  'header-too-many': tooLong,
  'header-accumulated-300k': tooLong,
  'header-endless-redirect-accumulate': moved(),
  'headers-no-end': lost,
  'headers-endless': tooLong,
  'header-misspelt-te': page(),
  'header-non-ascii': page({ headers: { 'x-utf-8': 'J\xc3\xb6rg', 'x-latin-1': 'J\xf6rg' } }),
  'dup-content-type': page({ type: 'text/html' }),
  'no-content-type': page({ body: /^<!DOCTYPE html>/, type: null }),
  'garbage-content-type': page({ type: 'text/html' }),
  'length-in-both-cases': page(),

  'cl-not-number': page(),
  'cl-negative': page(),
  'cl-trailing-letters': page(),
  'cl-overflow': { skipped: 'size-filtered' },
  'cl-two-different': malformed,
  'cl-two-same': page(),
  'cl-too-large': broken('FETCH_BODY_SHORT', TEXT, 'disconnect'),
  'cl-too-small': page({ body: 'ok' }),
  'cl-and-te': page({ body: 'ok' }),
  'head-with-body': page(),
  '204-with-body': page({ status: 204, body: '' }),
  '304-with-body': page({ status: 304, body: '' }),
  'no-length-keepalive': broken('FETCH_BODY_STALLED', TEXT, 'time'),

  'chunk-bad-size': broken('FETCH_BODY_MALFORMED', 'some', 'disconnect'),
  'chunk-overflow': broken('FETCH_BODY_MALFORMED', 'some', 'disconnect'),
  'chunk-premature-close': broken('FETCH_BODY_SHORT', 'somemo', 'disconnect'),
  'chunk-no-terminator': broken('FETCH_BODY_SHORT', 'some', 'disconnect'),
  'chunk-no-terminator-open': broken('FETCH_BODY_STALLED', 'some', 'time'),
  'chunk-reset': broken('FETCH_BODY_SHORT', 'somemo', 'disconnect'),
  'chunk-nul-in-trailer': page({ body: 'some' }),
  'chunk-trailers': page({ body: 'some' }),
  'chunk-extensions': page({ body: 'some' }),
  'chunk-redirect-garbage': page({ status: 302, body: '', truncated: 'disconnect' }),
  'chunk-limit': page({ body: 65_536, truncated: 'length' }),
  'te-not-last': page({ decoding: 'broken' }),
  'te-twice': page(),
  'te-identity-chunked': page(),
  'te-unsolicited-gzip': page({ decoding: 'decoded' }),
  'te-unknown': page({ decoding: 'unknown' }),

  'infinite-body': page({ body: 65_536, truncated: 'length' }),
  'infinite-chunks': page({ body: 65_536, truncated: 'length' }),
  'slowloris-body': page({ body: /^\.{50,70}$/, truncated: 'time' }),
  'slowloris-headers': { failed: 'FETCH_HEAD_TIMEOUT' },
  'accept-no-reply': { failed: 'FETCH_HEAD_TIMEOUT' },
  'body-stalls': broken('FETCH_BODY_STALLED', TEXT, 'time'),
  // Before or after the connection is made: who is faster.
  'rst-at-connect': { failed: ['FETCH_CONNECT_FAILED', 'FETCH_CONNECTION_LOST'] },
  'rst-after-request': lost,
  'rst-in-head': lost,
  'rst-mid-body': broken('FETCH_BODY_SHORT', TEXT, 'disconnect'),
  'half-closed': lost,
  'max-filesize': { skipped: 'size-filtered' },

  'gzip-bomb': bomb,
  'deflate-bomb': bomb,
  'brotli-bomb': bomb,
  'zstd-bomb': bomb,
  'nested-bomb': bomb,
  'gzip-ok': decoded(),
  'br-ok': decoded(),
  'deflate-raw': decoded(),
  'deflate-zlib': decoded(),
  'zstd-ok': decoded(),
  'multi-encoding': decoded(),
  'unknown-encoding': page({ body: /^\x1f\x8b/, decoding: 'unknown' }),
  'long-encoding-chain': page({ body: /^\x1f\x8b/, decoding: 'unknown' }),
  'gzip-truncated-crc': page({ body: LONG_TEXT, decoding: 'broken' }),
  'gzip-unexpected-eof': page({ body: /^Line 0 of [^]{10000,20000}$/, decoding: 'broken' }),
  'gzip-bad-header': page({ body: /^\xe0\x8b/, decoding: 'broken' }),
  'gzip-bad-middle': page({ body: /^Line 0 of [^]{10000,20000}$/, decoding: 'broken' }),
  'deflate-bad-header': page({ body: /^\x87\x63/, decoding: 'broken' }),
  'gzip-not-gzip': page({ decoding: 'broken' }),
  'gzip-extra-fields': decoded(),
  'gzip-two-members': decoded('first, second'),
  'gzip-trailing-garbage': decoded(TEXT),
  'gzip-trunc-limit': page({ body: 65_536, decoding: 'decoded', truncated: 'length' }),

  'redirect-loop': moved(),
  'redirect-chain': moved(),
  'redirect-two-locations': malformed,
  'redirect-same-locations': moved(),
  'redirect-no-location': moved(301),
  'redirect-empty-location': moved(),
  'redirect-other-scheme': html,
  'redirect-relative': html,
  'redirect-space': html,
  'redirect-to-private-ip': html,
  'meta-refresh-loop': html,
  'redirect-https-downgrade': moved(),

  'cookie-tld': html,
  'cookie-huge': html,
  'cookie-secure-override': html,
  'cookie-other-domain': html,

  'http10-keepalive': page(),
  'pipelined-garbage': page(),
  'closes-after-keep-alive': page(),
  'http2-preface-on-http1': malformed,
  'tls-on-http': malformed,
  'blank-lines-first': page(),
  'request-query-no-slash': html,
  'request-two-qm': html,
  'request-percent': html,
  'request-spaces': html,
  'host-default-port': html,

  'tls-expired': noTls,
  'tls-not-yet': noTls,
  'tls-wrong.host': noTls,
  'tls-self-signed': noTls,
  'tls-untrusted-root': noTls,
  'tls-superfish': noTls,
  'tls-incomplete-chain': noTls,
  'tls-null': noTls,
  'tls-rc4': noTls,
  'tls-3des': noTls,
  'tls-dh1024': noTls,
  'tls-tls-v1-0': noTls,
  'tls-tls-v1-1': noTls,
  'tls-cbc': page(),
  'tls-1000-sans': page(),
  'tls-10000-sans': noTls,
  'tls-no-subject': page(),
  'tls-no-common-name': page(),
  'tls-rsa8192': page(),
  'tls-sha512': page(),
  'tls-plain-http-on-443': noTls,
  'tls-hang-in-handshake': { failed: 'FETCH_CONNECT_TIMEOUT' },
  'tls-rst-in-handshake': noTls,
  'tls-no-close-notify': page(),
  'tls-garbage-record': broken('FETCH_BODY_SHORT', TEXT, 'disconnect'),

  ...EXPECTED_HTTP2,
}
