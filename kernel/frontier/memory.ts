// Where things stand in the kernel's memory.
//
//     STARTS, PIECES   the pieces of URLs, told by the room once
//     CODES            the code of the crawl, told by the room when it is another than before
//     CHECKSUMS        made when the first checksum is asked for
//     FACTS, PLACES    of each entry what is no text, and where its texts stand
//     BODY             what the block has in it before it is packed
//     TEXTS            the texts of the entries; as long as they are not needed, the body in the code; what a checksum is asked of
//
// Nothing but pieces, code and checksums is carried over from one block to the next.

/** What is read or written in one go may end here. */
export const MARGIN: i32 = 64

/** By the first two characters of a text, seven bits each, the byte of the longest piece that begins so; NO_PIECE where none does. */
export const STARTS: usize = memory.data(16_384, 64)
/** A space stands for itself, and never for a piece. */
export const NO_PIECE: u32 = 0x20
/** By byte: the text it stands for, in PIECE_TEXT_BYTES; how long that is; the next shorter piece with the same two first characters. */
export const PIECES: usize = memory.data(32 * 256, 64)
export const PIECE_LENGTH: usize = 24
export const PIECE_NEXT: usize = 25

/** By the byte before, times 256, and a byte: its code, and from bit 16 on how long that is. */
export const CODES: usize = memory.data(4 * 65_536, 64)

/** By the byte before and the next nine bits: 16 × byte + length of the code; 0 where it is longer. */
export const LOOKS: usize = memory.data(2 * 131_072, 64)
export const LOOK_BITS: u32 = 9
/** For longer ones, by the byte before: bytes by code, and for each length up to sixteen the first code and where its bytes begin. */
export const ORDERED: usize = memory.data(65_536, 64)
export const FIRST_CODES: usize = memory.data(4 * 256 * 17, 64)
export const CODE_STARTS: usize = memory.data(4 * 256 * 17, 64)
export const BITS_MAX: u32 = 15

/** The most entries, and the most bytes of texts, of host and all entries together, that are taken in one block. */
const ENTRIES_MAX: i32 = 256
export const TEXT_BYTES: i32 = 128 * 1_024
/** What an entry may take in a body besides its texts: heads, numbers, and what is shared. */
const OVERHEAD_BYTES: i32 = 64

/** Of each entry eight numbers of 32 bits: how long via and URL are, then what is small (FACT_NUMBERS). */
export const FACTS: usize = memory.data(32 * 256, 64)
export const FACT_BYTES: usize = 32
export const FACT_URL: usize = 4
export const FACT_NUMBERS: usize = 8
/** Stands where the length of a via is: there is none; it is that of the entry before. */
export const VIA_IS_NONE: u32 = 0xffff_ffff
export const VIA_IS_BEFORE: u32 = 0xffff_fffe

/** Of each entry that was read: where its via stands, 0 where there is none, how long it is; the same of its URL. */
export const PLACES: usize = memory.data(16 * 256, 64)

/** The references: where each stands, and how long it is. */
export const REFERENCES: usize = memory.data(8 * 8, 64)
/** The vias that were new in a group, in the same way. */
export const VIAS: usize = memory.data(8 * 16, 64)
/** Bytes of each group of a block but the last; when it is read, where each begins. */
export const GROUP_LENGTHS: usize = memory.data(4 * 16, 64)
/** Where `https://host/` and `http://host/` are written, of a host of at most HOST_BYTES_MAX. */
export const HOST_BYTES_MAX: i32 = 255
export const HTTPS_TEXT: usize = memory.data(320, 64)
export const HTTP_TEXT: usize = memory.data(320, 64)

/** For a byte of a step and how many follow it: what it does to a checksum. */
export const CHECKSUMS: usize = memory.data(4 * 256 * 16, 64)

/** Behind all tables: memory is given out in this order. What stands before the groups is written last, and ends here. */
export const GROUPS: usize = memory.data(128, 64) + 64
/** Room for a body, and as much for what is put at TEXTS. */
export const ROOM_BYTES: i32 = TEXT_BYTES + ENTRIES_MAX * OVERHEAD_BYTES
export const TEXTS: usize = GROUPS + ((ROOM_BYTES + MARGIN) as usize)

/** The end of it all. A body in the code is given up when it is longer than the body. */
export const memoryBytes: usize = TEXTS + ((ROOM_BYTES + 2 * MARGIN) as usize)
