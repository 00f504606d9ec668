// The element and attribute names the HTML scanner cares about, found by hash without making a string.
//
// hot: most names are turned away by first letter and length; the others cost one multiplication per character and
// one look into a table, and only a hit is compared character by character.

/** Ids of elements. 0 is every element that is not listed. */
export const TAG = {
  other: 0,
  a: 1,
  area: 2,
  audio: 3,
  base: 4,
  body: 5,
  embed: 6,
  form: 7,
  frame: 8,
  frameset: 9,
  html: 10,
  iframe: 11,
  image: 12,
  img: 13,
  input: 14,
  link: 15,
  math: 16,
  meta: 17,
  noembed: 18,
  noframes: 19,
  object: 20,
  plaintext: 21,
  script: 22,
  source: 23,
  style: 24,
  svg: 25,
  template: 26,
  textarea: 27,
  title: 28,
  track: 29,
  use: 30,
  video: 31,
  xmp: 32,
} as const
export type TagId = (typeof TAG)[keyof typeof TAG]

/** Ids of attributes, dense from 1: they index the slots of a TagReader. */
export const ATTRIBUTE = {
  action: 1,
  background: 2,
  charset: 3,
  color: 4,
  content: 5,
  data: 6,
  encoding: 7,
  face: 8,
  href: 9,
  'http-equiv': 10,
  imagesrcset: 11,
  lang: 12,
  method: 13,
  name: 14,
  poster: 15,
  rel: 16,
  shadowrootmode: 17,
  size: 18,
  src: 19,
  srcset: 20,
  type: 21,
  'xlink:href': 22,
  'xml:lang': 23,
} as const
export type AttributeId = (typeof ATTRIBUTE)[keyof typeof ATTRIBUTE]
export const ATTRIBUTE_COUNT = Object.keys(ATTRIBUTE).length + 1

/** 2¹¹ cells and this multiplier hold our names without collision, checked below as the module loads. */
const CELLS = 2 ** 11
const MULTIPLIER = 29

/** Folding by `| 32` also folds some signs together, which the comparison after a hit sorts out. */
function hashStep(hash: number, code: number): number {
  return (Math.imul(hash, MULTIPLIER) + (code | 32)) | 0
}

export interface NameTable {
  /** Id by cell, 0 where there is none. */
  readonly ids: Uint8Array
  /** Lower-case name by id. */
  readonly names: readonly string[]
  /** By first letter (either case), the lengths of the names that begin with it, as bits. */
  readonly lengths: Int32Array
}

function nameTable(entries: Readonly<Record<string, number>>): NameTable {
  const ids = new Uint8Array(CELLS)
  const names: string[] = ['']
  const lengths = new Int32Array(256)
  for (const [name, id] of Object.entries(entries)) {
    let hash = 0
    for (let index = 0; index < name.length; index++) hash = hashStep(hash, name.charCodeAt(index))
    if (ids[hash & (CELLS - 1)] !== 0) throw new RangeError(`${name} shares a cell: choose another multiplier`)
    ids[hash & (CELLS - 1)] = id
    names[id] = name
    for (const first of [name.charCodeAt(0), name.charCodeAt(0) & ~32])
      lengths[first] = (lengths[first] as number) | (1 << name.length)
  }
  return { ids, names, lengths }
}

const { other: _, ...listedTags } = TAG
export const TAG_NAMES: NameTable = nameTable(listedTags)
export const ATTRIBUTE_NAMES: NameTable = nameTable(ATTRIBUTE)

/** Whether a name in the table begins with this byte and has this length: turns away most before any hashing. */
export function mayBeName(table: NameTable, first: number, length: number): boolean {
  return length < 31 && (((table.lengths[first] as number) >> length) & 1) === 1
}

/** The id of the name at [start, end), 0 when it is not in the table. */
export function findName(table: NameTable, bytes: Uint8Array, start: number, end: number): number {
  if (!mayBeName(table, bytes[start] as number, end - start)) return 0
  let hash = 0
  for (let position = start; position < end; position++) hash = hashStep(hash, bytes[position] as number)
  const id = table.ids[hash & (CELLS - 1)] as number
  if (id === 0) return 0
  const name = table.names[id] as string
  return name.length === end - start && isNameAt(bytes, start, name) ? id : 0
}

/** Whether lower-case `name` stands at `start`, in any case of ASCII letters. */
export function isNameAt(bytes: Uint8Array, start: number, name: string): boolean {
  if (start + name.length > bytes.length) return false
  for (let index = 0; index < name.length; index++) {
    let code = bytes[start + index] as number
    if (code >= 65 && code <= 90) code |= 32
    if (code !== name.charCodeAt(index)) return false
  }
  return true
}

/** What a byte means in a tag, as bits, so that one load and one mask say where a name or value ends. */
export const CLASS = new Uint8Array(256)
export const CLASS_SPACE = 1
const CLASS_SLASH = 2
const CLASS_GREATER = 4
const CLASS_EQUALS = 8
export const CLASS_SPACE_OR_SLASH = CLASS_SPACE | CLASS_SLASH
export const CLASS_UNQUOTED_END = CLASS_SPACE | CLASS_GREATER
export const CLASS_TAG_NAME_END = CLASS_SPACE | CLASS_SLASH | CLASS_GREATER
export const CLASS_ATTRIBUTE_NAME_END = CLASS_TAG_NAME_END | CLASS_EQUALS
for (const code of [9, 10, 12, 13, 32]) CLASS[code] = CLASS_SPACE
CLASS[47] = CLASS_SLASH
CLASS[62] = CLASS_GREATER
CLASS[61] = CLASS_EQUALS

/**
 * Where `byte` stands within the next `near` bytes (a multiple of 4), or -1: not there, or too close to the end to look.
 * Four at a time because that is a third faster here than one by one (bench/parse.ts).
 */
export function nextByte(bytes: Uint8Array, byte: number, start: number, near: number): number {
  const end = start + near
  if (end > bytes.length) return -1
  for (let position = start; position < end; position += 4) {
    if (bytes[position] === byte) return position
    if (bytes[position + 1] === byte) return position + 1
    if (bytes[position + 2] === byte) return position + 2
    if (bytes[position + 3] === byte) return position + 3
  }
  return -1
}

/** Where the tag name that goes on at `position` ends. */
export function afterName(bytes: Uint8Array, position: number): number {
  const { length } = bytes
  for (; position < length; position++) {
    const code = bytes[position] as number
    // Letters stand above all that ends a name, so most need one comparison.
    if (code <= 62 && ((CLASS[code] as number) & CLASS_TAG_NAME_END) !== 0) break
  }
  return position
}

/** Tab, line feed, form feed, carriage return, space: the white space of HTML. */
export function isSpace(code: number): boolean {
  return code === 32 || (code <= 13 && (code === 10 || code === 9 || code === 13 || code === 12))
}

/** Without HTML white space at its ends. */
export function trimSpace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return start === 0 && end === text.length ? text : text.slice(start, end)
}
