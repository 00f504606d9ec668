// Every choice of the test web comes from these few lines: a 32-bit hash of what the choice is about.
// No dice are thrown at run time, so a page is the same whoever asks, whenever, in whichever process.

/** Stirs `b` into `a`; both and the result are unsigned 32-bit. The finaliser is splitmix32's. */
export function mix(a: number, b: number): number {
  let z = (Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) + Math.imul(b | 0, 0xc2b2ae35)) | 0
  z = Math.imul(z ^ (z >>> 16), 0x21f0aaad)
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97)
  return (z ^ (z >>> 15)) >>> 0
}

export function mixText(a: number, text: string): number {
  let hash = a
  for (let i = 0; i < text.length; i++) hash = mix(hash, text.charCodeAt(i))
  return mix(hash, text.length)
}

/** A hash as a number in [0, 1). */
export function asFraction(hash: number): number {
  return hash / 2 ** 32
}
