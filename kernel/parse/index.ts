// The inner loops of the room `parse`: what is done for every byte of every page. src/parse/page-walk.ts speaks with them.
//
//     the page is put at PAGE ─▶ begin ─▶ next, crossRawText … ─▶ sketch
//                                          └▶ STOP, VALUES, LINKS     └▶ SKETCH

import { LINK_ATTRIBUTES, LINKS, LINKS_MAX, NEEDS, PAGE, SKETCH, STOP, VALUES } from './memory'

export { room } from './marks'
export { learn } from './names'
export { sketch } from './sketch'
export { begin, crossAll, crossRawText, next } from './walk'

/** Where the room reads and writes. */
export const pageAt: usize = PAGE
export const stopAt: usize = STOP
export const valuesAt: usize = VALUES
export const linksAt: usize = LINKS
export const linksMax: i32 = LINKS_MAX
export const sketchAt: usize = SKETCH
export const needsAt: usize = NEEDS
export const linkAttributesAt: usize = LINK_ATTRIBUTES
