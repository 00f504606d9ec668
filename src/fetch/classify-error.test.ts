// Every error the network and TLS can raise has a name in every phase; what is none of
// theirs is a fault of ours.

import { constants } from 'node:os'
import { expect, test } from 'vitest'
import { FAILURES, Fault } from '../base/index.ts'
import { detailOf, failureOf, type Phase } from './classify-error.ts'

const coded = (code: string, message = 'x'): Error => Object.assign(new Error(message), { code })
const PHASES: readonly Phase[] = ['connect', 'tls', 'head', 'body']

test('every code of the system is a failure in every phase', () => {
  for (const code of [...Object.keys(constants.errno), 'ERR_TLS_CERT_ALTNAME_INVALID', 'CERT_HAS_EXPIRED']) {
    for (const phase of PHASES) expect(FAILURES).toHaveProperty(failureOf(coded(code), phase))
  }
})

test.each<[code: string, phase: Phase, failure: string]>([
  ['ECONNREFUSED', 'connect', 'FETCH_CONNECT_REFUSED'],
  ['ETIMEDOUT', 'connect', 'FETCH_CONNECT_TIMEOUT'],
  ['EHOSTUNREACH', 'connect', 'FETCH_CONNECT_FAILED'],
  ['ENETUNREACH', 'connect', 'FETCH_CONNECT_FAILED'],
  ['EADDRNOTAVAIL', 'connect', 'FETCH_CONNECT_FAILED'],
  ['ECONNRESET', 'tls', 'FETCH_TLS_FAILED'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls', 'FETCH_TLS_FAILED'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls', 'FETCH_TLS_FAILED'],
  ['ETIMEDOUT', 'tls', 'FETCH_CONNECT_TIMEOUT'],
  ['ECONNRESET', 'head', 'FETCH_CONNECTION_LOST'],
  ['EPIPE', 'head', 'FETCH_CONNECTION_LOST'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'head', 'FETCH_TLS_FAILED'],
  ['ECONNRESET', 'body', 'FETCH_BODY_SHORT'],
])('%s while in %s is %s', (code, phase, failure) => {
  expect(failureOf(coded(code), phase)).toBe(failure)
})

test('what is none of theirs is a fault', () => {
  for (const error of [
    new TypeError('x is not a function'),
    coded('ERR_INVALID_ARG_TYPE'),
    new Fault('DISK_FULL', 'full'),
  ]) {
    expect(() => failureOf(error, 'body')).toThrow(Fault)
  }
})

test('a detail is one short line with the code in it', () => {
  expect(detailOf(coded('ECONNRESET', 'read ECONNRESET'))).toBe('read ECONNRESET')
  expect(detailOf(coded('EPROTO', 'bad'))).toBe('EPROTO: bad')
  expect(detailOf(new Error('y'.repeat(5_000))).length).toBeLessThan(300)
  // What OpenSSL and Node say beside the reason is for those who debug them.
  const ofOpenSsl = Object.assign(coded('ERR_SSL_X', '40BD4BBD537F0000:error:0A00042E:…'), { reason: 'wrong version' })
  expect(detailOf(ofOpenSsl)).toBe('ERR_SSL_X: wrong version')
  const advised = coded(
    'SELF_SIGNED',
    'self-signed certificate; if the root CA is installed locally, try running Node.js',
  )
  expect(detailOf(advised)).toBe('SELF_SIGNED: self-signed certificate')
})
