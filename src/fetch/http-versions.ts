// Which HTTP a host is spoken to in: what is offered in TLS, and what a host has taught.
//
//   off       http/1.1
//   needed    http/1.1; where the server will have none of it, h2 over a second connection of the same turn
//   offered   h2, http/1.1: the server chooses
//
// What speaks HTTP/2 is loaded with the first request of a crawl that may need it: who does not ask for it does not pay for it.
// Always true: at most NOTES_MAX hosts are remembered, those learnt last. Who is forgotten costs a handshake or a try more.

import type { TLSSocket } from 'node:tls'
import { assert } from '../base/index.ts'
import type { Offer } from './connector.ts'
import type { Http2Session, Http2SessionSettings } from './http2-session.ts'
import type { FetchOptions } from './options.ts'

/** Hosts that want what we would not have begun with are few. */
const NOTES_MAX = 4_096

const OFFERED_BY: Readonly<Record<FetchOptions['http2'], Offer>> = {
  off: 'http/1.1',
  needed: 'http/1.1-first',
  offered: 'h2-too',
}

export class HttpVersions {
  readonly #usual: Offer
  readonly #notes = new Map<string, Offer>()
  #loading: Promise<void> | null = null
  #Session: typeof Http2Session | null = null

  constructor(mode: FetchOptions['http2']) {
    this.#usual = OFFERED_BY[mode]
  }

  /** Null when everything that may be needed is there. */
  load(): Promise<void> | null {
    if (this.#usual === 'http/1.1' || this.#Session !== null) return null
    this.#loading ??= import('./http2-session.ts').then((module) => {
      this.#Session = module.Http2Session
    })
    return this.#loading
  }

  speakHttp2(socket: TLSSocket, origin: string, settings: Http2SessionSettings): Http2Session {
    assert(this.#Session !== null, 'HTTP/2 was agreed on, and is not loaded')
    // Of those that are asked for HTTP/1.1 first it is one that refuses that.
    if (this.#usual === 'http/1.1-first') this.#note(origin, 'h2-too')
    return new this.#Session(socket, origin, settings)
  }

  get noteCount(): number {
    return this.#notes.size
  }

  offerTo(origin: string): Offer {
    return this.#notes.size === 0 ? this.#usual : (this.#notes.get(origin) ?? this.#usual)
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
