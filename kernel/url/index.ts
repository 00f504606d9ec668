// The inner loops of the room `url`: what is done for every link of every page. src/url/link-joiner.ts speaks with them.
//
//     the links' part of a page is put at PAGE, their places at PLACES ─▶ joinAll ─▶ OUTCOMES, HIGHS, LOWS

import { BESIDE, CLASSES, HIGHS, LOWS, NEW_ORIGIN, OUTCOMES, PAGE, PLACES } from './memory'

export { beginPage, forget, join, joinAll, joinedAt, learn, lengthJoined, prepare } from './join'
export { memoryBytes } from './memory'

/** Where the room reads and writes. */
export const pageAt: usize = PAGE
export const placesAt: usize = PLACES
export const outcomesAt: usize = OUTCOMES
export const highsAt: usize = HIGHS
export const lowsAt: usize = LOWS
export const classesAt: usize = CLASSES
export const besideAt: usize = BESIDE
export const newOriginAt: usize = NEW_ORIGIN
