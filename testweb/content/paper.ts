// What bodies are written on. The server writes every page on one sheet of bytes, which stays in the
// processor's cache; as a string each page would be joined in fresh memory. bench/testweb.ts is the judge.

import { assert } from '../../src/base/index.ts'
import type { Filler, Language } from './filler.ts'

export interface Paper {
  text(part: string): void
  /** So many characters of filler, from a place chosen by `hash`. */
  filler(language: Language, hash: number, chars: number): void
}

/** For pages that are encoded afterwards. */
export class TextPaper implements Paper {
  readonly #source: Filler
  #text = ''

  constructor(filler: Filler) {
    this.#source = filler
  }

  text(part: string): void {
    this.#text += part
  }

  filler(language: Language, hash: number, chars: number): void {
    this.#text += this.#source.take(language, hash, chars)
  }

  toString(): string {
    return this.#text
  }
}

const FIRST_BYTES = 65_536

/**
 * For everything that is sent: text is written as one byte per character. The body begins after some
 * room for the head, which is known last, so that both are one piece in the end.
 */
export class BytePaper implements Paper {
  static readonly HEAD_ROOM = 2_048
  readonly #source: Filler
  #bytes: Buffer
  #at = BytePaper.HEAD_ROOM

  constructor(filler: Filler, bytes = FIRST_BYTES) {
    this.#source = filler
    this.#bytes = Buffer.allocUnsafeSlow(BytePaper.HEAD_ROOM + bytes)
  }

  /** Bytes of the body so far. */
  get length(): number {
    return this.#at - BytePaper.HEAD_ROOM
  }

  clear(): void {
    this.#at = BytePaper.HEAD_ROOM
  }

  text(part: string): void {
    this.#makeRoom(part.length)
    this.#at += this.#bytes.write(part, this.#at, 'latin1')
  }

  bytes(part: Uint8Array): void {
    this.#makeRoom(part.length)
    this.#bytes.set(part, this.#at)
    this.#at += part.length
  }

  /** English only: it is in ASCII, and nothing else has one byte per character. */
  filler(language: Language, hash: number, chars: number): void {
    assert(language === 'en', `filler in ${language} needs an encoding`)
    if (chars <= 0) return
    this.#makeRoom(chars)
    this.#at += this.#source.copyEnglish(this.#bytes, this.#at, hash, chars)
  }

  /** A view: valid until the next word is written. */
  body(): Buffer {
    return this.#bytes.subarray(BytePaper.HEAD_ROOM, this.#at)
  }

  /** Head and body in one piece, as a view: valid until the next word is written. */
  withHead(head: string): Buffer {
    if (head.length > BytePaper.HEAD_ROOM) return Buffer.concat([Buffer.from(head, 'latin1'), this.body()])
    const start = BytePaper.HEAD_ROOM - head.length
    this.#bytes.write(head, start, 'latin1')
    return this.#bytes.subarray(start, this.#at)
  }

  #makeRoom(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#at + bytes, this.#bytes.length * 2))
    this.#bytes.copy(grown, 0, 0, this.#at)
    this.#bytes = grown
  }
}
