// The SimHash of a text, said once more in plain words: what the kernel must come to (kernel/parse/sketch.ts).

import type { Sketch } from '../../src/parse/text-sketch.ts'

const WORD_FACTOR = 0x9e3779b97f4a7c15n
const VOTE_FACTOR = 0xa0761d6478bd642fn

const bits64 = (value: bigint): bigint => BigInt.asUintN(64, value)
const rotated = (value: bigint, by: bigint): bigint => bits64((value << by) | (value >> (64n - by)))

/** Runs of letters, digits and bytes from 0x80 on; one from 0xE0 on begins another. */
function wordsOf(text: Uint8Array): number[][] {
  const words: number[][] = []
  let isInWord = false
  for (const byte of text) {
    const isOfWord = byte >= 0x80 || /[a-z0-9]/i.test(String.fromCharCode(byte))
    if (isOfWord && (!isInWord || byte >= 0xe0)) words.push([])
    if (isOfWord) words.at(-1)?.push(byte)
    isInWord = isOfWord
  }
  return words
}

/** Of up to sixteen bytes, as two numbers of eight, the first byte lowest. What has the bit 0x40 gets 0x20: letters lose their case. */
function hashOf(bytes: readonly number[]): bigint {
  const halves = [0n, 0n]
  for (const [index, byte] of bytes.entries()) {
    const lower = byte | ((byte & 0x40) >> 1)
    halves[index >> 3]! |= BigInt(lower) << BigInt(8 * (index & 7))
  }
  const hash = bits64((halves[0]! ^ rotated(halves[1]!, 29n)) * WORD_FACTOR)
  return hash ^ (hash >> 32n)
}

/** Sixteen bytes after the other. */
function wordHash(word: readonly number[]): bigint {
  let hash = 0n
  for (let at = 0; at < word.length; at += 16) hash = bits64(rotated(hash, 7n) + hashOf(word.slice(at, at + 16)))
  return hash
}

/** Every word votes with the two before it. */
function votesOf(words: readonly bigint[]): bigint[] {
  return words.map((word, at) => {
    const triple = word + rotated(words[at - 1] ?? 0n, 21n) + rotated(words[at - 2] ?? 0n, 42n)
    const product = bits64(triple * VOTE_FACTOR)
    return product ^ (product >> 32n)
  })
}

/** The sketch of a text without tags; null where there is no word. */
export function plainSketch(text: Uint8Array): Sketch | null {
  const votes = votesOf(wordsOf(text).map((word) => wordHash(word)))
  if (votes.length === 0) return null
  let bits = 0n
  for (let bit = 0n; bit < 64n; bit++) {
    const yes = votes.filter((vote) => ((vote >> bit) & 1n) === 1n).length
    if (yes > votes.length >> 1) bits |= 1n << bit
  }
  const sum = bits64(votes.reduce((total, vote) => total + vote, 0n))
  const int = (value: bigint): number => Number(BigInt.asIntN(32, value))
  return { high: int(bits >> 32n), low: int(bits), votes: votes.length, sum: int(sum ^ (sum >> 32n)) }
}
