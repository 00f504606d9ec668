// Answers that come in one turn of the event loop become pages together, step by step:
//
//   read A, read B, read C │ parse A B C ▸ digest A B C ▸ links A B C ▸ books A B C ▸ next requests A B C │ read …
//
// One by one, every step of every page found the caches of the processor full of other steps, and every request woke its server
// before the next page was read (docs/decisions/0053-pages-in-step.md).
//
// Always true: who gathers goes on within a turn of the loop; nobody waits for anybody in particular. One that has to wait for
// something else, such as a disk, falls out of step and goes on by itself.

/** Enough to share what a step loads, few enough that their bodies stay in the cache and that servers get the next requests soon. */
const TOGETHER_MAX = 32

/** To await between two steps: all that were gathered with us come as far first, in the same turn of the loop. */
export const IN_STEP: Promise<void> = Promise.resolve()

export class Convoy {
  #gathering: (() => void)[] | null = null

  /** Resolves when all that has come is read, together with what was gathered meanwhile. */
  gather(): Promise<void> {
    return new Promise(this.#join)
  }

  /** Resolves when all that has come is read, and requests that were made meanwhile are written. */
  alone(): Promise<void> {
    return new Promise((goOn) => setImmediate(goOn))
  }

  readonly #join = (goOn: () => void): void => {
    if (this.#gathering === null || this.#gathering.length === TOGETHER_MAX) {
      this.#gathering = []
      setImmediate(this.#leave, this.#gathering)
    }
    this.#gathering.push(goOn)
  }

  readonly #leave = (gathered: readonly (() => void)[]): void => {
    if (this.#gathering === gathered) this.#gathering = null
    for (const goOn of gathered) goOn()
  }
}
