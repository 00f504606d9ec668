// The chunks of a body, taken out of their frames as they arrive, in whatever pieces.
//
//   size[;extension]␍␊ data ␍␊ … 0␍␊ [trailers␍␊] ␍␊
//
// Forgiven: line feeds alone, blanks after the size, extensions of any kind, a connection that ends
// after the last chunk. Not forgiven: a size that is no hexadecimal number, data longer than its size
// says, lines and trailers without end. Trailers are dropped: nothing in them is for us.

import { Complaint } from './answer-head.ts'

/** Takes bytes of a body, valid during the call; false: no more are wanted. */
export interface BodyTaker {
  onBody(source: Buffer, start: number, end: number): boolean
}

/** One size with its extensions (browsers allow as much). */
const SIZE_LINE_BYTES_MAX = 16 * 1024
const TRAILER_BYTES_MAX = 64 * 1024
/** Hexadecimal digits a number holds exactly. */
const SIZE_MAX = 2 ** 52

const TAB = 9
const LF = 10
const CR = 13
const BLANK = 32
const SEMICOLON = 0x3b

/** Where the next byte stands: in a size, behind its digits, in what may follow them, in data, at its end, in trailers, behind it all. */
type Place = 'size' | 'size-end' | 'extension' | 'data' | 'data-end' | 'trailer' | 'end'

export class ChunkReader {
  #place: Place = 'size'
  /** Of the chunk being read: what of it is missing; -1 before the first digit. */
  #size = -1
  /** Bytes of the line being read, and of all trailers so far. */
  #lineBytes = 0
  #trailerBytes = 0
  complaint: Complaint | null = null

  reset(): void {
    this.#startSize()
    this.#trailerBytes = 0
    this.complaint = null
  }

  get isOver(): boolean {
    return this.#place === 'end'
  }

  /** The last chunk has come: the body is whole, whatever becomes of the trailers. */
  get isBodyWhole(): boolean {
    return this.#place === 'trailer' || this.#place === 'end'
  }

  /**
   * Reads from `start` and returns where it stopped: at `end` to go on with the next bytes, behind the body
   * when `isOver`, or -1 when the taker wants no more or there is a `complaint`.
   */
  read(bytes: Buffer, start: number, end: number, taker: BodyTaker): number {
    let at = start
    while (at < end) {
      switch (this.#place) {
        case 'data': {
          const stop = Math.min(end, at + this.#size)
          this.#size -= stop - at
          if (!taker.onBody(bytes, at, stop)) return -1
          at = stop
          if (this.#size === 0) this.#place = 'data-end'
          break
        }
        case 'data-end': {
          const byte = bytes[at++]
          if (byte === LF) this.#startSize()
          else if (byte !== CR || ++this.#lineBytes > 1) return this.#complain('a chunk is longer than its size says')
          break
        }
        case 'trailer':
          at = this.#readTrailers(bytes, at, end)
          if (at === -1) return -1
          break
        case 'end':
          return at
        default:
          at = this.#readSizeLine(bytes, at, end)
          if (at === -1) return -1
      }
    }
    return at
  }

  #startSize(): void {
    this.#place = 'size'
    this.#size = -1
    this.#lineBytes = 0
  }

  #readSizeLine(bytes: Buffer, start: number, end: number): number {
    for (let at = start; at < end; at++) {
      const byte = bytes[at] as number
      if (byte === LF) {
        if (this.#size === -1) return this.#complain('a chunk without a size')
        this.#lineBytes = 0
        this.#place = this.#size === 0 ? 'trailer' : 'data'
        return at + 1
      }
      if (++this.#lineBytes > SIZE_LINE_BYTES_MAX) return this.#complain('the line of a chunk size without end')
      if (this.#place === 'extension') continue
      const digit = this.#place === 'size' ? hexValue(byte) : -1
      if (digit !== -1) {
        this.#size = Math.max(0, this.#size) * 16 + digit
        if (this.#size > SIZE_MAX) return this.#complain('a chunk size too large for numbers')
      } else if (this.#size === -1) return this.#complain('a chunk without a size')
      else if (byte === SEMICOLON) this.#place = 'extension'
      else if (byte === CR || byte === BLANK || byte === TAB) this.#place = 'size-end'
      else return this.#complain('a chunk size that is no hexadecimal number')
    }
    return end
  }

  #readTrailers(bytes: Buffer, start: number, end: number): number {
    for (let at = start; at < end; at++) {
      const byte = bytes[at]
      if (++this.#trailerBytes > TRAILER_BYTES_MAX) return this.#complain('trailers without end')
      if (byte === LF) {
        if (this.#lineBytes === 0) {
          this.#place = 'end'
          return at + 1
        }
        this.#lineBytes = 0
      } else if (byte !== CR) this.#lineBytes++
    }
    return end
  }

  #complain(detail: string): -1 {
    this.complaint = new Complaint('FETCH_BODY_MALFORMED', detail)
    return -1
  }
}

function hexValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
