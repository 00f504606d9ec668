// The element and attribute names the HTML scanner cares about, found by hash without making a string.
//
// hot: a name costs one multiplication per character and one look into a byte table; only a hit is
// compared character by character. Names not listed have id 0 and are never compared.

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

/** Ids of attributes, dense: they index the slots of a TagReader. */
export const ATTRIBUTE = {
  action: 0,
  background: 1,
  charset: 2,
  content: 3,
  data: 4,
  encoding: 5,
  href: 6,
  'http-equiv': 7,
  imagesrcset: 8,
  lang: 9,
  method: 10,
  name: 11,
  poster: 12,
  rel: 13,
  shadowrootmode: 14,
  src: 15,
  srcset: 16,
  type: 17,
  'xlink:href': 18,
  'xml:lang': 19,
} as const
export type AttributeId = (typeof ATTRIBUTE)[keyof typeof ATTRIBUTE]
export const ATTRIBUTE_COUNT = Object.keys(ATTRIBUTE).length

/** 2¹¹ cells and this multiplier hold our names without collision, checked below as the module loads. */
const CELLS = 2 ** 11
const NOTHING = 255

/**
 * One step of the name hash, for letters of either case: folding by `| 32` also folds some signs
 * together, which the comparison after a hit sorts out.
 */
export function hashStep(hash: number, code: number): number {
  return (Math.imul(hash, 29) + (code | 32)) | 0
}

export interface NameTable {
  /** Id by cell, 255 where there is none. */
  readonly ids: Uint8Array
  /** Lower-case name by id. */
  readonly names: readonly string[]
}

function nameTable(entries: Readonly<Record<string, number>>): NameTable {
  const ids = new Uint8Array(CELLS).fill(NOTHING)
  const names: string[] = []
  for (const [name, id] of Object.entries(entries)) {
    let hash = 0
    for (let index = 0; index < name.length; index++) hash = hashStep(hash, name.charCodeAt(index))
    if (ids[hash & (CELLS - 1)] !== NOTHING) throw new RangeError(`${name} shares a cell: choose another hash`)
    ids[hash & (CELLS - 1)] = id
    names[id] = name
  }
  return { ids, names }
}

const { other: _, ...listedTags } = TAG
export const TAG_NAMES: NameTable = nameTable(listedTags)
export const ATTRIBUTE_NAMES: NameTable = nameTable(ATTRIBUTE)

/** The id of the name at [start, end) whose hash is `hash`, or -1. */
export function findName(table: NameTable, text: string, start: number, end: number, hash: number): number {
  const id = table.ids[hash & (CELLS - 1)] as number
  if (id === NOTHING) return -1
  const name = table.names[id] as string
  return name.length === end - start && isNameAt(text, start, name) ? id : -1
}

/** Whether lower-case `name` stands at `start`, in any case of ASCII letters. */
export function isNameAt(text: string, start: number, name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    let code = text.charCodeAt(start + index)
    if (code >= 65 && code <= 90) code |= 32
    if (code !== name.charCodeAt(index)) return false
  }
  return true
}

/** Tab, line feed, form feed, carriage return, space: the white space of HTML. */
export function isSpace(code: number): boolean {
  return code === 32 || (code <= 13 && (code === 10 || code === 9 || code === 13 || code === 12))
}

/** White space, `/` or `>`: what ends a tag name. */
export function endsTagName(code: number): boolean {
  return code === 62 || code === 47 || isSpace(code)
}
