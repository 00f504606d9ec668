// Links as places in the bytes of their page: how a parser hands them on, so that nobody has to make strings of them.

export interface LinkPlaces {
  readonly bytes: Uint8Array
  /** Three numbers a link: where its value starts and ends, and its meaning. A start of -1 says that only the text will do. */
  readonly places: readonly number[]
}

/** Part of the meaning of a link in which every '&' is written `&amp;`; else it is ASCII that means what it says. */
export const MEANS_AMPERSANDS = 64
