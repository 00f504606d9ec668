// The same for hosts that speak HTTP/2 alone, asked by a fetcher that does where it must.

import type { FailureCode } from '../../src/base/index.ts'
import type { Expected } from './expected-outcome.ts'

const TEXT = 'What the server meant to say.\n'
const HALF = TEXT.slice(0, 10)
const page: Expected = { page: { body: TEXT, type: 'text/html' } }
const malformed: Expected = { failed: 'FETCH_HEAD_MALFORMED' }
const tooLong: Expected = { failed: 'FETCH_HEAD_TOO_LONG' }
const lost: Expected = { failed: 'FETCH_CONNECTION_LOST' }
const broken = (failed: FailureCode, body = HALF): Expected => ({ failed, atLast: { body, truncated: 'disconnect' } })

export const EXPECTED_HTTP2: Readonly<Record<string, Expected>> = {
  'http2-plain': page,
  'http2-trailers': page,
  'http2-interim': page,
  'http2-goaway-then-rest': page,
  'http2-settings-flood': malformed,
  'http2-ping-flood': malformed,
  'http2-priority-flood': malformed,
  'http2-window-flood': malformed,
  'http2-unknown-flood': malformed,
  'http2-interim-flood': malformed,
  'http2-empty-data-flood': broken('FETCH_BODY_MALFORMED', ''),
  'http2-continuation-flood': tooLong,
  'http2-large-head': tooLong,
  'http2-many-headers': tooLong,
  'http2-head-bomb': tooLong,
  'http2-no-status': malformed,
  'http2-status-101': malformed,
  'http2-request-pseudo': malformed,
  'http2-connection-header': malformed,
  'http2-bad-packing': malformed,
  'http2-frame-too-large': broken('FETCH_BODY_MALFORMED', ''),
  'http2-other-stream': malformed,
  'http2-push': malformed,
  'http2-garbage': malformed,
  'http2-window-overflow': malformed,
  'http2-no-streams': { failed: 'FETCH_HEAD_TIMEOUT' },
  'http2-length-short': broken('FETCH_BODY_SHORT', TEXT),
  'http2-length-long': broken('FETCH_BODY_MALFORMED', ''),
  'http2-two-lengths': malformed,
  'http2-rst-after-head': broken('FETCH_BODY_SHORT', ''),
  'http2-rst-no-error': broken('FETCH_BODY_SHORT'),
  'http2-refused': lost,
  'http2-calm': { failed: 'FETCH_SERVER_BUSY' },
  'http2-http1-required': lost,
  'http2-goaway-early': lost,
  'http2-goaway-mid-body': broken('FETCH_BODY_SHORT'),
  'http2-early-close': broken('FETCH_BODY_SHORT'),
  'http2-close': lost,
  'http2-silent': { failed: 'FETCH_HEAD_TIMEOUT' },
  'http2-stalls': { failed: 'FETCH_BODY_STALLED', atLast: { body: HALF, truncated: 'time' } },
}
