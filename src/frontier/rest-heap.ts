// What rests, ordered by when it may be asked again: a binary heap whose members know their place,
// so that one can leave from the middle (a host given up while it rests) in O(log n).
//
// hot: times stand in a typed array beside the members, because a comparison through the member
// would follow two pointers (object, boxed double) for each of the ~log₂ n steps.

import { assert } from '../base/index.ts'

/** Anything that can rest in one heap at a time. */
export interface Resting {
  /** Its place in the heap, written by the heap alone; -1 while it is in none. */
  heapIndex: number
}

const FIRST_CAPACITY = 16

export class RestHeap<T extends Resting> {
  readonly #members: T[] = []
  #times = new Float64Array(FIRST_CAPACITY)

  get size(): number {
    return this.#members.length
  }

  /** When the first rest ends; Infinity when nothing rests. */
  get firstMs(): number {
    return this.#members.length === 0 ? Infinity : (this.#times[0] as number)
  }

  /** When a member's rest ends. */
  timeOf(member: T): number {
    return this.#times[member.heapIndex] as number
  }

  push(member: T, untilMs: number): void {
    const index = this.#members.length
    if (index === this.#times.length) {
      const wider = new Float64Array(index * 2)
      wider.set(this.#times)
      this.#times = wider
    }
    this.#members.push(member)
    this.#rise(index, member, untilMs)
  }

  /** Takes out the member whose rest ends first. Only when size > 0. */
  pop(): T {
    const first = this.#members[0] as T
    this.remove(first)
    return first
  }

  remove(member: T): void {
    const index = member.heapIndex
    const last = this.#members.pop() as T
    const lastMs = this.#times[this.#members.length] as number
    member.heapIndex = -1
    if (last !== member) this.#settle(index, last, lastMs)
  }

  /** Gives a member that is inside another time. */
  move(member: T, untilMs: number): void {
    this.#settle(member.heapIndex, member, untilMs)
  }

  /** Checks the order and every member's knowledge of its place. */
  assertSound(): void {
    this.#members.forEach((member, index) => {
      assert(member.heapIndex === index, `a member at ${index} of the heap believes to be at ${member.heapIndex}`)
      const parentMs = this.#times[(index - 1) >> 1] ?? -Infinity
      assert(index === 0 || parentMs <= (this.#times[index] as number), `the heap is out of order at ${index}`)
    })
  }

  #settle(index: number, member: T, untilMs: number): void {
    if (index > 0 && untilMs < (this.#times[(index - 1) >> 1] as number)) this.#rise(index, member, untilMs)
    else this.#sink(index, member, untilMs)
  }

  #rise(from: number, member: T, untilMs: number): void {
    const members = this.#members
    const times = this.#times
    let index = from
    while (index > 0) {
      const parent = (index - 1) >> 1
      if ((times[parent] as number) <= untilMs) break
      this.#put(index, members[parent] as T, times[parent] as number)
      index = parent
    }
    this.#put(index, member, untilMs)
  }

  #sink(from: number, member: T, untilMs: number): void {
    const members = this.#members
    const times = this.#times
    const size = members.length
    let index = from
    for (;;) {
      let child = 2 * index + 1
      if (child >= size) break
      if (child + 1 < size && (times[child + 1] as number) < (times[child] as number)) child++
      if ((times[child] as number) >= untilMs) break
      this.#put(index, members[child] as T, times[child] as number)
      index = child
    }
    this.#put(index, member, untilMs)
  }

  #put(index: number, member: T, untilMs: number): void {
    this.#members[index] = member
    this.#times[index] = untilMs
    member.heapIndex = index
  }
}
