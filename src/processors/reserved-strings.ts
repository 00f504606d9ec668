import type { PageInHand, Processor } from './processor.ts'

/** Drops text pages that contain a reserved string (N4). Bytes are compared, so the strings are matched as UTF-8. */
export class ReservedStrings implements Processor {
  readonly name = 'reserved-strings'
  readonly #reserved: readonly { readonly text: string; readonly bytes: Buffer }[]

  constructor(reserved: readonly string[]) {
    this.#reserved = reserved.map((text) => ({ text, bytes: Buffer.from(text) }))
  }

  accepts(mediaType: string | null): boolean {
    return this.#reserved.length > 0 && (mediaType === null || /^text\/|xml|json/.test(mediaType))
  }

  process(page: PageInHand): void {
    const body = page.document.body.bytes()
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    const found = this.#reserved.find((one) => bytes.includes(one.bytes))
    if (found !== undefined) page.dropped = { reason: 'reserved-string', detail: `contains '${found.text}'` }
  }
}
