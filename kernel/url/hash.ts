// HalfSipHash-2-4 with 64 bits of output, as src/url/fingerprint.ts has it of strings: of bytes in memory, four at a time, beginning behind
// a part whose state is known.
//
// hot: the rounds are written out, and the state is in variables, not in memory.

/** Both halves of the last digest. */
export let high: i32 = 0
export let low: i32 = 0

/** Takes whole words, `from` to `to` of those at `text`, into the state at `before`, and leaves what comes of it at `after`. */
export function absorb(text: usize, from: i32, to: i32, before: usize, after: usize): void {
  let v0 = load<i32>(before)
  let v1 = load<i32>(before, 4)
  let v2 = load<i32>(before, 8)
  let v3 = load<i32>(before, 12)
  for (let word = from; word < to; word++) {
    const block = load<i32>(text + ((word << 2) as usize))
    v3 ^= block
    for (let round = 0; round < 2; round++) {
      v0 += v1
      v1 = rotl(v1, 5) ^ v0
      v0 = rotl(v0, 16)
      v2 += v3
      v3 = rotl(v3, 8) ^ v2
      v0 += v3
      v3 = rotl(v3, 7) ^ v0
      v2 += v1
      v1 = rotl(v1, 13) ^ v2
      v2 = rotl(v2, 16)
    }
    v0 ^= block
  }
  store<i32>(after, v0)
  store<i32>(after, v1, 4)
  store<i32>(after, v2, 8)
  store<i32>(after, v3, 12)
}

/** The hash of `length` bytes at `text`, whose first words, up to `from`, are in the state already. */
export function digest(text: usize, length: i32, from: i32, state: usize): void {
  let v0 = load<i32>(state)
  let v1 = load<i32>(state, 4)
  let v2 = load<i32>(state, 8)
  let v3 = load<i32>(state, 12)
  const words = length >> 2
  for (let word = from; word < words; word++) {
    const block = load<i32>(text + ((word << 2) as usize))
    v3 ^= block
    v0 += v1
    v1 = rotl(v1, 5) ^ v0
    v0 = rotl(v0, 16)
    v2 += v3
    v3 = rotl(v3, 8) ^ v2
    v0 += v3
    v3 = rotl(v3, 7) ^ v0
    v2 += v1
    v1 = rotl(v1, 13) ^ v2
    v2 = rotl(v2, 16)

    v0 += v1
    v1 = rotl(v1, 5) ^ v0
    v0 = rotl(v0, 16)
    v2 += v3
    v3 = rotl(v3, 8) ^ v2
    v0 += v3
    v3 = rotl(v3, 7) ^ v0
    v2 += v1
    v1 = rotl(v1, 13) ^ v2
    v2 = rotl(v2, 16)
    v0 ^= block
  }
  // Behind the text may stand that of an earlier one.
  const rest = length & 3
  const last = (length << 24) | (load<i32>(text + ((words << 2) as usize)) & ((1 << (rest << 3)) - 1))
  v3 ^= last
  // Two rounds for the last word, four for the first half of the output, four for the second.
  for (let round = 0; round < 10; round++) {
    v0 += v1
    v1 = rotl(v1, 5) ^ v0
    v0 = rotl(v0, 16)
    v2 += v3
    v3 = rotl(v3, 8) ^ v2
    v0 += v3
    v3 = rotl(v3, 7) ^ v0
    v2 += v1
    v1 = rotl(v1, 13) ^ v2
    v2 = rotl(v2, 16)
    if (round === 1) {
      v0 ^= last
      v2 ^= 0xee
    } else if (round === 5) {
      low = v1 ^ v3
      v1 ^= 0xdd
    }
  }
  high = v1 ^ v3
}
