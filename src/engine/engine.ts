// What the machines of a crawl share: a few kinds of memory and a way to talk, kept by an engine beside them (NATS JetStream).
//
//   records   written once, never changed: who won is who was first
//   logs      one line of entries each; an entry is added only by whoever knows the last one
//   beats     signs of life, the last one of each name
//   objects   immutable bytes of any size
//   messages  fast, to whoever listens; may be lost, and say nothing when they are
//   calls     a question to one by name, or to all of a kind, and the answers
//
// Only these are leant on, because only these were found not to race (docs/decisions/0036, test/engine): creating what is not there,
// and adding to a log at a stated place. Nothing is updated, nothing expires, no leader is asked for.
//
// Laws
//   - create(): of any number of callers, ever, exactly one hears 'created' for a name; a caller whose answer was lost may hear
//     'exists' of its own record, so what it creates must say whose it is.
//   - append(at): an entry stands at at+1 only if the last entry was at. Two can never both be told 'appended' for one place.
//   - What was acknowledged is there for everybody who asks afterwards (no stale reads). It survives the loss of a server
//     where there are three; with one server, what it had not written to disk may be gone after a crash of the machine.
//   - Everything fails with ENGINE_UNREACHABLE within its time when the engine does not answer; nothing waits for ever.
//     A write that failed so may have happened, and may still happen later: only a later answer of the engine can tell.

/** Ends what was begun: a watch, a subscription, a service. Harmless twice. */
export type Stop = () => void

export interface EngineRecord {
  /** Parts of letters, digits, `-` and `_`, joined by dots. */
  readonly name: string
  readonly value: Uint8Array
}

export interface Records {
  create(name: string, value: Uint8Array): Promise<'created' | 'exists'>
  get(name: string): Promise<Uint8Array | null>
  /** All whose names begin with these parts (`view` finds `view.1`, not `viewer.1`), in the order of their creation. */
  list(prefix: string): Promise<readonly EngineRecord[]>
  /**
   * Those that are there and each that is created from now on, in order, once. Goes on by itself after the engine was away:
   * what was created meanwhile is told then. Resolves when those that are there have been told.
   */
  watch(prefix: string, hear: (record: EngineRecord) => void): Promise<Stop>
}

export type Appended =
  | { readonly kind: 'appended'; readonly at: number }
  /** Somebody else was there before: the last entry is at another place. */
  | { readonly kind: 'refused'; readonly last: number }

export interface LogEntry {
  /** From 1, without gaps. */
  readonly at: number
  readonly bytes: Uint8Array
}

/** A line of entries. An entry has at most ENTRY_BYTES_MAX bytes. */
export interface EngineLog {
  /**
   * Adds an entry after the one at `after` (0: the first). An answer that was lost is settled before this returns, by reading
   * the tail: 'refused' means that this entry is not there.
   */
  append(bytes: Uint8Array, after: number): Promise<Appended>
  /** The place of the last entry, 0 where there is none. */
  last(): Promise<number>
  /** The first entry that is still there; last() + 1 where there is none. */
  first(): Promise<number>
  /** The entries after this place, up to what is the last one when it is called. Refused (LOG_TRIMMED) where they begin later. */
  read(after: number): AsyncIterable<LogEntry>
  /** Entries up to this place are not needed any more. The last entry always stays. */
  trim(upTo: number): Promise<void>
}

/** With room for headers below the engine's usual limit of 1 MiB. */
export const ENTRY_BYTES_MAX = 512 * 1024

export interface Objects {
  /** Whole or not at all. What has this name already is left as it is: objects never change. */
  put(name: string, bytes: AsyncIterable<Uint8Array> | Uint8Array): Promise<void>
  /** In pieces; checked against the digest it was put with. Fails with OBJECT_MISSING. */
  get(name: string): AsyncIterable<Uint8Array>
  has(name: string): Promise<boolean>
  delete(name: string): Promise<void>
  /** Names that begin with these characters. */
  list(prefix: string): Promise<readonly string[]>
}

/** What a service says of itself to whoever looks for it. */
export interface ServiceInfo {
  /** The kind of service: `node`. */
  readonly kind: string
  /** Which one: the node's name. */
  readonly name: string
  readonly version: string
}

export interface Engine {
  readonly records: Records
  readonly objects: Objects
  /** Opened, or made. One object a name. */
  log(name: string): Promise<EngineLog>
  /** A sign of life; resolves when the engine has acknowledged it, rejects when it has not in `withinMs`. */
  beat(name: string, value: Uint8Array, withinMs: number): Promise<void>
  /** The last sign of this name that was stored when it is asked for, never an older one; null where there is none. */
  lastBeat(name: string): Promise<Uint8Array | null>
  /** The last sign of each name (`isPast`: it was there before), then every new one. After the engine was away: those missed, the last of each name. Resolves when the past has been told. */
  watchBeats(hear: (name: string, value: Uint8Array, isPast: boolean) => void): Promise<Stop>
  /** Never fails, may be lost. At most ENTRY_BYTES_MAX bytes. Subjects are parts joined by dots. */
  publish(subject: string, bytes: Uint8Array): void
  /** `*` stands for one part, `>` for all that follow. In the order of each sender. */
  subscribe(subject: string, hear: (bytes: Uint8Array, subject: string) => void): Stop
  /** Answers questions. What the handler throws reaches the asker as CALL_FAILED with its message. */
  serve(info: ServiceInfo, handler: (question: Uint8Array) => Promise<Uint8Array>): Promise<Stop>
  /** Fails with CALL_UNANSWERED when nobody serves it or the answer does not come in time. */
  call(kind: string, name: string, question: Uint8Array, withinMs: number): Promise<Uint8Array>
  /** All services of a kind that answer in time. */
  discover(kind: string, withinMs: number): Promise<readonly ServiceInfo[]>
  /** Told when the connection is lost and when it is there again. */
  onConnection(listener: (isConnected: boolean) => void): Stop
  readonly isConnected: boolean
  /** What is under way is finished if that is quick. */
  close(): Promise<void>
}
