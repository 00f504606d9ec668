// An RSA key of 8,192 bits, at once. To find primes for one takes half a minute; but two primes of known
// Diffie-Hellman groups (RFC 3526), of 6,144 and 2,048 bits, do as well. It keeps nothing secret, and need not.

import { createDiffieHellmanGroup, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'

const EXPONENT = 65_537n

export function largeRsaKeys(): { publicKey: KeyObject; privateKey: KeyObject } {
  const p = primeOf('modp17')
  const q = primeOf('modp14')
  const d = inverse(EXPONENT, (p - 1n) * (q - 1n))
  const privateKey = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'RSA',
      n: base64(p * q),
      e: base64(EXPONENT),
      d: base64(d),
      p: base64(p),
      q: base64(q),
      dp: base64(d % (p - 1n)),
      dq: base64(d % (q - 1n)),
      qi: base64(inverse(q % p, p)),
    },
  })
  return { privateKey, publicKey: createPublicKey(privateKey) }
}

function primeOf(group: string): bigint {
  return BigInt(`0x${createDiffieHellmanGroup(group).getPrime('hex')}`)
}

/** Euclid's algorithm, extended. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [r, nextR] = [modulus, value]
  let [t, nextT] = [0n, 1n]
  while (nextR !== 0n) {
    const quotient = r / nextR
    ;[r, nextR] = [nextR, r - quotient * nextR]
    ;[t, nextT] = [nextT, t - quotient * nextT]
  }
  return t < 0n ? t + modulus : t
}

function base64(value: bigint): string {
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex').toString('base64url')
}
