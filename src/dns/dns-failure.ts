// The resolver's errors in our words. The codes are c-ares'; the table is the whole list of them that
// Node can hand out for a question asked, so that an unknown one shows up in a test of ours first.

import type { FailureCode } from '../base/index.ts'

const FAILURE_OF: Readonly<Record<string, FailureCode>> = {
  ENOTFOUND: 'DNS_NO_NAME',
  EBADNAME: 'DNS_NO_NAME',
  EBADQUERY: 'DNS_NO_NAME',
  ENODATA: 'DNS_NO_ADDRESS',
  ETIMEOUT: 'DNS_TIMEOUT',
  // Nobody listens at the server's port: to the asker the same as silence, and as passing.
  ECONNREFUSED: 'DNS_TIMEOUT',
  ESERVFAIL: 'DNS_SERVER_FAILED',
  EREFUSED: 'DNS_SERVER_FAILED',
  EFORMERR: 'DNS_SERVER_FAILED',
  ENOTIMP: 'DNS_SERVER_FAILED',
  EBADRESP: 'DNS_SERVER_FAILED',
  EBADFAMILY: 'DNS_SERVER_FAILED',
  EOF: 'DNS_SERVER_FAILED',
  ENOMEM: 'DNS_SERVER_FAILED',
  ECANCELLED: 'DNS_SERVER_FAILED',
  EDESTRUCTION: 'DNS_SERVER_FAILED',
}

export function dnsFailureOf(error: unknown): FailureCode {
  const code = (error as NodeJS.ErrnoException | null)?.code
  return (code === undefined ? undefined : FAILURE_OF[code]) ?? 'DNS_SERVER_FAILED'
}
