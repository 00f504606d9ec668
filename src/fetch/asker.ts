import type { AnswerListener } from './answer-reader.ts'
import type { ConnectError } from './connector.ts'

/** A request under way, told of what happens to it. */
export interface Asker extends AnswerListener {
  /** What goes over the wire. */
  readonly requestText: string
  /** A HEAD: no body follows. */
  readonly isHead: boolean
  onConnecting(): void
  /** In the moment before the request is written. False: it must not be, and is over. */
  onSent(): boolean
  /** Bytes have come; what they are follows. */
  onBytes(): void
  onConnectError(error: ConnectError): void
  /** The connection broke, or we did. */
  onError(error: Error): void
}
