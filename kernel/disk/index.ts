// The inner loops of the room `disk`: lines sorted, and sorted lines merged, as bytes. src/disk/line-kernel.ts speaks with them.
//
//     lines, each with its newline ─▶ list ─▶ INDEX ─▶ sort ─▶ emit ─▶ a piece of the sorted file
//     sorted lines of several sources ─▶ begin ─▶ merge ─▶ a piece of the merged file, or a source that needs more
//
// Where all of it stands in memory is for the room to say.

export { count, emit, emitted, list } from './lines'
export { begin, drop, merge, merged, resume } from './merge'
export { sort } from './sort'

/** From here on memory is the room's. */
export const baseAt: usize = __heap_base
