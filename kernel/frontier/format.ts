// The bits of an entry as bytes: src/frontier/entry-format.ts says what they mean.

export const GROUP_ENTRIES: i32 = 16

export const VIA_NONE: u32 = 0
export const VIA_BEFORE: u32 = 1
export const VIA_EARLIER: u32 = 2
export const VIA_NEW: u32 = 3
export const VIA_MASK: u32 = 3
export const NUMBERS_BIT: u32 = 1 << 2
export const TEXT_SHIFT: u32 = 3

export const REFERENCE_MASK: u32 = 7
export const ENDING_BIT: u32 = 1 << 3
export const WIDE_BIT: u32 = 1 << 4

export const HTTPS_ORIGIN: i32 = 0
export const HTTP_ORIGIN: i32 = 1
export const FIRST_URL: i32 = 2
export const FIRST_VIA: i32 = 3
export const VIA: i32 = 4
export const LAST_URL: i32 = 5
export const REFERENCE_COUNT: i32 = 8

/** An ending shorter than this is as cheap in pieces. */
export const ENDING_MIN: u32 = 4
