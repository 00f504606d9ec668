// Lines in the memory of a kernel (kernel/disk): sorted there, or merged from several sources, as bytes. A line never becomes
// a string: of two hundred thousand lines of an index, making, sorting and joining those took as long as three thousand pages.
//
//     LineHeap     │ lines … │ rest of one │ index, 16 bytes a line │ output │        what is read is appended, then sorted, then written
//     mergedLines  │ sources │ heap │ output │ a room for each source │              what is read goes to the room of its source
//
// Numbers are 32 bits wide, so all of it ends below 4 GiB.

import { assert, KERNEL_PAGE_BYTES, type KernelExports, kernelMaker } from '../base/index.ts'
import { KERNEL_BASE64 } from './kernel-module.ts'

interface DiskKernel extends KernelExports {
  readonly baseAt: { readonly value: number }
  count(from: number, end: number): number
  list(from: number, end: number, index: number): number
  sort(index: number, lines: number): void
  emit(index: number, from: number, lines: number, out: number, outBytes: number): number
  emitted(): number
  begin(sources: number, heap: number, size: number): void
  resume(sources: number, heap: number, size: number): void
  drop(sources: number, heap: number, size: number): void
  merge(sources: number, heap: number, size: number, out: number, outBytes: number): number
  merged(): number
}

const makeKernel = kernelMaker(KERNEL_BASE64) as () => DiskKernel

const NEWLINE = 10
/** What a line takes in the index. */
const ENTRY_BYTES = 16
const SOURCE_BYTES = 16
const HEAP_BYTES = 4
/** Written at once, or more where a line is longer. */
const OUTPUT_BYTES = 2 ** 20
/** Read of a source at once, or more where a line is longer. */
export const ROOM_BYTES = 2 ** 16
/** What is read or compared in one go may end so far behind a line. */
const MARGIN_BYTES = 64

class KernelSpace {
  readonly kernel: DiskKernel = makeKernel()
  readonly base = aligned(this.kernel.baseAt.value)
  /** Another one whenever more is needed. */
  bytes = Buffer.from(this.kernel.memory.buffer)

  /** There is memory up to here. */
  need(end: number): void {
    const missing = end + MARGIN_BYTES - this.bytes.length
    if (missing <= 0) return
    // By half at least: growing may copy everything.
    const pages = Math.ceil(Math.max(missing, this.bytes.length / 2) / KERNEL_PAGE_BYTES)
    this.kernel.memory.grow(pages)
    this.bytes = Buffer.from(this.kernel.memory.buffer)
  }
}

/** Lines that fit memory. */
export class LineHeap {
  readonly #space = new KernelSpace()
  /** Behind the last byte, and behind the last newline. */
  #end = this.#space.base
  #wholeEnd = this.#space.base
  #lines = 0
  #longest = 0

  /** Whole lines. */
  get lines(): number {
    return this.#lines
  }

  /** Of whole lines, with their index. */
  get memoryBytes(): number {
    return this.#wholeEnd - this.#space.base + this.#lines * ENTRY_BYTES
  }

  /** How long the longest line is that was ever written, without its newline. */
  get longest(): number {
    return this.#longest
  }

  append(piece: Uint8Array): void {
    const { kernel } = this.#space
    const from = this.#end
    this.#end += piece.length
    this.#space.need(this.#end)
    this.#space.bytes.set(piece, from)
    const newline = piece.lastIndexOf(NEWLINE)
    if (newline === -1) return
    this.#wholeEnd = from + newline + 1
    this.#lines += kernel.count(from, this.#wholeEnd)
  }

