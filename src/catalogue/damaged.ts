/** The catalogue is not as it was written, or does not fit its crawl: it is thrown away and made anew. Never leaves the room. */
export class Damaged extends Error {}

/** Says that what was read cannot be. */
export function damagedUnless(isFit: boolean, what: string): asserts isFit {
  if (!isFit) throw new Damaged(what)
}
