import type { AnswerListener } from './answer-reader.ts'
import type { ConnectError } from './connector.ts'
import type { Timed } from './deadline-sweep.ts'

/** A request under way, told of what happens to it. */
export interface Asker extends AnswerListener, Timed {
  /** What goes over the wire. */
  readonly requestText: string
  /** Who may call it off. */
  readonly signal: AbortSignal
  /** A HEAD: no body follows. */
  readonly isHead: boolean
  abort(): void
  onConnecting(): void
  /** In the moment before the request is written. False: it must not be, and is over. */
  onSent(): boolean
  /** Bytes have come; what they are follows. */
  onBytes(): void
  onConnectError(error: ConnectError): void
  /** The connection broke, or we did. */
  onError(error: Error): void
}
