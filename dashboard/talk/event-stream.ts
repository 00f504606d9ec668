// Server-sent events out of a stream of bytes: EventSource cannot send a header, and the token must not stand in an address.
// Pure: text in, messages out, whatever the cuts between the chunks.

export interface Message {
  readonly event: string
  readonly data: string
}

/** A message that never ends would fill memory: what is longer is dropped. */
const MESSAGE_MAX = 4_000_000

export class EventStreamReader {
  #rest = ''
  #event = ''
  #data: string[] = []
  #size = 0

  /** The messages that are whole now. */
  take(chunk: string): Message[] {
    const found: Message[] = []
    const text = this.#rest + chunk
    let from = 0
    for (;;) {
      const end = text.indexOf('\n', from)
      if (end < 0) break
      const line = text.slice(from, text.charAt(end - 1) === '\r' && end > from ? end - 1 : end)
      from = end + 1
      const message = this.#line(line)
      if (message !== null) found.push(message)
    }
    this.#rest = text.slice(from)
    if (this.#rest.length > MESSAGE_MAX) this.#rest = ''
    return found
  }

  #line(line: string): Message | null {
    if (line === '') {
      const message = this.#data.length === 0 ? null : { event: this.#event || 'message', data: this.#data.join('\n') }
      this.#event = ''
      this.#data = []
      this.#size = 0
      return message
    }
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'event') this.#event = value
    if (name === 'data' && (this.#size += value.length) <= MESSAGE_MAX) this.#data.push(value)
    return null
  }
}
