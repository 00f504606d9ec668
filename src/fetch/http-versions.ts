// Which HTTP a host is spoken to in: what is offered in TLS, and what a host has taught.
//
//   off       http/1.1
//   needed    http/1.1; where the server will have none of it, h2 over a second connection of the same turn
//   offered   h2, http/1.1: the server chooses
//
// Always true: at most NOTES_MAX hosts are remembered, those learnt last. Who is forgotten costs a handshake or a try more.

import type { FetchOptions } from './options.ts'

/** Hosts that want what we would not have begun with are few. */
const NOTES_MAX = 4_096

/** 'http/1.1-first': h2 if the server refuses that. */
export type Offer = 'http/1.1' | 'http/1.1-first' | 'h2-too'

const OFFERED_BY: Readonly<Record<FetchOptions['http2'], Offer>> = {
  off: 'http/1.1',
  needed: 'http/1.1-first',
  offered: 'h2-too',
}

export class HttpVersions {
  readonly #usual: Offer
  readonly #notes = new Map<string, Offer>()

  constructor(mode: FetchOptions['http2']) {
    this.#usual = OFFERED_BY[mode]
  }

  get noteCount(): number {
    return this.#notes.size
  }

  offerTo(origin: string): Offer {
    return this.#notes.size === 0 ? this.#usual : (this.#notes.get(origin) ?? this.#usual)
  }

  /** It speaks HTTP/2: of those that are asked for HTTP/1.1 first it is one that refuses that. */
  takesHttp2(origin: string): void {
    if (this.#usual === 'http/1.1-first') this.#note(origin, 'h2-too')
  }

  /** It answered HTTP/2 by asking for HTTP/1.1. */
  wantsHttp1(origin: string): void {
    this.#note(origin, 'http/1.1')
  }

  #note(origin: string, offer: Offer): void {
    this.#notes.delete(origin)
    this.#notes.set(origin, offer)
    if (this.#notes.size <= NOTES_MAX) return
    for (const oldest of this.#notes.keys()) {
      this.#notes.delete(oldest)
      return
    }
  }
}
