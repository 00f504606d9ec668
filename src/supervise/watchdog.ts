// Does an agent still live? Its event loop moves a counter; one that stands still for long enough is hung.
//
// Counted in looks of the watcher and not by the clock: a machine that was suspended, or too busy to let anybody run,
// has stopped the watcher as well.

/** Looks at a counter that stood still before its agent counts as hung. */
export const LOOKS_MAX = 30

export class Watchdog {
  readonly #beats: Int32Array
  readonly #seen: number[]
  readonly #still: number[]

  constructor(heartbeats: SharedArrayBuffer) {
    this.#beats = new Int32Array(heartbeats)
    this.#seen = Array.from(this.#beats)
    this.#still = this.#seen.map(() => 0)
  }

  /** One look at all of them: those that are hung. */
  look(): readonly number[] {
    const hung: number[] = []
    for (const [agent, seen] of this.#seen.entries()) {
      const beat = Atomics.load(this.#beats, agent)
      if (beat !== seen) {
        this.begun(agent)
        continue
      }
      const still = (this.#still[agent] as number) + 1
      this.#still[agent] = still
      if (still >= LOOKS_MAX) hung.push(agent)
    }
    return hung
  }

  /** The agent has begun, or has moved: it has its full time again. */
  begun(agent: number): void {
    this.#seen[agent] = Atomics.load(this.#beats, agent)
    this.#still[agent] = 0
  }
}
