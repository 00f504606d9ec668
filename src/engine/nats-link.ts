// The connection to NATS, and how anything is asked over it: again and again until it is answered, refused, or out of time.
//
// Whoever asks must say the same thing each time: a question may be heard twice, or after its asker has given up.
// Nothing is sent while the connection is down. What the client library would keep to send later is not wanted: by then
// somebody else may own what it is about.

import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import { jetstream, JetStreamApiError, jetstreamManager } from '@nats-io/jetstream'
import { errors, type NatsConnection } from '@nats-io/transport-node'
import { type ClockMs, Fault, systemClock } from '../base/index.ts'
import type { Stop } from './engine.ts'

/** How long one try may take; a server that lost its leader answers nothing for up to 8 s. */
const TRY_MS = 2_000
const PAUSE_MS_LEAST = 20
const PAUSE_MS_MOST = 250
/** How long goodbye may take. */
const CLOSE_MS = 2_000

/** Codes of JetStream: something is used up. */
const FULL_CODES = new Set([10_002, 10_023, 10_026, 10_027, 10_028, 10_047])
const STORE_FAILED = 10_077
export const WRONG_LAST_SEQUENCE = 10_071
export const STREAM_NOT_FOUND = 10_059

/** Thrown by a try that came too early: it is made again. */
export class TryAgain extends Error {}

export class NatsLink {
  readonly connection: NatsConnection
  readonly jetStream: JetStreamClient
  readonly manager: JetStreamManager
  readonly operationMs: number
  readonly #listeners = new Set<(isConnected: boolean) => void>()
  #isConnected = true
  #isClosed = false

  private constructor(connection: NatsConnection, manager: JetStreamManager, operationMs: number) {
    this.connection = connection
    this.jetStream = jetstream(connection, { timeout: TRY_MS })
    this.manager = manager
    this.operationMs = operationMs
    void this.#follow()
    void connection.closed().then(() => {
      this.#isClosed = true
      this.#setConnected(false)
    })
  }

  static async over(connection: NatsConnection, operationMs: number): Promise<NatsLink> {
    const manager = await jetstreamManager(connection, { timeout: TRY_MS, checkAPI: false })
    return new NatsLink(connection, manager, operationMs)
  }

  get isConnected(): boolean {
    return this.#isConnected
  }

