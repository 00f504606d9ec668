// A body while it arrives and after: pieces in memory as they came, and a nameless file once there
// are more bytes than memory is given (spool.ts).
//
//     append … append ─▶ finish ─▶ bytes / chunks, any number of times ─▶ release
//
// Always true: length counts the bytes taken and never exceeds lengthMax; the pieces are in memory or
// in the file, never in both; a reader sees the same bytes each time, also while another one reads.
// hot: a small body is kept in pieces, which are joined at the first bytes() and then stay joined. A body
// of one piece is not copied again; bytes that are only lent are copied once, into a piece that is as
// large as the body is said to become.

import { readSync, writeSync } from 'node:fs'
import { assert, diskFault } from '../base/index.ts'
import type { Body } from './document.ts'
import type { Slab, Spool } from './spool.ts'

const CHUNK_BYTES = 64 * 1024
/** The first piece of lent bytes when nobody says how many will come: most pages fit. */
const PIECE_BYTES = 16 * 1024
/** Above memoryMax, what a body is said to become is believed up to here, and one that came in pieces is joined when it is whole. */
const WHOLE_BYTES_MAX = 2 ** 20
const NO_BYTES = new Uint8Array(0)

export class SpooledBody implements Body {
  readonly #spool: Spool
  readonly #lengthMax: number
  readonly #lengthExpected: number
  #pieces: Uint8Array[] = []
  /** The last piece while there is room in it, and how far it is filled. */
  #tail: Buffer | null = null
  #tailFilled = 0
  /** Slabs that its pieces were cut from, one for each piece: nearly always one. */
  #slab: Slab | null = null
  #moreSlabs: Slab[] | null = null
  /** Memory of its own that pieces lie in. */
  #own: Buffer[] | null = null
  /** What it has of the memory that large bodies share. */
  #reserved = 0
  /** Open file that holds all bytes, or -1 while they are in memory. */
  #descriptor = -1
  #length = 0
  #isFinished = false
  #isReleased = false
  /** Bytes written to the file. */
  #fileBytes = 0

  /** `lengthExpected` is what the body is said to become, 0 where nothing is said; a hint, not a promise. */
  constructor(spool: Spool, lengthMax: number, lengthExpected = 0) {
    this.#spool = spool
    this.#lengthMax = lengthMax
    this.#lengthExpected = Math.min(lengthExpected, lengthMax)
  }

  /** A finished body of bytes at hand. The body owns them from now on. */
  static of(bytes: Uint8Array, spool: Spool): SpooledBody {
    const body = new SpooledBody(spool, bytes.length)
    body.append(bytes)
    body.finish()
    return body
  }

  get length(): number {
    return this.#length
  }

