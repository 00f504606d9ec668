// A certificate authority of our own, alive as long as the test web: made at start-up, trusted by whoever
// is given its certificate, good for any name anyone asks for.

import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import { bits, boolean, explicit, implicit, integer, octets, oid, sequence, set, time, utf8 } from './der.ts'

const DAY_MS = 86_400_000
/** Names come from whoever connects, so their certificates are bounded; beyond, they are made again. */
const CONTEXTS_MAX = 10_000

const OIDS = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const

/** Names under ODD_DOMAIN whose first label is one of these get a certificate no client should trust. */
export type BadCertificate = 'expired' | 'wrong-name' | 'self-signed'

interface Subject {
  readonly commonName: string
  /** Host name or IPv4 address; null for the authority. */
  readonly host: string | null
  readonly publicKey: KeyObject
  readonly notBeforeMs: number
  readonly notAfterMs: number
}

interface Issuer {
  readonly commonName: string
  readonly privateKey: KeyObject
}

export class Certificates {
  /** What a client must trust, in PEM. */
  readonly authority: string
  readonly #nowMs: number
  readonly #issuer: Issuer
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  readonly #contexts = new Map<string, SecureContext>()

  /** `nowMs` is the date the certificates are valid around. */
  constructor(nowMs: number) {
    this.#nowMs = nowMs
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    this.#issuer = { commonName: 'Portolan test web authority', privateKey }
    const validity = { notBeforeMs: nowMs - DAY_MS, notAfterMs: nowMs + 365 * DAY_MS }
    const subject = { commonName: this.#issuer.commonName, host: null, publicKey, ...validity }
    this.authority = pem(makeCertificate(subject, this.#issuer))
  }

  /** Of every certificate given out, in PEM: for servers other than ours. */
  get key(): string {
    return this.#keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  }

  contextFor(name: string): SecureContext {
    let context = this.#contexts.get(name)
    if (context === undefined) {
      context = createSecureContext({
        key: this.key,
        cert: this.certificateFor(name),
      })
      if (this.#contexts.size >= CONTEXTS_MAX) this.#contexts.clear()
      this.#contexts.set(name, context)
    }
    return context
  }

  /** In PEM. */
  certificateFor(name: string): string {
    const flaw = name.split('.', 1)[0] as BadCertificate
    const age = flaw === 'expired' ? 400 * DAY_MS : 0
    const subject: Subject = {
      commonName: name.slice(0, 64),
      host: flaw === 'wrong-name' ? 'somebody-else.test' : name,
      publicKey: this.#keys.publicKey,
      notBeforeMs: this.#nowMs - DAY_MS - age,
      notAfterMs: this.#nowMs + 365 * DAY_MS - age,
    }
    const itself = { commonName: subject.commonName, privateKey: this.#keys.privateKey }
    return pem(makeCertificate(subject, flaw === 'self-signed' ? itself : this.#issuer))
  }
}

/** X.509 v3, RFC 5280, with an ECDSA signature over SHA-256. */
function makeCertificate(subject: Subject, issuer: Issuer): Buffer {
  const algorithm = sequence(oid(OIDS.ecdsaWithSha256))
  const publicKey = subject.publicKey.export({ type: 'spki', format: 'der' })
  const serial = createHash('sha256')
    .update(publicKey)
    .update(subject.commonName)
    .update(`${subject.notBeforeMs}`)
    .digest()
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(serial.subarray(0, 16)),
    algorithm,
    distinguishedName(issuer.commonName),
    sequence(time(subject.notBeforeMs), time(subject.notAfterMs)),
    distinguishedName(subject.commonName),
    publicKey,
    explicit(3, sequence(...(subject.host === null ? authorityExtensions() : leafExtensions(subject.host)))),
  )
  return sequence(body, algorithm, bits(sign('sha256', body, issuer.privateKey)))
}

function distinguishedName(commonName: string): Buffer {
  return sequence(set(sequence(oid(OIDS.commonName), utf8(commonName))))
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

function leafExtensions(host: string): Buffer[] {
  const name = isIPv4(host)
    ? implicit(7, Buffer.from(host.split('.').map(Number)))
    : implicit(2, Buffer.from(host, 'latin1'))
  return [
    extension(OIDS.keyUsage, true, bits(Buffer.from([0b1000_0000]), 7)),
    extension(OIDS.extKeyUsage, false, sequence(oid(OIDS.serverAuth), oid(OIDS.clientAuth))),
    extension(OIDS.subjectAltName, false, sequence(name)),
  ]
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
