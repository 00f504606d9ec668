// The bits of an entry as bytes, for its writer and its reader. What they mean together is told in entry-block.ts.

import type { FrontierEntry } from './frontier.ts'

/** Entries between two places where reading can begin. */
export const GROUP_ENTRIES = 16

// The head of an entry: two bits for its via, one for its numbers, five for the head of its URL.
export const VIA_NONE = 0
/** That of the entry before; in the first entry of a group, that of the block's first entry. */
export const VIA_BEFORE = 1
/** The n-th that was new in this group. */
export const VIA_EARLIER = 2
export const VIA_NEW = 3
export const VIA_MASK = 3
/** Numbers follow; without it they are those of the entry before, or of the block's first entry. */
export const NUMBERS_BIT = 1 << 2
export const TEXT_SHIFT = 3

// The head of a text.
export const REFERENCE_MASK = 7
/** It shares its end with the reference too. */
export const ENDING_BIT = 1 << 3
/** Not printable ASCII: stands in UTF-16, and refers to nothing. */
export const WIDE_BIT = 1 << 4

// The references. As long as there is none, it is the empty text.
export const HTTPS_ORIGIN = 0
export const HTTP_ORIGIN = 1
export const FIRST_URL = 2
export const FIRST_VIA = 3
/** The latest via; for a URL therefore its own, if it has one. */
export const VIA = 4
/** The URL before; the two before that follow. */
export const LAST_URL = 5
export const REFERENCES = 8

/** What is small and mostly the same from entry to entry. */
export type Numbers = Pick<FrontierEntry, 'depth' | 'hops' | 'band' | 'isSeed' | 'tries' | 'pauses'>

/** Those before the first entry. */
export const NO_NUMBERS: Numbers = { depth: 0, hops: 0, band: 0, isSeed: false, tries: 0, pauses: 0 }

/** A whole number of 32 bits: far above what the options allow. */
export function isHeld(value: number): boolean {
  return value >>> 0 === value
}