  /**
   * Takes as many bytes as the limit leaves room for and says how many: less than the piece has means
   * the body is cut. The piece must not change afterwards. Throws a Fault when the disk refuses.
   */
  append(piece: Uint8Array): number {
    assert(!this.#isFinished, 'a finished body takes no more bytes')
    const room = this.#lengthMax - this.#length
    const taken = piece.length <= room ? piece : piece.subarray(0, room)
    if (taken.length === 0) return 0
    if (this.#descriptor === -1 && !this.#mayGrowTo(this.#length + taken.length)) this.#moveToFile()
    if (this.#descriptor === -1) {
      this.#seal()
      this.#pieces.push(taken)
    } else this.#write(taken)
    this.#length += taken.length
    return taken.length
  }

  /** The same for bytes that are only lent: they may change after the call. */
  appendCopy(source: Buffer, start: number, end: number): number {
    assert(!this.#isFinished, 'a finished body takes no more bytes')
    const taken = Math.min(end - start, this.#lengthMax - this.#length)
    if (taken === 0) return 0
    if (this.#descriptor === -1 && !this.#mayGrowTo(this.#length + taken)) this.#moveToFile()
    if (this.#descriptor === -1) this.#copy(source, start, start + taken)
    else this.#write(source.subarray(start, start + taken))
    this.#length += taken
    return taken
  }

  /** No more bytes will come. */
  finish(): void {
    this.#seal()
    this.#isFinished = true
    const isLarge = this.#length > this.#spool.memoryMax && this.#length <= WHOLE_BYTES_MAX
    if (isLarge && this.#pieces.length > 1) this.#joinAnew()
  }

  bytes(max: number = this.#length): Uint8Array {
    this.#assertReadable()
    const wanted = Math.min(max, this.#length)
    if (wanted === 0) return NO_BYTES
    if (this.#descriptor !== -1) {
      const bytes = Buffer.allocUnsafeSlow(wanted)
      this.#read(bytes, 0)
      return bytes
    }
    this.#seal()
    if (this.#pieces.length > 1) this.#pieces = [Buffer.concat(this.#pieces, this.#length)]
    const joined = this.#pieces[0] as Uint8Array
    return wanted === joined.length ? joined : joined.subarray(0, wanted)
  }

  *chunks(): Generator<Uint8Array, void, undefined> {
    this.#assertReadable()
    if (this.#descriptor === -1) {
      this.#seal()
      // The array is replaced when another reader joins the pieces, not changed: this reader's stays.
      for (const piece of this.#pieces) {
        for (let at = 0; at < piece.length; at += CHUNK_BYTES) {
          assert(!this.#isReleased, 'a released body is not read')
          yield piece.subarray(at, at + CHUNK_BYTES)
        }
      }
      return
    }
    const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, this.#length))
    for (let at = 0; at < this.#length; at += CHUNK_BYTES) {
      assert(!this.#isReleased, 'a released body is not read')
      const chunk = buffer.subarray(0, Math.min(CHUNK_BYTES, this.#length - at))
      this.#read(chunk, at)
      yield chunk
    }
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#isFinished = true
    this.#pieces = []
    this.#tail = null
    this.#putMemoryBack()
    if (this.#descriptor !== -1) this.#spool.giveBack(this.#descriptor)
    this.#descriptor = -1
  }

  /** What is still arriving may move to a file, and its memory to another body: nobody may have seen it. */
  #assertReadable(): void {
    assert(!this.#isReleased, 'a released body is not read')
    assert(this.#isFinished, 'a body is read when it is whole')
  }

  /** The bytes fit into memory. */
  #copy(source: Buffer, start: number, end: number): void {
    let at = start
    while (at < end) {
      this.#tail ??= this.#newTail(end - at)
      const copied = source.copy(this.#tail, this.#tailFilled, at, end)
      at += copied
      this.#tailFilled += copied
      if (this.#tailFilled === this.#tail.length) this.#seal()
    }
  }

  /** Whether that many bytes of it may be in memory. */
  #mayGrowTo(length: number): boolean {
    if (length <= this.#spool.memoryMax || length <= this.#reserved) return true
    if (!this.#spool.reserve(length - this.#reserved)) return false
    this.#reserved = length
    return true
  }

  /** As large as the body is said to become; beyond that twice as large each time. */
  #newTail(bytesMin: number): Buffer {
    const isFirst = this.#length === 0 && this.#pieces.length === 0
    const expected = isFirst ? this.#lengthExpected : 0
    const isBelieved = expected > 0 && expected <= Math.max(WHOLE_BYTES_MAX, this.#spool.memoryMax)
    const wanted = isBelieved && this.#mayGrowTo(expected) ? expected : this.#usualTailBytes()
    const bytes = Math.max(bytesMin, wanted)
    const slab = this.#spool.slabFor(bytes)
    if (slab === null) return this.#takeOwn(bytes)
    if (this.#slab === null) this.#slab = slab
    else (this.#moreSlabs ??= []).push(slab)
    const start = slab.used
    slab.used += bytes
    return slab.bytes.subarray(start, slab.used)
  }

  #usualTailBytes(): number {
    const { memoryMax } = this.#spool
    const wanted = Math.max(PIECE_BYTES, this.#length)
    // Beyond it might be a file.
    return this.#length < memoryMax ? Math.min(wanted, memoryMax - this.#length) : wanted
  }

  #takeOwn(bytes: number): Buffer {
    const memory = this.#spool.takeOwn(bytes)
    ;(this.#own ??= []).push(memory)
    return memory
  }

  /** In memory of one piece; that of the pieces is free for others, for nobody has looked at them yet. */
  #joinAnew(): void {
    const memory = this.#spool.takeOwn(this.#length)
    let at = 0
    for (const piece of this.#pieces) {
      memory.set(piece, at)
      at += piece.length
    }
    this.#putPiecesBack()
    this.#own = [memory]
    this.#pieces = [memory.subarray(0, at)]
  }

  #putMemoryBack(): void {
    this.#putPiecesBack()
    if (this.#reserved > 0) this.#spool.unreserve(this.#reserved)
    this.#reserved = 0
  }

  #putPiecesBack(): void {
    if (this.#slab !== null) this.#spool.putBack(this.#slab)
    if (this.#moreSlabs !== null) for (const slab of this.#moreSlabs) this.#spool.putBack(slab)
    if (this.#own !== null) for (const memory of this.#own) this.#spool.putOwnBack(memory)
    this.#slab = null
    this.#moreSlabs = null
    this.#own = null
  }

  /** What was copied becomes a piece like others. */
  #seal(): void {
    const tail = this.#tail
    if (tail === null) return
    this.#pieces.push(this.#tailFilled === tail.length ? tail : tail.subarray(0, this.#tailFilled))
    this.#tail = null
    this.#tailFilled = 0
  }

  #moveToFile(): void {
    this.#seal()
    this.#descriptor = this.#spool.openFile()
    const pieces = this.#pieces
    this.#pieces = []
    for (const piece of pieces) this.#write(piece)
    this.#putMemoryBack()
  }

  #write(piece: Uint8Array): void {
    try {
      let written = 0
      while (written < piece.length) {
        // At a place of its own choosing: where a file that was used before would go on is not ours to trust.
        const count = writeSync(this.#descriptor, piece, written, piece.length - written, this.#fileBytes)
        written += count
        this.#fileBytes += count
      }
    } catch (cause) {
      throw diskFault('writing a body to its temporary file', cause)
    }
  }

  #read(into: Uint8Array, position: number): void {
    let filled = 0
    while (filled < into.length) {
      const read = this.#readOnce(into, filled, position + filled)
      assert(read > 0, `a temporary file ends at byte ${position + filled} of ${this.#length}`)
      filled += read
    }
  }

  #readOnce(into: Uint8Array, offset: number, position: number): number {
    try {
      return readSync(this.#descriptor, into, offset, into.length - offset, position)
    } catch (cause) {
      throw diskFault('reading a body from its temporary file', cause)
    }
  }
}
