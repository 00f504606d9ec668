// A certificate authority of our own, alive as long as the test web: made at start-up, trusted by whoever
// is given its certificate, good for any name anyone asks for.

import { generateKeyPairSync } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import { type Issuer, makeCertificate, type Subject } from './x509.ts'

const DAY_MS = 86_400_000
/** Names come from whoever connects, so their certificates are bounded; beyond, they are made again. */
const CONTEXTS_MAX = 10_000

/** Names under ODD_DOMAIN whose first label is one of these get a certificate no client should trust. */
export type BadCertificate = 'expired' | 'wrong-name' | 'self-signed'

export class Certificates {
  /** What a client must trust, in PEM. */
  readonly authority: string
  /** The date they are valid around. */
  readonly nowMs: number
  /** Who signs. */
  readonly issuer: Issuer
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  readonly #contexts = new Map<string, SecureContext>()

  /** `nowMs` is the date the certificates are valid around. */
  constructor(nowMs: number) {
    this.nowMs = nowMs
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    this.issuer = { commonName: 'Portolan test web authority', privateKey }
    const validity = { notBeforeMs: nowMs - DAY_MS, notAfterMs: nowMs + 365 * DAY_MS }
    const subject = { commonName: this.issuer.commonName, hosts: null, publicKey, ...validity }
    this.authority = makeCertificate(subject, this.issuer)
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
      hosts: [flaw === 'wrong-name' ? 'somebody-else.test' : name],
      publicKey: this.#keys.publicKey,
      notBeforeMs: this.nowMs - DAY_MS - age,
      notAfterMs: this.nowMs + 365 * DAY_MS - age,
    }
    const itself = { commonName: subject.commonName ?? name, privateKey: this.#keys.privateKey }
    return makeCertificate(subject, flaw === 'self-signed' ? itself : this.issuer)
  }
}
