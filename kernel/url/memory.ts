// Where things stand in the kernel's memory.
//
//     tables, places, answers   what is said between the room and the kernel, at addresses that never change
//     three joints              where a URL is joined: below the root, beside the page, at another origin
//     PAGE                      the part of a page in which the links stand
//     ORIGINS                   those that are known

/** Links joined in one call. */
const LINKS_MAX: i32 = 512
/** Of each link where its value starts and ends in the page, and its meaning. A start of -1: it is nowhere, and not joined. */
export const PLACES: usize = memory.data(12 * 512, 16)
/** Of each link what became of it, and both halves of the fingerprint. */
export const OUTCOMES: usize = memory.data(4 * 512, 16)
export const HIGHS: usize = memory.data(4 * 512, 16)
export const LOWS: usize = memory.data(4 * 512, 16)

/** The class of each byte in a link, as the room says. */
export const CLASSES: usize = memory.data(256, 16)
/** By the lower half of a byte which upper halves make it one that is just copied, as bits. */
export const COPIED: usize = memory.data(16, 16)
/** By the upper half of a byte its bit there. None for those from 0x80 on. */
export const UPPER_BITS: usize = memory.data<u8>([1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0], 16)

/** A joined URL is no longer than this; what is written in one go may end behind it. */
export const JOINT_BYTES: i32 = 4_096
const MARGIN: i32 = 64
export const ROOT: usize = memory.data(4_096 + 64, 16)
export const BESIDE: usize = memory.data(4_096 + 64, 16)
export const AWAY: usize = memory.data(4_096 + 64, 16)
/** Where the room puts an origin that the kernel shall know. */
export const NEW_ORIGIN: usize = memory.data(128, 16)

/** The state of the hash before the first byte, which is the key, and behind the whole words that all URLs of a joint share. */
export const START_STATE: usize = memory.data(16, 16)
export const ROOT_STATE: usize = memory.data(16, 16)
export const BESIDE_STATE: usize = memory.data(16, 16)

/** By hash of an origin its number and one; 0 where there is none. Twice as many as there are origins, so that one of them is always near. */
export const CELLS: i32 = 8_192
export const CELL: usize = memory.data(2 * 8_192, 16)

export const PAGE: usize = memory.data(64, 64)
/** Links that stand further apart are not joined. */
export const PAGE_BYTES: i32 = 1 << 20

/** Pages name origins by the million; past this many all are forgotten, and learnt anew. */
export const ORIGINS_MAX: i32 = 4_096
/** Longer authorities are nobody's. */
export const AUTHORITY_BYTES_MAX: i32 = 100
/** Of each: how long it is, where the authority begins in it, its slot, and the state of the hash behind its whole words; then its bytes. */
export const ORIGINS: usize = PAGE + 64 + (PAGE_BYTES as usize)
export const ORIGIN_BYTES: i32 = 160
export const ORIGIN_TEXT: usize = 32

/** The end of it all. */
export const memoryBytes: usize = ORIGINS + ((ORIGINS_MAX * ORIGIN_BYTES + MARGIN + LINKS_MAX) as usize)