  /** The end of an input: a last line without its newline is given one. */
  endInput(): void {
    if (this.#end > this.#wholeEnd) this.append(Uint8Array.of(NEWLINE))
  }

  /** All whole lines in order, in pieces, each good until the next is asked for. The rest of one that is not whole stays. Returns how many there were. */
  *sorted(keeps?: (line: string) => boolean): Generator<Buffer, number> {
    const { kernel, base } = this.#space
    const index = aligned(this.#end)
    const indexEnd = index + this.#lines * ENTRY_BYTES
    this.#space.need(indexEnd)
    this.#longest = Math.max(this.#longest, kernel.list(base, this.#wholeEnd, index))
    const outBytes = Math.max(OUTPUT_BYTES, this.#longest + 1)
    this.#space.need(indexEnd + outBytes)
    const { bytes } = this.#space
    const lines = keeps === undefined ? this.#lines : this.#filter(index, keeps)
    kernel.sort(index, lines)
    for (let from = 0; from < lines;) {
      from = kernel.emit(index, from, lines, indexEnd, outBytes)
      yield bytes.subarray(indexEnd, indexEnd + kernel.emitted())
    }
    bytes.copyWithin(base, this.#wholeEnd, this.#end)
    this.#end += base - this.#wholeEnd
    this.#wholeEnd = base
    this.#lines = 0
    return lines
  }

  /** Takes lines out of the index. How many stay. */
  #filter(index: number, keeps: (line: string) => boolean): number {
    const { bytes } = this.#space
    let to = index
    for (let entry = index; entry < index + this.#lines * ENTRY_BYTES; entry += ENTRY_BYTES) {
      const at = bytes.readUInt32LE(entry + 8)
      if (!keeps(bytes.toString('latin1', at, at + bytes.readUInt32LE(entry + 12)))) continue
      bytes.copyWithin(to, entry, entry + ENTRY_BYTES)
      to += ENTRY_BYTES
    }
    return (to - index) / ENTRY_BYTES
  }
}

/** Sorted lines, each with its newline, wherever they come from. */
export interface LineSource {
  /** Reads more into this memory, as much as there is; 0 at its end. */
  read(into: Buffer): Promise<number>
}

/** Merges sources none of whose lines is longer than `longest`. Pieces are good until the next is asked for. Returns how many lines there were. */
export async function* mergedLines(sources: readonly LineSource[], longest: number): AsyncGenerator<Buffer, number> {
  const space = new KernelSpace()
  const { kernel, base } = space
  const heap = base + sources.length * SOURCE_BYTES
  const out = aligned(heap + sources.length * HEAP_BYTES)
  const outBytes = Math.max(OUTPUT_BYTES, longest + 1)
  const roomBytes = Math.max(ROOM_BYTES, aligned(longest + 1))
  const roomAt = (number: number): number => aligned(out + outBytes) + number * roomBytes
  space.need(roomAt(sources.length))
  const { bytes } = space

  /** Reads until a whole line is there, behind the `rest` bytes of one that stand at the begin of the room. False where the source has ended. */
  const fill = async (number: number, rest: number): Promise<boolean> => {
    const room = roomAt(number)
    let filled = rest
    let isWhole = false
    while (!isWhole) {
      assert(filled < roomBytes, 'a line is longer than any was')
      const read = await (sources[number] as LineSource).read(bytes.subarray(room + filled, room + roomBytes))
      if (read === 0) break
      isWhole = bytes.subarray(room + filled, room + filled + read).includes(NEWLINE)
      filled += read
    }
    if (!isWhole && filled > 0) throw new Error('a sorted file ends in the middle of a line')
    const cell = base + number * SOURCE_BYTES
    bytes.writeUInt32LE(room, cell)
    bytes.writeUInt32LE(room + filled, cell + 8)
    return isWhole
  }

  let size = 0
  for (const number of sources.keys()) {
    if (await fill(number, 0)) bytes.writeUInt32LE(number, heap + size++ * HEAP_BYTES)
  }
  kernel.begin(base, heap, size)
  let lines = 0
  while (size > 0) {
    const number = kernel.merge(base, heap, size, out, outBytes)
    const outEnd = out + kernel.merged()
    lines += kernel.count(out, outEnd)
    yield bytes.subarray(out, outEnd)
    // The output was full.
    if (number === -1) continue
    const cell = base + number * SOURCE_BYTES
    const line = bytes.readUInt32LE(cell)
    const end = bytes.readUInt32LE(cell + 8)
    bytes.copyWithin(roomAt(number), line, end)
    if (await fill(number, end - line)) kernel.resume(base, heap, size)
    else kernel.drop(base, heap, --size)
  }
  return lines
}

function aligned(address: number): number {
  return Math.ceil(address / 64) * 64
}
