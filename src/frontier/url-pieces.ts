// A code for the text of URLs: the pieces that URLs are made of, a byte each.
//
//     https://www.example.org/articles/   ─▶   [https://www.] e x a m p [le] [.org/] [article] [s/]
//
// A canonical URL is printable ASCII, so the bytes below 0x20 and from 0x7f on are free: they stand for pieces, every
// other byte for itself. No text grows, and decoding is one look-up a byte. The pieces are part of the format: a block
// can only be read with the list, in the order, that it was written with.
//
// The pieces are what URLs have in common everywhere (schemes, endings, names of folders and
// parameters, the commonest syllables of English), not what one corpus happened to have: nothing here was trained.

const SPACE = 0x20
const DELETE = 0x7f

const PIECES: readonly string[] = [
  'https://www.,https://,http://www.,http://,.com/,.org/,.net/,.example/,.html,.htm,.php,.aspx,.jpg,.png,.css,.js,.xml',
  'index,/index.html,article,category,/wiki/,/news/,/blog/,/tag/,/archive,/docs/,/page/,/user,/product,/search,/static/',
  '/images/,/en/,?page=,?id=,&id=,?q=,&page=,lang=,/wp-content/uploads/,/20,/201,/202,-the-,-of-,-and-,-in-,-to-,-for-',
  'tion,ing,ment,ence,ight,ther,able,ver,the,and,ent,ion,ter,for,ate,all,con,pro,com,ess,ist,per,res,sta,str,out,int,age',
  'th,he,in,er,an,re,on,at,en,nd,ti,es,or,te,ed,is,it,al,ar,st,nt,to,ng,se,ha,as,ou,io,le,ve,co,me,de,hi,ri,ro,ic,ne',
  'ea,ra,ce,li,ch,ll,be,ma,si,om,ur,ca,el,ta,la,ns,di,fo,ho,pe,ec,pr,no,ct,us,ac,ot,il,tr,ly,nc,et,ut,ss,so,lo,un,s/,s-',
  'e-,d-',
].flatMap((line) => line.split(','))

/** The byte of the n-th piece: 0x7f and up first, then what is below the space. */
function codeOf(piece: number): number {
  return (DELETE + piece) & 0xff
}

/** By a piece's first two characters: the pieces that begin so, longest first. */
const STARTS: readonly (readonly Piece[] | undefined)[] = startsOf()
/** The text of every byte. */
const TEXTS: readonly Uint8Array[] = textsOf()

interface Piece {
  readonly text: string
  readonly code: number
}

function startsOf(): (readonly Piece[] | undefined)[] {
  const starts: (Piece[] | undefined)[] = Array.from({ length: 2 ** 14 })
  PIECES.forEach((text, index) => {
    const start = (text.charCodeAt(0) << 7) | text.charCodeAt(1)
    ;(starts[start] ??= []).push({ text, code: codeOf(index) })
  })
  for (const pieces of starts) pieces?.sort((a, b) => b.text.length - a.text.length)
  return starts
}

function textsOf(): Uint8Array[] {
  const texts = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
  PIECES.forEach((text, index) => (texts[codeOf(index)] = Buffer.from(text, 'latin1')))
  return texts
}

/** Whether every character of the text stands for itself: true of every canonical URL. */
export function isPlain(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < SPACE || code >= DELETE) return false
  }
  return true
}

/**
 * Writes text[from, to) of a plain text to `out`, which has room for to - from bytes; where it ends.
 * hot: takes the longest piece at each place.
 */
export function writePieces(text: string, from: number, to: number, out: Uint8Array, at: number): number {
  let position = from
  let end = at
  while (position < to) {
    const first = text.charCodeAt(position)
    let code = first
    let length = 1
    if (position + 1 < to) {
      const pieces = STARTS[(first << 7) | text.charCodeAt(position + 1)]
      if (pieces !== undefined) {
        for (const piece of pieces) {
          const size = piece.text.length
          if (position + size <= to && (size === 2 || text.startsWith(piece.text, position))) {
            code = piece.code
            length = size
            break
          }
        }
      }
    }
    out[end++] = code
    position += length
  }
  return end
}

/** The text of every byte, for whoever looks pieces up in another way. */
export function codedTexts(): readonly Uint8Array[] {
  return TEXTS
}

export const PIECE_LENGTH_MAX = Math.max(...PIECES.map((text) => text.length))

/** Writes the text of bytes[from, to) to `out`, which has room for PIECE_LENGTH_MAX times as much; where it ends. */
export function readPieces(bytes: Uint8Array, from: number, to: number, out: Uint8Array, at: number): number {
  let end = at
  for (let i = from; i < to; i++) {
    const text = TEXTS[bytes[i] as number] as Uint8Array
    for (let k = 0; k < text.length; k++) out[end++] = text[k] as number
  }
  return end
}
