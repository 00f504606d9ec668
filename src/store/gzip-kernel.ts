// gzip members made by a kernel (kernel/store) in the thread that crawls: three fifths of what zlib takes at its
// first level, for what it makes at its second or third (decision 0020). A record is built in the kernel's memory, so nothing is copied on the way in.
//
//    record ──▶ INPUT ──▶ OUTPUT ──▶ a view, valid until the next record comes
//
// Some 1.2 MB of memory, of which pages touch what they need.

import { crc32 } from 'node:zlib'
import { assert, KERNEL_PAGE_BYTES, type KernelExports, kernelMaker } from '../base/index.ts'
import { KERNEL_BASE64 } from './kernel-module.ts'
import { buildRecord, type PlannedRecord, textBytes } from './warc-record.ts'

/** As a constant of the kernel comes. */
interface Constant {
  readonly value: number
}

interface StoreKernel extends KernelExports {
  readonly inputAt: Constant
  readonly inputBytes: Constant
  readonly outputAt: Constant
  readonly memoryBytes: Constant
  member(length: number, packedFrom: number, checksum: number): number
}

const makeKernel = kernelMaker(KERNEL_BASE64) as () => StoreKernel

export class GzipKernel {
  readonly #kernel: StoreKernel
  readonly #memory: Buffer
  readonly #inputAt: number
  readonly #outputAt: number
  /** No record may be longer. */
  readonly bytesMax: number

  constructor() {
    const kernel = makeKernel()
    const { memory, inputAt, inputBytes, outputAt, memoryBytes } = kernel
    const missing = memoryBytes.value - memory.buffer.byteLength
    if (missing > 0) memory.grow(Math.ceil(missing / KERNEL_PAGE_BYTES))
    this.#kernel = kernel
    this.#memory = Buffer.from(memory.buffer)
    this.#inputAt = inputAt.value
    this.#outputAt = outputAt.value
    this.bytesMax = inputBytes.value
  }

  /** The member of a record. A body that came compressed is stored as it is. */
  memberOf(record: PlannedRecord): Uint8Array {
    assert(record.bytes <= this.bytesMax, 'a record is larger than the kernel has room for')
    buildRecord(record, this.#memory, this.#inputAt)
    return this.#made(record.bytes, record.isPacked ? textBytes(record) : record.bytes)
  }

  /** The same of any bytes. */
  memberOfBytes(bytes: Uint8Array, packedFrom = bytes.length): Uint8Array {
    assert(bytes.length <= this.bytesMax, 'there are more bytes than the kernel has room for')
    this.#memory.set(bytes, this.#inputAt)
    return this.#made(bytes.length, packedFrom)
  }

  #made(length: number, packedFrom: number): Uint8Array {
    // Native: 3 µs for 14 kB.
    const checksum = crc32(this.#memory.subarray(this.#inputAt, this.#inputAt + length))
    const memberBytes = this.#kernel.member(length, packedFrom, checksum)
    return this.#memory.subarray(this.#outputAt, this.#outputAt + memberBytes)
  }
}