  onConnection(listener: (isConnected: boolean) => void): Stop {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Tries until it is answered. Fails with ENGINE_UNREACHABLE in its time, or with what the engine refused it for. */
  async ask<T>(what: string, attempt: () => Promise<T>, withinMs = this.operationMs): Promise<T> {
    const endMs = systemClock.nowMs() + withinMs
    let pauseMs = PAUSE_MS_LEAST
    let reason: unknown
    for (;;) {
      const leftMs = endMs - systemClock.nowMs()
      if (this.#isClosed)
        throw new Fault('ENGINE_UNREACHABLE', `${what}: the connection to the engine was closed`, reason)
      if (leftMs <= 0) {
        const why = reason instanceof Error ? ` (${reason.message})` : ''
        throw new Fault('ENGINE_UNREACHABLE', `${what}: the engine did not answer within ${withinMs} ms${why}`, reason)
      }
      try {
        return await this.#try(attempt, leftMs)
      } catch (error) {
        if (!isPassing(error)) throw faultOf(what, error)
        reason = error
      }
      await this.#pause(Math.min(pauseMs, leftMs))
      pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MOST)
    }
  }

  /** Says goodbye: what was handed over for sending is sent, if that is quick. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    if (this.#isConnected) {
      await new Promise<void>((resolve) => {
        const cancel = systemClock.callAt((systemClock.nowMs() + CLOSE_MS) as ClockMs, resolve)
        const end = (): void => {
          cancel()
          resolve()
        }
        this.connection.drain().then(end, end)
      })
    }
    await this.connection.close()
    this.#isClosed = true
  }

  /** One try; over at once when the connection is lost, since its answer is lost with it. */
  async #try<T>(attempt: () => Promise<T>, leftMs: number): Promise<T> {
    if (!this.#isConnected) {
      await this.#change(true, leftMs)
      if (!this.#isConnected) throw new TryAgain('not connected')
    }
    const answer = attempt()
    // It goes on when nobody waits for it any more.
    answer.catch(() => undefined)
    let stop = (): void => undefined
    const lost = new Promise<never>((_resolve, reject) => {
      const cancel = systemClock.callAt((systemClock.nowMs() + Math.min(TRY_MS, leftMs)) as ClockMs, () =>
        reject(new TryAgain('no answer')),
      )
      const forget = this.onConnection((isConnected) => {
        if (!isConnected) reject(new TryAgain('the connection was lost'))
      })
      stop = () => {
        cancel()
        forget()
      }
    })
    try {
      return await Promise.race([answer, lost])
    } finally {
      stop()
    }
  }

  /** Until the connection is up (or down), or this time has passed. */
  async #change(isConnected: boolean, withinMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = systemClock.callAt((systemClock.nowMs() + withinMs) as ClockMs, end)
      const forget = this.onConnection((now) => {
        if (now === isConnected || this.#isClosed) end()
      })
      function end(): void {
        cancel()
        forget()
        resolve()
      }
    })
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => void systemClock.callAt((systemClock.nowMs() + ms) as ClockMs, resolve))
  }

  async #follow(): Promise<void> {
    for await (const status of this.connection.status()) {
      if (status.type === 'disconnect' || status.type === 'staleConnection') this.#setConnected(false)
      if (status.type === 'reconnect') this.#setConnected(true)
    }
  }

  #setConnected(isConnected: boolean): void {
    // Also where nothing changed but all is over: who waits for the connection must hear it.
    if (this.#isConnected === isConnected && !this.#isClosed) return
    this.#isConnected = isConnected
    for (const listener of [...this.#listeners]) listener(isConnected)
  }
}

/** The code of JetStream's refusal, 0 where it is none. */
export function codeOf(error: unknown): number {
  return error instanceof JetStreamApiError ? error.code : 0
}

function isFull(error: JetStreamApiError): boolean {
  return FULL_CODES.has(error.code) || (error.code === STORE_FAILED && /maximum|exceed/.test(error.message))
}

/** Whether it may be otherwise in a moment: no answer, no leader, a server that is just starting. */
function isPassing(error: unknown): boolean {
  if (error instanceof Fault) return false
  if (error instanceof JetStreamApiError) return error.status === 503 && !isFull(error)
  if (forbiddenBy(error) !== null || error instanceof errors.AuthorizationError) return false
  if (error instanceof errors.InvalidArgumentError || error instanceof errors.InvalidSubjectError) return false
  // A request that nobody takes: a stream without leader looks so, and one that is gone; whoever asks for its state hears which.
  return true
}

/** What a user of NATS may not do; a request wraps it. */
function forbiddenBy(error: unknown): InstanceType<typeof errors.PermissionViolationError> | null {
  const reason = error instanceof errors.RequestError ? error.cause : error
  return reason instanceof errors.PermissionViolationError ? reason : null
}

function faultOf(what: string, error: unknown): Fault {
  if (error instanceof Fault) return error
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof JetStreamApiError && isFull(error)) {
    return new Fault(
      'ENGINE_FULL',
      `${what}: the engine has no room: ${message}; give its account or its disk more`,
      error,
    )
  }
  if (codeOf(error) === STREAM_NOT_FOUND) {
    return new Fault(
      'ENGINE_UNFIT',
      `${what}: it is gone from the engine; somebody deleted it, or the engine lost its disk`,
      error,
    )
  }
  const forbidden = forbiddenBy(error)
  if (forbidden !== null) {
    return new Fault(
      'ENGINE_UNFIT',
      `${what}: the engine does not allow this user to ${forbidden.operation} ${forbidden.subject}; see docs/cluster.md for what must be allowed`,
      error,
    )
  }
  return new Fault('ENGINE_UNFIT', `${what}: the engine refused it: ${message}`, error)
}
