// X.509 v3 certificates (RFC 5280), signed with ECDSA: just what a test authority and its hosts need, and
// the odd ones that servers on the web have.

import { createHash, type KeyObject, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { bits, boolean, explicit, implicit, integer, octets, oid, sequence, set, time, utf8 } from './der.ts'

const OIDS = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  ecdsaWithSha512: '1.2.840.10045.4.3.4',
  commonName: '2.5.4.3',
  organisation: '2.5.4.10',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const

export interface Subject {
  /** Null: a subject without one. */
  readonly commonName: string | null
  readonly organisation?: string
  /** Host names and IPv4 addresses; null for an authority. */
  readonly hosts: readonly string[] | null
  readonly publicKey: KeyObject
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

export interface Issuer {
  readonly commonName: string
  /** On an elliptic curve. */
  readonly privateKey: KeyObject
}

/** In PEM. */
export function makeCertificate(subject: Subject, issuer: Issuer, hash: 'sha256' | 'sha512' = 'sha256'): string {
  const algorithm = sequence(oid(hash === 'sha256' ? OIDS.ecdsaWithSha256 : OIDS.ecdsaWithSha512))
  const publicKey = subject.publicKey.export({ type: 'spki', format: 'der' })
  const serial = createHash('sha256')
    .update(publicKey)
    .update(subject.commonName ?? '')
    .update(`${subject.notBeforeMs}`)
    .digest()
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(serial.subarray(0, 16)),
    algorithm,
    distinguishedName(issuer.commonName),
    sequence(time(subject.notBeforeMs), time(subject.notAfterMs)),
    distinguishedName(subject.commonName, subject.organisation),
    publicKey,
    explicit(3, sequence(...(subject.hosts === null ? authorityExtensions() : leafExtensions(subject, subject.hosts)))),
  )
  return pem(sequence(body, algorithm, bits(sign(hash, body, issuer.privateKey))))
}

function distinguishedName(commonName: string | null, organisation?: string): Buffer {
  const part = (id: string, value: string): Buffer => set(sequence(oid(id), utf8(value)))
  return sequence(
    ...(organisation === undefined ? [] : [part(OIDS.organisation, organisation)]),
    ...(commonName === null ? [] : [part(OIDS.commonName, commonName)]),
  )
}

function extension(id: string, isCritical: boolean, value: Uint8Array): Buffer {
  return isCritical ? sequence(oid(id), boolean(true), octets(value)) : sequence(oid(id), octets(value))
}

function authorityExtensions(): Buffer[] {
  return [
    extension(OIDS.basicConstraints, true, sequence(boolean(true))),
    // Bits 5 and 6 of the usage string: keyCertSign, cRLSign.
    extension(OIDS.keyUsage, true, bits(Buffer.from([0b0000_0110]), 1)),
  ]
}

function leafExtensions(subject: Subject, hosts: readonly string[]): Buffer[] {
  const names = hosts.map((host) =>
    isIPv4(host) ? implicit(7, Buffer.from(host.split('.').map(Number))) : implicit(2, Buffer.from(host, 'latin1')),
  )
  // Names that are all there is to the subject must be understood.
  const isNameless = subject.commonName === null && subject.organisation === undefined
  return [
    extension(OIDS.keyUsage, true, bits(Buffer.from([0b1000_0000]), 7)),
    extension(OIDS.extKeyUsage, false, sequence(oid(OIDS.serverAuth), oid(OIDS.clientAuth))),
    extension(OIDS.subjectAltName, isNameless, sequence(...names)),
  ]
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
