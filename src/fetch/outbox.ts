// Requests that are ready to be written, kept until the event loop has dealt with all that came in the same round, and
// then written one after another.
//
// A request wakes whoever carries it, the network or a server on the same machine. Written by itself, between the
// work on two pages, it finds the other side asleep each time, and waking it is most of what writing costs; written
// together they wake it once (docs/decisions/0014).

/** So many wait at most: the first servers are to be at work while the answers of others are still read. */
const WAITING_MAX = 32

export interface Sender {
  /** Writes what it has to write, if that is still wanted. */
  send(): void
}

export class Outbox {
  #waiting: Sender[] = []

  /** It is told to send at the end of this round of the event loop, or earlier. */
  add(sender: Sender): void {
    const count = this.#waiting.push(sender)
    if (count === 1) setImmediate(this.#flush)
    else if (count >= WAITING_MAX) this.#flush()
  }

  readonly #flush = (): void => {
    const senders = this.#waiting
    this.#waiting = []
    for (const sender of senders) sender.send()
  }
}
