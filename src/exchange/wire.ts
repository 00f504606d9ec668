// One end of the way to another agent: messages arrive whole and in order, or the wire is broken for good.
//
// Messages said in one turn of the event loop cross together: a crossing costs some ten microseconds, whatever it carries.

import type { MessagePort } from 'node:worker_threads'
import type { PeerMessage } from './peer-message.ts'

export interface Wire {
  send(message: PeerMessage): void
  /** Hears everything from now on. Set once. */
  listen(hear: (message: PeerMessage) => void): void
  close(): void
}

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
    if (!this.#isClosed) this.#port.postMessage(said)
  }

  listen(hear: (message: PeerMessage) => void): void {
    this.#port.on('message', (said: readonly PeerMessage[]) => {
      for (const message of said) hear(message)
    })
  }

  close(): void {
    this.#isClosed = true
    this.#port.close()
  }
}
