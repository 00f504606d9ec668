// What we do when the web misbehaves: one row per failure, small enough to argue over. The failure
// says what happened; only this table says what follows. Its type makes it total: a new code without
// a row does not compile.

import type { FailureCode } from '../base/index.ts'

interface RetryRule {
  /**
   * Who is at fault. 'host': all its URLs wait while it rests, longer each time, and are given up
   * together when its tries are spent. 'url': only this URL spends a try; the host rests as usual.
   * 'nobody': the server asked for patience; nothing is spent but one of the URL's pauses.
   */
  readonly blame: 'host' | 'url' | 'nobody'
  /** Asked again at all? A name that does not exist will not exist in ten seconds either. */
  readonly again: boolean
  /**
   * When the tries are spent and an answer of some kind is in hand: keep that answer as the page
   * (an honest 503 is a page; half a body is a truncated page) or count a failure.
   */
  readonly atLast: 'keep' | 'fail'
}

export const RETRY_TABLE: Readonly<Record<FailureCode, RetryRule>> = {
  DNS_NO_NAME: { blame: 'host', again: false, atLast: 'fail' },
  DNS_NO_ADDRESS: { blame: 'host', again: false, atLast: 'fail' },
  DNS_TIMEOUT: { blame: 'host', again: true, atLast: 'fail' },
  DNS_SERVER_FAILED: { blame: 'host', again: true, atLast: 'fail' },
  FETCH_CONNECT_REFUSED: { blame: 'host', again: true, atLast: 'fail' },
  FETCH_CONNECT_TIMEOUT: { blame: 'host', again: true, atLast: 'fail' },
  FETCH_CONNECT_FAILED: { blame: 'host', again: true, atLast: 'fail' },
  FETCH_PROXY_FAILED: { blame: 'host', again: true, atLast: 'fail' },
  FETCH_TLS_FAILED: { blame: 'host', again: false, atLast: 'fail' },
  FETCH_CONNECTION_LOST: { blame: 'url', again: true, atLast: 'fail' },
  FETCH_HEAD_TIMEOUT: { blame: 'url', again: true, atLast: 'fail' },
  FETCH_HEAD_TOO_LONG: { blame: 'url', again: false, atLast: 'fail' },
  FETCH_HEAD_MALFORMED: { blame: 'url', again: true, atLast: 'fail' },
  FETCH_BODY_STALLED: { blame: 'url', again: true, atLast: 'keep' },
  FETCH_BODY_SHORT: { blame: 'url', again: true, atLast: 'keep' },
  FETCH_BODY_MALFORMED: { blame: 'url', again: true, atLast: 'keep' },
  FETCH_TIMEOUT: { blame: 'url', again: true, atLast: 'fail' },
  FETCH_THROTTLED: { blame: 'nobody', again: true, atLast: 'keep' },
  FETCH_SERVER_BUSY: { blame: 'url', again: true, atLast: 'keep' },
  FETCH_SERVER_FULL: { blame: 'host', again: true, atLast: 'fail' },
  FETCH_LOGIN_REFUSED: { blame: 'host', again: false, atLast: 'fail' },
  FETCH_NOT_AVAILABLE: { blame: 'url', again: false, atLast: 'fail' },
  VISIT_BROKEN: { blame: 'url', again: true, atLast: 'fail' },
}

/**
 * Statuses that are no answer yet but a wish for another time. Everything else is final: a 500 says
 * the same tomorrow, and asking a broken page three times is nobody's gain.
 */
export function passingTrouble(status: number): FailureCode | null {
  switch (status) {
    case 429:
    case 503:
      return 'FETCH_THROTTLED'
    case 408:
    case 502:
    case 504:
      return 'FETCH_SERVER_BUSY'
    default:
      return null
  }
}
