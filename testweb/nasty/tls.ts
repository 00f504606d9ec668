// Hosts whose TLS is wrong, old, or none. What they say once they are trusted is a plain page.

import type { Socket } from 'node:net'
import { answer, type Behaviour, type Behaviours, OK, says, silent, TEXT } from './behaviour.ts'
import { MANNERS, type TlsManners } from './tls-manners.ts'

const honest = says(answer(''), 'keep')

function host(does: string, tls: TlsManners, act = honest): Behaviour {
  return { family: 'tls', does, act, tls }
}

/** Says raw bytes to the first thing a client says. */
function insteadOfHandshake(bytes: Buffer | string): (socket: Socket) => void {
  return (socket) => {
    socket.once('data', () => void socket.end(bytes))
  }
}

/** A fatal alert: no cipher in common. What a server of RC4 says to a client that does not offer it. */
const NO_COMMON_CIPHER = Buffer.from([0x15, 3, 3, 0, 2, 2, 40])

export const TLS: Behaviours = {
  'tls-expired': host('a certificate of last year', MANNERS.expired),
  'tls-not-yet': host('a certificate of next year', MANNERS.notYet),
  'tls-wrong.host': host('a certificate of somebody else', MANNERS.wrongHost),
  'tls-self-signed': host('a certificate signed by itself', MANNERS.selfSigned),
  'tls-untrusted-root': host('a certificate of an unknown authority', MANNERS.untrustedRoot),
  'tls-superfish': host('a certificate of an authority that sits in the middle', MANNERS.interception),
  'tls-incomplete-chain': host('a certificate without the one between it and the root', MANNERS.incompleteChain),
  'tls-null': host('a cipher that does not encrypt', MANNERS.nullCipher),
  'tls-rc4': {
    ...host('speaks RC4 only: a handshake that finds no cipher', MANNERS.good),
    atConnect: insteadOfHandshake(NO_COMMON_CIPHER),
  },
  'tls-3des': {
    ...host('speaks 3DES only: a handshake that finds no cipher', MANNERS.good),
    atConnect: insteadOfHandshake(NO_COMMON_CIPHER),
  },
  'tls-dh1024': host('Diffie-Hellman of 1,024 bits', MANNERS.weakGroup),
  'tls-tls-v1-0': host('TLS 1.0 only', MANNERS.tls10),
  'tls-tls-v1-1': host('TLS 1.1 only', MANNERS.tls11),
  'tls-cbc': host('a cipher in CBC mode only', MANNERS.cbc),
  'tls-1000-sans': host('a certificate for 1,000 names', MANNERS.names1000),
  'tls-10000-sans': host('a certificate for 10,000 names', MANNERS.names10000),
  'tls-no-subject': host('a certificate without a subject', MANNERS.noSubject),
  'tls-no-common-name': host('a certificate whose subject has no common name', MANNERS.noCommonName),
  'tls-rsa8192': host('an RSA key of 8,192 bits', MANNERS.largeRsa),
  'tls-sha512': host('a certificate signed over SHA-512', MANNERS.sha512),
  'tls-plain-http-on-443': {
    ...host('HTTP in the clear on the port for TLS', MANNERS.good),
    atConnect: insteadOfHandshake(`${OK}Content-Length: ${TEXT.length}\r\n\r\n${TEXT}`),
  },
  'tls-hang-in-handshake': {
    ...host('takes the connection and never shakes hands', MANNERS.good, silent),
    atConnect: (socket) => void socket.resume(),
  },
  'tls-rst-in-handshake': {
    ...host('resets in the handshake', MANNERS.good, silent),
    atConnect: (socket) => void socket.once('data', () => socket.resetAndDestroy()),
  },
  'tls-no-close-notify': host(
    'ends a body without length by ending TCP, without a word in TLS',
    MANNERS.good,
    says(`${OK}Content-Type: text/plain\r\n\r\n${TEXT}`, 'cut'),
  ),
  'tls-garbage-record': host('breaks a TLS record in the middle of a body', MANNERS.good, ({ socket, raw }) => {
    socket.write(`${OK}Content-Length: 5000\r\n\r\n${TEXT}`, () => void raw.end('this is no record of TLS'))
  }),
  'redirect-https-downgrade': {
    family: 'redirect',
    does: 'leads from https to http',
    tls: MANNERS.good,
    act: says(({ plainHome }) => answer(`Location: ${plainHome}/plain\r\n`, '', 'HTTP/1.1 302 Found\r\n'), 'keep'),
  },
}

/** Names that have no behaviour, and why. */
export const NOT_SHOWN: Readonly<Record<string, string>> = {
  'connect-timeout':
    'a listener of Node always accepts; a thread that listens and never accepts stands in for it in the tests',
  'tls-revoked': 'neither Node nor its OpenSSL asks for revocation lists, so there is nothing a client could notice',
  'tls-dh480': 'OpenSSL 3 takes no group below 512 bits, and Node none below 1,024',
  'tls-dh512': 'Node takes no group below 1,024 bits; tls-dh1024 is the weakest that can be shown',
}
