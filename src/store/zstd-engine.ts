// Node's zstd with the one thing mended that an archive cannot bear: a frame with nothing in it behind a record.
//
// Node asks an engine again when it has filled its buffer to the last byte, since there may be more to come. Where the frame ended
// with that very byte, zstd begins another and ends it at once, and the record would be followed by thirteen bytes that are nobody's.
// They come in a buffer of their own, so whoever pushes them can tell. One record in 65,536 is met by it: as many bytes has a buffer.

import { ZstdCompress, type ZstdOptions } from 'node:zlib'

export class ZstdEngine extends ZstdCompress {
  readonly #emptyFrame: Buffer

  /** `emptyFrame`: nothing, compressed by the same parameters. */
  constructor(options: ZstdOptions, emptyFrame: Buffer) {
    super(options)
    this.#emptyFrame = emptyFrame
  }

  override push(piece: Uint8Array | null): boolean {
    // No record is empty, so such a frame is never one's own.
    if (piece !== null && this.#emptyFrame.equals(piece)) return true
    return super.push(piece)
  }
}
