// Pages nobody would write: tag soup, real pages cut, spliced and mutated, and noise in which markup is likely.
// A page is a pure function of seed, number and pool, so that what was found can be had again.
//
//     seed:number ──▶ style ──▶ soup | a piece of a real page | two pieces in one | noise ──▶ mutations ──▶ bytes, charset

import { Random } from '../../src/base/index.ts'

export interface FuzzPage {
  readonly bytes: Buffer
  readonly charset: string | null
}

/** Longer pages find no more and cost more: what matters is near. */
const PIECE_BYTES_MAX = 1_200
const MUTATIONS_MAX = 6
const SOUP_PIECES_MAX = 30

const NAMES =
  `a area img image link script style title textarea xmp iframe noembed noframes noscript template form p div b i table tr td
   caption ul li dl dt body html head base meta video source object embed input button br hr font span h1 select option frameset frame
   svg math g desc foreignObject mi annotation-xml plaintext marquee`.split(/\s+/)
const ATTRIBUTES =
  'href src HREF xlink:href rel action data srcset type encoding title style background lang charset content http-equiv = " / x'.split(
    ' ',
  )
const VALUES = [
  'x', 'y/z', '?a=1&amp;b', '&copy', '&copy=', '#f', '"', "'", '>', '<a href=q>', ' ', '', 'é', '-->', '</script>', 'image', 'nofollow',
  'text/html', 'a 1x, b 2x', '0;url=r', 'refresh', 'url(s)', "@import 't'", 'canonical', '\u3042', '&#x3042;', '\0', '\r\n', '//h/p', 'http:z',
] // prettier-ignore
const TOKENS = [
  '<!--', '-->', '--!>', '<!-->', '<!DOCTYPE html>', '<?x', '>', '</', '<', '<!', '\0', '<![CDATA[', ']]>', '<script', '</script', '<script>',
  '</script>', '<!--<script>', '<style>', '</style>', '<title>', '</title>', '<textarea>', '</textarea>', '<template>', '</template>', '"', "'",
  '=', '/', '/>', '&', '&amp', ';', ' ', '\n', '\r', '\f', '\t', '<a href=u1>', '<a href="u2">', '<img src=u3>', '<base href=b/>', '<meta charset=',
] // prettier-ignore
const CHARSETS = [
  null,
  'windows-1252',
  'shift_jis',
  'euc-jp',
  'gb18030',
  'euc-kr',
  'big5',
  'iso-2022-jp',
  'utf-16le',
  'koi8-r',
  'nonsense',
]
/** Bytes in which markup is likely: what the tokenizer knows, and what encodings are made of. */
const NOISE = Buffer.from('<<<>>/!-?="\' \n\r\f\0&;#xaAbhrefsclit[]CDT\x1b$(BJ\x80\x82\xa4\xe3\xff', 'latin1')

export class FuzzPages {
  readonly #seed: string
  readonly #pool: readonly Buffer[]

  /** `pool` has real pages, of any length; without one only what needs none is made. */
  constructor(seed: string, pool: readonly Buffer[]) {
    this.#seed = seed
    this.#pool = pool
  }

  page(number: number): FuzzPage {
    const random = new Random(`${this.#seed}:${number}`)
    const style = random.below(this.#pool.length === 0 ? 2 : 8)
    const raw = style === 0 ? noise(random) : style <= 2 ? Buffer.from(soup(random)) : this.#real(random, style >= 6)
    const charset = random.below(4) > 0 ? 'utf-8' : random.pick(CHARSETS)
    return { bytes: mutated(raw, random), charset }
  }

  #real(random: Random, isSpliced: boolean): Buffer {
    const one = piece(random.pick(this.#pool), random)
    return isSpliced ? Buffer.concat([one, piece(random.pick(this.#pool), random)]) : one
  }
}

function piece(page: Buffer, random: Random): Buffer {
  const length = Math.min(page.length, 1 + random.below(PIECE_BYTES_MAX))
  const start = random.below(page.length - length + 1)
  return page.subarray(start, start + length)
}

function noise(random: Random): Buffer {
  const bytes = Buffer.alloc(random.below(200))
  for (let index = 0; index < bytes.length; index++) {
    bytes[index] = random.below(10) === 0 ? random.below(256) : (NOISE[random.below(NOISE.length)] as number)
  }
  return bytes
}

function soup(random: Random): string {
  let html = ''
  for (let count = random.below(SOUP_PIECES_MAX); count > 0; count--) {
    const what = random.below(16)
    if (what < 6) html += `<${random.pick(NAMES)}${attributes(random)}${random.pick(['>', '/>', ' >', ''])}`
    else if (what < 11) html += `</${random.pick(NAMES)}${random.pick(['>', ' >', ''])}`
    else if (what < 14) html += random.pick(TOKENS)
    else html += random.pick(VALUES)
  }
  return html
}

function attributes(random: Random): string {
  let text = ''
  for (let count = random.below(4); count > 0; count--) {
    const quote = random.pick(['"', "'", ''])
    text += ` ${random.pick(ATTRIBUTES)}${random.pick(['=', ' = ', '', '=='])}${quote}${random.pick(VALUES)}${random.pick([quote, quote, '"', ''])}`
  }
  return text
}

function mutated(page: Buffer, random: Random): Buffer {
  let bytes = Buffer.from(page)
  for (let count = random.below(MUTATIONS_MAX); count > 0 && bytes.length > 0; count--) {
    const at = random.below(bytes.length)
    const what = random.below(5)
    if (what === 0) bytes[at] = random.below(256)
    else if (what === 1) bytes = splice(bytes, at, at, Buffer.from(random.pick(TOKENS)))
    else if (what === 2) bytes = splice(bytes, at, at + random.below(20), Buffer.alloc(0))
    else if (what === 3) bytes = splice(bytes, at, at, piece(bytes, random).subarray(0, 60))
    else bytes = splice(bytes, at, at + 1, Buffer.from(`<${random.pick(NAMES)}${attributes(random)}>`))
  }
  return bytes
}

function splice(bytes: Buffer, start: number, end: number, insert: Buffer): Buffer<ArrayBuffer> {
  return Buffer.concat([bytes.subarray(0, start), insert, bytes.subarray(end)])
}
