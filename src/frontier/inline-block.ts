// A block that lies in its host's record: too few URLs for a key of their own, too many to be written anew with every change of
// the host. In memory it stays as it is, a fifth of what its URLs would take, until they are needed.

import type { HostKey } from '../url/index.ts'
import type { BodyCode } from './body-code.ts'
import { EntryBlock } from './entry-block.ts'
import { damagedBlock } from './entry-reader.ts'
import type { FrontierEntry } from './frontier.ts'

/** Stands where a block of its own has its number. */
export const INLINE = -1

export class InlineBlock {
  /** A character a byte: the cheapest thing to keep many of, and free of whatever buffer it came from. */
  readonly #text: string
  readonly #code: BodyCode | null

  constructor(bytes: Buffer, code: BodyCode | null) {
    this.#text = bytes.toString('latin1')
    this.#code = code
  }

  get length(): number {
    return this.#text.length
  }

  bytes(): Buffer {
    return Buffer.from(this.#text, 'latin1')
  }

  /** The entries from the i-th on. Throws LEDGER_CORRUPT unless there are as many as its record says. */
  entries(host: HostKey, stored: number, from: number): FrontierEntry[] {
    const block = EntryBlock.open(host, this.bytes(), this.#code)
    if (block.count !== stored) throw damagedBlock(host, `it has ${block.count} URLs, its record says ${stored}`)
    return block.entries(from)
  }
}
