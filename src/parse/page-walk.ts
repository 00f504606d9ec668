// The walk over a page that a kernel does (kernel/parse): from one tag that matters to the next, with the place of its name and of its
// attributes. Nothing here is a string, and nothing is allocated for what is crossed.
//
// There is one kernel in a thread and one walk at a time, over a copy of the page in the kernel's memory. Only while it lasts are the
// places of the last tag to be had.

import { KERNEL_PAGE_BYTES, type KernelExports, kernelMaker } from '../base/index.ts'
import { ATTRIBUTE, type AttributeId, NEEDED, PLAIN_LINKS, TAG } from './html-names.ts'
import { KERNEL_BASE64 } from './kernel-module.ts'
import type { PageBuilder } from './page-builder.ts'
import type { Sketch } from './text-sketch.ts'

/** As a constant of the kernel comes. */
interface Constant {
  readonly value: number
}

interface ParseKernel extends KernelExports {
  readonly pageAt: Constant
  readonly stopAt: Constant
  readonly valuesAt: Constant
  readonly linksAt: Constant
  readonly linksMax: Constant
  readonly sketchAt: Constant
  readonly needsAt: Constant
  readonly linkAttributesAt: Constant
  learn(table: number, length: number, id: number): number
  room(length: number): number
  begin(length: number): void
  next(how: number): number
  crossRawText(tag: number): number
  crossAll(): void
  sketch(): number
}

/** How to walk, as bits: stopping at every tag; at comments and declarations too; where CDATA sections count; keeping plain links; where no text counts. */
export const WALK = { every: 1, others: 2, cdata: 4, keep: 8, inert: 16 } as const

/** What was walked to: the id of an element, and these bits; or the end of the page. */
export const FOUND = { element: 63, endTag: 64, selfClosing: 128, noTag: 256, pageEnd: -1 } as const

/** A kernel has room for pages of this size, and grows for larger ones; a grown one is let go when the next page is not larger. */
const ROOM_BYTES = 2 * 2 ** 20

/** No more is looked at of a page: places and the kernel's memory are numbers of 32 bits. */
const PAGE_BYTES_MAX = 2 ** 30

const makeKernel = kernelMaker(KERNEL_BASE64) as () => ParseKernel

let theWalk: PageWalk | null = null

/** The one of this thread, begun anew with a page. */
export function walkOver(page: Uint8Array): PageWalk {
  theWalk ??= new PageWalk()
  theWalk.begin(page)
  return theWalk
}

export class PageWalk {
  #kernel: ParseKernel
  /** Bytes of the largest page that there is room for. */
  #room = 0
  /** Views of the kernel's memory: see kernel/parse/memory.ts. */
  #page = new Uint8Array(0)
  #stop = new Int32Array(0)
  #values = new Int32Array(0)
  #links = new Int32Array(0)
  #sketch = new Int32Array(0)

  constructor() {
    this.#kernel = taughtKernel()
    this.#makeRoom(ROOM_BYTES)
  }

  /** Begins with a page. */
  begin(page: Uint8Array): void {
    const bytes = page.length > PAGE_BYTES_MAX ? page.subarray(0, PAGE_BYTES_MAX) : page
    if (bytes.length > this.#room) this.#makeRoom(bytes.length)
    else if (this.#room > ROOM_BYTES && bytes.length <= ROOM_BYTES) {
      this.#kernel = taughtKernel()
      this.#makeRoom(ROOM_BYTES)
    }
    this.#page.set(bytes)
    this.#kernel.begin(bytes.length)
  }

  #makeRoom(bytes: number): void {
    const { memory, pageAt, stopAt, valuesAt, linksAt, linksMax, sketchAt } = this.#kernel
    const missing = pageAt.value + this.#kernel.room(bytes) - memory.buffer.byteLength
    if (missing > 0) memory.grow(Math.ceil(missing / KERNEL_PAGE_BYTES))
    this.#room = bytes
    const { buffer } = memory
    this.#page = new Uint8Array(buffer, pageAt.value, bytes)
    this.#stop = new Int32Array(buffer, stopAt.value, 6)
    this.#values = new Int32Array(buffer, valuesAt.value, 64)
    this.#links = new Int32Array(buffer, linksAt.value, 3 * linksMax.value)
    this.#sketch = new Int32Array(buffer, sketchAt.value, 4)
  }

  /** To the next tag that matters: FOUND says what it may be. */
  next(how: number): number {
    return this.#kernel.next(how)
  }

  /** Crosses the raw text of the element just found; answers where its end tag stands. */
  crossRawText(tag: number): number {
    return this.#kernel.crossRawText(tag)
  }

  /** Crosses all that is left. */
  crossAll(): void {
    this.#kernel.crossAll()
  }

  /** Where what was found starts; at the end of the page, where its text ends. */
  get start(): number {
    return this.#stop[0] as number
  }

  get nameStart(): number {
    return this.#stop[1] as number
  }

  get nameEnd(): number {
    return this.#stop[2] as number
  }

  get end(): number {
    return this.#stop[3] as number
  }

  has(attribute: AttributeId): boolean {
    return (((this.#stop[4] as number) >> attribute) & 1) === 1
  }

  valueStart(attribute: AttributeId): number {
    return this.#values[2 * attribute] as number
  }

  valueEnd(attribute: AttributeId): number {
    return this.#values[2 * attribute + 1] as number
  }

  /** Gives a page the links kept on the way: those of PLAIN_LINKS that need no more looking at. */
  takeLinks(page: PageBuilder): void {
    const count = this.#stop[5] as number
    if (count === 0) return
    page.linksAt(this.#links, count)
    this.#stop[5] = 0
  }

  /** The sketch of all text that was crossed; null where there was no word. */
  sketch(): Sketch | null {
    const votes = this.#kernel.sketch()
    if (votes === 0) return null
    const sketch = this.#sketch
    return { high: sketch[3] as number, low: sketch[2] as number, votes, sum: sketch[0] as number }
  }
}

/** A kernel that knows our names, and what they need. */
function taughtKernel(): ParseKernel {
  const kernel = makeKernel()
  const { buffer } = kernel.memory
  const page = new Uint8Array(buffer, kernel.pageAt.value)
  for (const [table, names] of [TAG, ATTRIBUTE].entries()) {
    for (const [name, id] of Object.entries(names)) {
      page.set(Buffer.from(name, 'latin1'))
      if (id !== 0 && kernel.learn(table, name.length, id) !== 1) throw new RangeError(`${name} shares a cell`)
    }
  }
  const needs = new Int32Array(buffer, kernel.needsAt.value, 64)
  for (const [tag, attributes] of Object.entries(NEEDED)) {
    needs[TAG[tag as keyof typeof TAG]] = attributes.reduce((bits, name) => bits | (1 << ATTRIBUTE[name]), 0)
  }
  const linkAttributes = new Uint8Array(buffer, kernel.linkAttributesAt.value, 64)
  for (const [tag, [attribute]] of Object.entries(PLAIN_LINKS)) {
    linkAttributes[TAG[tag as keyof typeof TAG]] = ATTRIBUTE[attribute]
  }
  return kernel
}
