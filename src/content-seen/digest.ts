// SHA-256 digests as the sets of contents handle them.

import { assert } from '../base/index.ts'

export const DIGEST_BYTES = 32

const LABEL = 'sha256:'
const DIGITS = '0123456789abcdef'

/** SHA-256 of nothing. An empty body is never a duplicate: it says nothing of the page. */
const EMPTY_DIGEST = Buffer.from('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'hex')

/** Also checks that it is a digest at all. */
export function isEmptyDigest(digest: Uint8Array): boolean {
  if (digest.length !== DIGEST_BYTES) assert(false, `a digest has ${DIGEST_BYTES} bytes, not ${digest.length}`)
  return digest[0] === EMPTY_DIGEST[0] && EMPTY_DIGEST.equals(digest)
}

/** 32 bits of a digest from a byte on, in the order in which bytes compare. Evenly spread, because SHA-256 is. */
export function bitsAt(bytes: Uint8Array, at: number): number {
  const byte = (i: number): number => bytes[at + i] as number
  return ((byte(0) << 24) | (byte(1) << 16) | (byte(2) << 8) | byte(3)) >>> 0
}

export function isSameDigest(one: Uint8Array, other: Uint8Array): boolean {
  for (let i = 0; i < DIGEST_BYTES; i++) if (one[i] !== other[i]) return false
  return true
}

export function hexOf(digest: Uint8Array): string {
  return viewOf(digest).toString('hex')
}

/** A digest as archives and page records write it. */
export function textOf(digest: Uint8Array): string {
  return `${LABEL}${hexOf(digest)}`
}

/** Whether a text is that of the digest, without making it: a page is asked this once. */
export function isTextOf(text: string, digest: Uint8Array): boolean {
  if (text.length !== LABEL.length + 2 * DIGEST_BYTES || !text.startsWith(LABEL)) return false
  for (let i = 0, at = LABEL.length; i < DIGEST_BYTES; i++, at += 2) {
    const byte = digest[i] as number
    if (text.charCodeAt(at) !== DIGITS.charCodeAt(byte >>> 4)) return false
    if (text.charCodeAt(at + 1) !== DIGITS.charCodeAt(byte & 15)) return false
  }
  return true
}

function viewOf(digest: Uint8Array): Buffer {
  return digest instanceof Buffer ? digest : Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength)
}
