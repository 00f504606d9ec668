// Where things stand in the kernel's memory.
//
//     tables         frequencies, codes, the places of earlier bytes: what a block needs until it is written
//     SEQUENCES      what was found in the block at hand
//     INPUT          the record, put there by the room
//     OUTPUT         its member
//
// Nothing of it is carried over from one record to the next.

/** The longest record that is taken in one piece. */
export const INPUT_BYTES: i32 = 512 * 1_024
/** What is read or written in one go may end here. */
export const MARGIN: i32 = 64

/** Literals and lengths have one alphabet, distances another, and the lengths of their codes a third. */
export const LITERALS: i32 = 286
export const DISTANCES: i32 = 30
export const HEADER_SYMBOLS: i32 = 19
export const END_OF_BLOCK: i32 = 256
/** The first symbol of a length. */
export const FIRST_LENGTH: i32 = 257

export const MATCH_MIN: i32 = 4
export const MATCH_MAX: i32 = 258
export const WINDOW_BYTES: u32 = 32_768

/** How often each symbol comes, in the three alphabets: four bytes each. */
export const LITERAL_COUNTS: usize = memory.data(4 * 288, 16)
export const DISTANCE_COUNTS: usize = memory.data(4 * 32, 16)
export const HEADER_COUNTS: usize = memory.data(4 * 32, 16)
export const COUNTS_BYTES: usize = HEADER_COUNTS + 4 * 32 - LITERAL_COUNTS

/** How long the code of each symbol is: a byte each. */
export const LITERAL_LENGTHS: usize = memory.data(288, 16)
export const DISTANCE_LENGTHS: usize = memory.data(32, 16)
export const HEADER_LENGTHS: usize = memory.data(32, 16)

/** The code of each symbol, lowest bit first: its bits, from bit 16 on their number, from bit 24 on the number of further bits of a distance. */
export const LITERAL_CODES: usize = memory.data(4 * 288, 16)
export const DISTANCE_CODES: usize = memory.data(4 * 32, 16)
export const HEADER_CODES: usize = memory.data(4 * 32, 16)

/** By length of a match: the bits of its code and those behind it, which say which of several lengths it is; from bit 24 on their number. */
export const MATCH_CODES: usize = memory.data(4 * 260, 16)
/** By length of a match, its symbol less FIRST_LENGTH. */
export const LENGTH_SLOTS: usize = memory.data(260, 16)

/** In which order the lengths of the header's own code are told. */
export const HEADER_ORDER: usize = memory.data<u8>([16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15])

/** The shortest length of a slot, and how many bits say which of its lengths. */
export const SLOTS: i32 = 29
export const SLOT_BASES: usize = memory.data<u16>([
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
])
export const SLOT_BITS: usize = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
])

/** Of a code being made: symbols that come, and from bit 9 on how often; weights and symbols by weight, and how many codes there are of each length. */
export const USED: usize = memory.data(4 * 288, 16)
export const WEIGHTS: usize = memory.data(4 * 288, 16)
export const SYMBOLS: usize = memory.data(2 * 288, 16)
export const BUCKETS: usize = memory.data(4 * 128, 16)
export const LENGTH_COUNTS: usize = memory.data(4 * 16, 16)
export const NEXT_CODES: usize = memory.data(4 * 16, 16)

/** The lengths of both codes of a block behind each other; and as they are told: symbols, and from bit 8 on what follows them. */
export const BOTH_LENGTHS: usize = memory.data(320, 16)
export const HEADER_ITEMS: usize = memory.data(2 * 320, 16)

/** Bytes with their bits turned round. */
export const TURNED: usize = memory.data(256, 16)

/** By hash of four bytes where they last stood, and the time before, in the lower 16 bits of their places. */
export const CELL_BITS: i32 = 13
export const CELLS: usize = memory.data(4 << 13, 64)

/**
 * Of each: how many literals, in 16 bits; the length of the match behind them, in 16; its distance less one, in 16; and the symbol of
 * that. The last of a block has no match.
 */
export const SEQUENCES_MAX: i32 = 8_192
export const SEQUENCES: usize = memory.data(8 * (8_192 + 2), 64)

/** Blocks are no longer than one that is stored may be. */
export const BLOCK_BYTES_MAX: i32 = 65_535

/** Behind all tables: memory is given out in this order. */
export const INPUT: usize = memory.data(64, 64)
export const OUTPUT: usize = INPUT + ((INPUT_BYTES + MARGIN) as usize)

/** The end of it all. No block is longer than its input and five bytes; only whole ones of 32 KiB and more have another behind them. */
export const memoryBytes: usize = OUTPUT + ((INPUT_BYTES + 5 * (INPUT_BYTES / 32_768 + 4) + 2 * MARGIN) as usize)
