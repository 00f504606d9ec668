// One end of the way to another agent: messages arrive whole and in order, or the wire is broken for good.
//
// Messages said in one turn of the event loop cross together: a crossing costs some ten microseconds, whatever it carries. Small ones
// that follow each other cross as one text, which takes a third of the time that the platform takes to copy them as objects.

import type { MessagePort } from 'node:worker_threads'
import type { PeerMessage } from './peer-message.ts'

export interface Wire {
  send(message: PeerMessage): void
  /** Hears everything from now on. Set once. */
  listen(hear: (message: PeerMessage) => void): void
  close(): void
}

/** What crosses: messages as they are, and texts of several. */
type Crossing = readonly (PeerMessage | string)[]

export class PortWire implements Wire {
  readonly #port: MessagePort
  #said: PeerMessage[] = []
  #isClosed = false

  constructor(port: MessagePort) {
    this.#port = port
  }

  send(message: PeerMessage): void {
    if (this.#isClosed) return
    this.#said.push(message)
    if (this.#said.length === 1) setImmediate(() => this.#cross())
  }

  #cross(): void {
    const said = this.#said
    this.#said = []
    if (!this.#isClosed) this.#port.postMessage(crossing(said))
  }

  listen(hear: (message: PeerMessage) => void): void {
    this.#port.on('message', (crossed: Crossing) => {
      for (const one of crossed) {
        if (typeof one === 'string') for (const message of JSON.parse(one) as PeerMessage[]) hear(message)
        else hear(one)
      }
    })
  }

  close(): void {
    this.#isClosed = true
    this.#port.close()
  }
}

/** In the order in which they were said. */
function crossing(said: readonly PeerMessage[]): Crossing {
  const crossed: (PeerMessage | string)[] = []
  let small: PeerMessage[] = []
  const flush = (): void => {
    if (small.length > 0) crossed.push(JSON.stringify(small))
    small = []
  }
  for (const message of said) {
    if (IS_SMALL[message.kind]) small.push(message)
    else {
      flush()
      crossed.push(message)
    }
  }
  flush()
  return crossed
}

/** Not what carries bytes, which no text can, and not texts that would be quoted once more. */
const IS_SMALL = {
  hello: true,
  parcel: false,
  confirmed: true,
  claim: true,
  claimed: true,
  probe: true,
  probed: true,
  release: true,
  errand: true,
  'errand-done': false,
  'turn-want': true,
  'turn-given': true,
  'turn-later': true,
  'turn-back': true,
  'lend-wanted': true,
  'lend-offer': true,
  'lend-turn': true,
  'lend-done': false,
} as const satisfies Record<PeerMessage['kind'], boolean>
