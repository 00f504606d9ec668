// What a checkpoint is to hold of one host, as host-capture.ts fixes it and checkpoint-writer.ts writes it.

import type { FrontierEntry } from './frontier.ts'
import type { HostFacts, Piece } from './host-record.ts'
import type { InlineBlock } from './inline-block.ts'
import type { Segment } from './segment.ts'

/** A segment that becomes a block; what it is as a block is known once it is encoded. */
export interface NewBlock {
  readonly segment: Segment
  block: number
  stored: number
  inline: InlineBlock | null
}

export interface CapturedLine {
  readonly band: number
  readonly front: Segment | null
  readonly parts: (Piece | NewBlock)[]
  readonly tail: Segment | null
}

export interface HostCapture {
  /** Of a record; null where arrivals are added to one. */
  readonly facts: Omit<HostFacts, 'page'> | null
  readonly unconcluded: readonly FrontierEntry[]
  readonly lines: readonly CapturedLine[]
  readonly spent: readonly { readonly band: number; readonly block: number }[]
}
