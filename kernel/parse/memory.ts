// Where things stand in the kernel's memory.
//
//     tables, slots, links      what is said between the room and the kernel, at addresses that never change
//     PAGE                      the bytes of the page, and MARGIN bytes of zero
//     tags, starts, stops       three bits for each byte of the page (marks.ts)
//
// Places in a page are counted from its beginning, as in the room; PAGE is added where a byte is read.

/** Zeros behind the page: what is read in one go may end there. */
export const MARGIN: i32 = 64

/** What was stopped at, in five numbers: where it starts, where its name starts and ends, where it ends, and its attributes, as bits by id. */
export const STOP: usize = memory.data(32, 16)
/** By id of an attribute where its value starts and ends; only for those the tag has. */
export const VALUES: usize = memory.data(8 * 32, 16)

/** Links kept since they were last taken: how many (the sixth number of STOP), and of each where its value starts and ends, and its element. */
export const LINK_COUNT: usize = STOP + 20
export const LINKS_MAX: i32 = 1_024
export const LINKS: usize = memory.data(12 * 1_024, 16)

/** Votes that wait to be counted (and room to fill up the last sixteen), their counters, and what they come to: the sum, and the bits from byte 8 on. */
export const VOTES_MAX: i32 = 512
export const VOTES: usize = memory.data(8 * 512 + 128, 16)
export const PLANES: usize = memory.data(16 * 32, 16)
export const SKETCH: usize = memory.data(16, 16)

/** Names by hash: of elements, then of attributes. */
export const NAME_CELLS: i32 = 256
export const NAME_KEYS: usize = memory.data(2 * 256 * 16, 16)
export const NAME_IDS: usize = memory.data(2 * 256, 16)

/**
 * By first byte which lengths of a name may matter, as bits: turns most names away before they are looked up. For start tags, end tags
 * and attributes; and for all of them where everything matters.
 */
export const FILTER_START: usize = memory.data(4 * 256, 16)
export const FILTER_END: usize = memory.data(4 * 256, 16)
export const FILTER_ATTRIBUTE: usize = memory.data(4 * 256, 16)
export const FILTER_NONE: usize = memory.data(4 * 512, 16)
memory.fill(FILTER_NONE, 0xff, 4 * 512)

/** By id of an element, as the room says: attributes as bits, without any of which it means nothing (none: it always does); and the one that is a link. */
export const NEEDS: usize = memory.data(4 * 64, 16)
export const LINK_ATTRIBUTES: usize = memory.data(64, 16)

/** The first of sixteen bytes that are kept, by how many: `load(KEPT + 16 - count)`. */
export const KEPT: usize = memory.data<u8>([
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  0, 0, 0,
])

/** What a byte is in a tag: white space, or `/`, or neither. */
export const SPACE: u8 = 1
export const CLASSES: usize = memory.data(256, 16)
for (let code = 9; code <= 13; code++) if (code !== 11) store<u8>(CLASSES + code, SPACE)
store<u8>(CLASSES + 0x20, SPACE)
store<u8>(CLASSES + 0x2f, 2)

/** White space, `/` and `>`, which end names, by the low half of their code: no two have the same. */
export const NAME_ENDS: usize = memory.data<u8>(
  [0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0x09, 0x0a, 0, 0x0c, 0x0d, 0x3e, 0x2f],
  16,
)

/** Every byte sixteen times, by its value. hot: to load a vector costs one instruction, to make a constant of it three. */
const SIXTEEN: usize = memory.data(16 * 256, 16)
for (let byte = 0; byte < 256; byte++) v128.store(SIXTEEN + ((byte << 4) as usize), i8x16.splat(byte as i8))

/** Sixteen times this byte. */
export function all(byte: i32): v128 {
  return v128.load((byte << 4) as usize, SIXTEEN)
}

export const PAGE: usize = memory.data(64, 64)
