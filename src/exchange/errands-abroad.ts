// A robots.txt that redirects to a host of another agent is fetched there, in that host's turn, and comes back as plain data.

import type { CanonicalUrl } from '../url/index.ts'
import type { ErrandAnswer, PeerMessage } from './peer-message.ts'

interface Asked {
  readonly agent: number
  readonly url: CanonicalUrl
  readonly resolve: (answer: ErrandAnswer) => void
}

export class ErrandsAbroad {
  readonly #send: (agent: number, message: PeerMessage) => void
  readonly #asked = new Map<number, Asked>()
  #lastId = 0

  constructor(send: (agent: number, message: PeerMessage) => void) {
    this.#send = send
  }

  ask(agent: number, url: CanonicalUrl): Promise<ErrandAnswer> {
    const id = ++this.#lastId
    return new Promise((resolve) => {
      this.#asked.set(id, { agent, url, resolve })
      this.#send(agent, { kind: 'errand', id, url })
    })
  }

  answered(id: number, answer: ErrandAnswer): void {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    asked?.resolve(answer)
  }

  /** Errands that have not come back. */
  get asking(): number {
    return this.#asked.size
  }

  /** The other end of a wire is new, and knows of no errand. */
  reconnected(agent: number): void {
    for (const [id, asked] of this.#asked) {
      if (asked.agent === agent) this.#send(agent, { kind: 'errand', id, url: asked.url })
    }
  }
}
