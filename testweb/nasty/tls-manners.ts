// How a host speaks TLS: certificates that are wrong in one thing each, and settings that are of
// another time. Made when first connected to, since keys cost time; kept, since they are many.

import { createDiffieHellmanGroup, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls'
import type { Certificates } from '../serve/certificates.ts'
import { integer, sequence } from '../serve/der.ts'
import { largeRsaKeys } from './large-rsa.ts'
import { type Issuer, makeCertificate, type Subject } from '../serve/x509.ts'

const DAY_MS = 86_400_000

/** What a host's TLS is made from. */
export interface TlsRoom {
  readonly nowMs: number
  /** Whom clients are told to trust. */
  readonly authority: Issuer
  /** The host's own address. */
  readonly host: string
}

/** Options of the context of a host. */
export type TlsManners = (room: TlsRoom) => SecureContextOptions

/** Enough that every old thing OpenSSL still has is allowed. */
const ANYTHING_GOES = '@SECLEVEL=0'

interface LeafChanges extends Partial<Omit<Subject, 'publicKey'>> {
  readonly issuer?: Issuer
  readonly keys?: { readonly publicKey: KeyObject; readonly privateKey: KeyObject }
  readonly hash?: 'sha256' | 'sha512'
}

function ecKeys(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
}

/** A certificate as it should be, but for the changes. */
function leaf(room: TlsRoom, changes: LeafChanges = {}): { cert: string; key: string } {
  const { issuer = room.authority, keys = ecKeys(), hash = 'sha256', ...subject } = changes
  const cert = makeCertificate(
    {
      commonName: room.host,
      hosts: [room.host],
      notBeforeMs: room.nowMs - DAY_MS,
      notAfterMs: room.nowMs + 90 * DAY_MS,
      publicKey: keys.publicKey,
      ...subject,
    },
    issuer,
    hash,
  )
  return { cert, key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}

/** An authority nobody has heard of. */
function stranger(commonName: string): Issuer {
  return { commonName, privateKey: ecKeys().privateKey }
}

function old(version: 'TLSv1' | 'TLSv1.1'): TlsManners {
  return (room) => ({ ...leaf(room), minVersion: version, maxVersion: version, ciphers: `ALL:${ANYTHING_GOES}` })
}

function only(ciphers: string): TlsManners {
  return (room) => ({ ...leaf(room), maxVersion: 'TLSv1.2', ciphers: `${ciphers}:${ANYTHING_GOES}` })
}

function manyNames(count: number): TlsManners {
  return (room) => ({
    ...leaf(room, { hosts: [room.host, ...Array.from({ length: count - 1 }, (_, i) => `name-${i}.san.test`)] }),
  })
}

/** Diffie-Hellman in a group of 1,024 bits (RFC 2409), which nobody should use any more. */
function weakGroup(room: TlsRoom): SecureContextOptions {
  const group = createDiffieHellmanGroup('modp2')
  const parameters = sequence(integer(group.getPrime()), integer(group.getGenerator()))
  const lines = parameters.toString('base64').match(/.{1,64}/g) ?? []
  return {
    ...leaf(room, { keys: generateKeyPairSync('rsa', { modulusLength: 2_048 }) }),
    dhparam: `-----BEGIN DH PARAMETERS-----\n${lines.join('\n')}\n-----END DH PARAMETERS-----\n`,
    maxVersion: 'TLSv1.2',
    ciphers: `DHE-RSA-AES128-GCM-SHA256:${ANYTHING_GOES}`,
  }
}

export const MANNERS = {
  good: (room) => leaf(room),
  expired: (room) => leaf(room, { notBeforeMs: room.nowMs - 400 * DAY_MS, notAfterMs: room.nowMs - 35 * DAY_MS }),
  notYet: (room) => leaf(room, { notBeforeMs: room.nowMs + 35 * DAY_MS, notAfterMs: room.nowMs + 400 * DAY_MS }),
  wrongHost: (room) => leaf(room, { hosts: ['somebody-else.test'] }),
  selfSigned: (room) => {
    const keys = ecKeys()
    return leaf(room, { keys, issuer: { commonName: room.host, privateKey: keys.privateKey } })
  },
  untrustedRoot: (room) => leaf(room, { issuer: stranger('An authority nobody trusts') }),
  interception: (room) => leaf(room, { issuer: stranger('An adware authority in the middle') }),
  // What was signed by an authority between, which is not sent along.
  incompleteChain: (room) => leaf(room, { issuer: stranger('An authority between') }),
  nullCipher: only('eNULL'),
  cbc: only('ECDHE-ECDSA-AES128-SHA256'),
  weakGroup,
  tls10: old('TLSv1'),
  tls11: old('TLSv1.1'),
  names1000: manyNames(1_000),
  names10000: manyNames(10_000),
  noSubject: (room) => leaf(room, { commonName: null }),
  noCommonName: (room) => leaf(room, { commonName: null, organisation: 'A company without a name' }),
  largeRsa: (room) => leaf(room, { keys: largeRsaKeys() }),
  sha512: (room) => leaf(room, { hash: 'sha512' }),
} satisfies Record<string, TlsManners>

/** Contexts of hosts, made when first asked for. Each behaviour has one host, so their number is bounded. */
export class TlsContexts {
  readonly #certificates: Certificates
  /** By host. */
  readonly #contexts = new Map<string, SecureContext>()

  constructor(certificates: Certificates) {
    this.#certificates = certificates
  }

  of(manners: TlsManners, host: string): SecureContext {
    let context = this.#contexts.get(host)
    if (context === undefined) {
      const { nowMs, issuer } = this.#certificates
      context = createSecureContext(manners({ nowMs, authority: issuer, host }))
      this.#contexts.set(host, context)
    }
    return context
  }
}
