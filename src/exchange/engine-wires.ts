// Wires between agents on different machines, over messages of the engine, which may be lost and say nothing when they are.
//
//    agent of share 3                       engine                        agent of share 8
//    open (3a, nobody) ───────────── wires.CRAWL.8 ──────────────▶ joins 3a
//    joins 8a ◀───────────────────── wires.CRAWL.3 ─────────────── open (8a, 3a), then parts 1, 2 …
//    part 2 comes after 0: a gap. The wire 3a─8a is broken for good, at both ends as soon as the other hears
//    open (3b, nobody) ─────────────────────────────────────────▶ breaks, joins 3b as 8b …
//
// Laws
//   - What a wire delivers was said on it, in order and without gaps: each packet names both sessions and has a number. A gap,
//     another session, or a higher epoch of the other's share ends the wire for good; the next one is told to `onWire`.
//   - A part that was lost is noticed by the next one, and the last of all by `open`, which says how many there were: a second after
//     the last part, then ever more rarely.
//   - Who was the owner of a share is not heard once a later one was (epochs); who hears that it was followed itself falls silent.
//   - Nothing is queued for an engine that is away: all wires break. What must be heard is in outboxes and questions, and said again.
//   - Memory: what was said in one turn, and the parts of one bundle for each peer. A bundle is what was said together, BUNDLE_BYTES
//     of it, or one message that is longer.

import { randomBytes } from 'node:crypto'
import type { Clock, ClockMs } from '../base/index.ts'
import type { Engine } from '../engine/index.ts'
import type { PeerMessage } from './peer-message.ts'
import type { Wire } from './wire.ts'
import {
  isEarlier,
  isSameSession,
  nobodyOf,
  PACKET_HEAD_BYTES,
  type PacketHead,
  PACKETS,
  packMessages,
  packPacket,
  unpackMessages,
  unpackPacket,
  type WireSession,
} from './wire-packet.ts'

export interface EngineWiresOptions {
  readonly engine: Pick<Engine, 'publish' | 'subscribe' | 'onConnection' | 'isConnected'>
  /** The crawl's name, of which subjects are made: letters, digits, `-` and `_`. */
  readonly crawl: string
  readonly share: number
  readonly shares: number
  /** By which this agent owns its share. */
  readonly epoch: number
  readonly clock: Clock
  /** A new wire to the agent of a share, in place of any other; whoever is told listens before it returns. */
  readonly onWire: (share: number, wire: Wire) => void
  /** Up to 48 bits that no other agent has had; drawn where nothing is said. */
  readonly life?: number
}

/** Why wires ended. */
export interface WireBreaks {
  /** Something was lost. */
  gap: number
  /** The other end began anew. */
  renewed: number
  /** The engine was away. */
  away: number
  /** What came could not be read. */
  unreadable: number
}

export interface WireFigures {
  packets: number
  bytes: number
  readonly breaks: WireBreaks
  /** Packets of former owners and of wires that had ended. */
  old: number
  /** Packets that are none of ours. */
  strange: number
}

/** From one `open` to the next at first; twice as long each time while nothing happens. */
const OPEN_MS = 1_000
/** The longest pause between two; longer where there are many shares, so that all together say some thousands a second. */
const OPEN_PAUSE_MS_MAX = 10_000
const OPEN_PAUSE_MS_OF_SHARE = 150
/** Whoever speaks to a session that is gone is told so, and not more often than this. */
const ANSWER_PAUSE_MS = 100
/** What is packed together at most, unless one message is longer. */
const BUNDLE_BYTES = 2 ** 20
/** As much as the engine takes (ENTRY_BYTES_MAX); said here, so that a crawl on one machine need not load the engine. */
export const PACKET_BYTES_MAX = 512 * 1_024
const PART_BYTES = PACKET_BYTES_MAX - PACKET_HEAD_BYTES
/** What a message takes beside the texts in it, about. */
const MESSAGE_BYTES = 200
const NO_PART = new Uint8Array(0)

/** What is between this agent and another. */
class Line {
  readonly share: number
  attempt = 1
  /** The highest epoch of the other's share that was heard of. */
  epoch = 0
  /** The other end; null while there is no wire. */
  theirs: WireSession | null = null
  wire: EngineWire | null = null
  sent = 0
  heard = 0
  /** Of the bundle that is coming in. */
  parts: Uint8Array[] = []
  pauseMs = OPEN_MS
  openAtMs = 0
  answeredMs = -Infinity

  constructor(share: number) {
    this.share = share
  }
}

export class EngineWires {
  readonly figures: WireFigures = {
    packets: 0,
    bytes: 0,
    breaks: { gap: 0, renewed: 0, away: 0, unreadable: 0 },
    old: 0,
    strange: 0,
  }
  readonly #options: EngineWiresOptions
  readonly #life: number
  readonly #pauseMsMax: number
  /** By share; null for our own. */
  readonly #lines: readonly (Line | null)[]
  readonly #stops: (() => void)[]
  #stopTimer: () => void = () => {}
  #isClosed = false

  constructor(options: EngineWiresOptions) {
    const { engine, crawl, share, shares } = options
    this.#options = options
    this.#life = options.life ?? 1 + (randomBytes(6).readUIntBE(0, 6) % (2 ** 48 - 1))
    this.#pauseMsMax = Math.max(OPEN_PAUSE_MS_MAX, shares * OPEN_PAUSE_MS_OF_SHARE)
    this.#lines = Array.from({ length: shares }, (_, peer) => (peer === share ? null : new Line(peer)))
    this.#stops = [
      engine.subscribe(subjectOf(crawl, share), (bytes) => this.#hear(bytes)),
      engine.onConnection((isConnected) => this.#connection(isConnected)),
    ]
    this.#tick()
  }

  /** How many wires there are. */
  get joined(): number {
    return this.#lines.reduce((sum, line) => sum + (line?.theirs == null ? 0 : 1), 0)
  }

  /** Says and hears nothing any more. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const stop of this.#stops) stop()
    this.#stopTimer()
    for (const line of this.#lines) line?.wire?.close()
  }

  #tick(): void {
    const { clock, engine } = this.#options
    const nowMs = clock.nowMs()
    if (engine.isConnected) {
      for (const line of this.#lines) if (line !== null && line.openAtMs <= nowMs) this.#open(line, nowMs)
    }
    this.#stopTimer = clock.callAt((nowMs + OPEN_MS) as ClockMs, () => this.#tick())
  }

  #open(line: Line, nowMs: number): void {
    line.openAtMs = nowMs + line.pauseMs
    line.pauseMs = Math.min(2 * line.pauseMs, this.#pauseMsMax)
    this.#publish(line, PACKETS.open, line.sent, NO_PART)
  }

  #publish(line: Line, kind: number, number: number, part: Uint8Array): void {
    const { engine, crawl, share } = this.#options
    const to = line.theirs ?? nobodyOf(line.epoch)
    const packet = packPacket({ kind, share, from: this.#mine(line), to, number }, part)
    this.figures.packets++
    this.figures.bytes += packet.length
    engine.publish(subjectOf(crawl, line.share), packet)
  }

  #mine({ attempt }: Line): WireSession {
    return { epoch: this.#options.epoch, life: this.#life, attempt }
  }

  #connection(isConnected: boolean): void {
    const nowMs = this.#options.clock.nowMs()
    for (const line of this.#lines) {
      if (line === null) continue
      if (!isConnected) this.#break(line, 'away')
      else if (line.theirs === null) this.#open(line, nowMs)
    }
  }

  /** Ends a wire for good. What comes next between the two is a wire of another session. */
  #break(line: Line, why: keyof WireBreaks): void {
    if (line.theirs === null) return
    this.figures.breaks[why]++
    line.wire?.close()
    line.wire = null
    line.theirs = null
    line.attempt++
    line.sent = 0
    line.heard = 0
    line.parts = []
    line.pauseMs = OPEN_MS
  }

  #breakAndOpen(line: Line, why: keyof WireBreaks): void {
    this.#break(line, why)
    this.#open(line, this.#options.clock.nowMs())
  }

  #join(line: Line, theirs: WireSession): void {
    const { clock, onWire } = this.#options
    line.theirs = theirs
    line.epoch = theirs.epoch
    line.pauseMs = OPEN_MS
    const wire = new EngineWire((messages) => this.#send(line, wire, messages))
    line.wire = wire
    // Before anything else is said: whoever hears a part is to know from whom.
    this.#open(line, clock.nowMs())
    onWire(line.share, wire)
  }

  #send(line: Line, wire: EngineWire, messages: readonly PeerMessage[]): void {
    if (this.#isClosed || line.wire !== wire) return
    let first = 0
    let bytes = 0
    for (const [place, message] of messages.entries()) {
      bytes += bytesOf(message)
      if (bytes < BUNDLE_BYTES && place < messages.length - 1) continue
      this.#sendBundle(line, packMessages(messages.slice(first, place + 1)))
      first = place + 1
      bytes = 0
    }
    line.pauseMs = OPEN_MS
    line.openAtMs = this.#options.clock.nowMs() + OPEN_MS
  }

  #sendBundle(line: Line, bundle: Uint8Array): void {
    for (let at = 0; at < bundle.length; at += PART_BYTES) {
      const end = at + PART_BYTES
      this.#publish(line, end < bundle.length ? PACKETS.more : PACKETS.last, ++line.sent, bundle.subarray(at, end))
    }
  }

  #hear(bytes: Uint8Array): void {
    if (this.#isClosed) return
    const packet = unpackPacket(bytes)
    const line = packet === null ? null : (this.#lines[packet.head.share] ?? null)
    if (packet === null || line === null) {
      this.figures.strange++
      return
    }
    const { head, part } = packet
    // Our share has another owner: whoever says so knows it.
    if (head.to.epoch > this.#options.epoch) return this.close()
    if (head.from.epoch < line.epoch) {
      this.figures.old++
      return
    }
    line.epoch = head.from.epoch
    if (!this.#isOfPresentWire(line, head)) return
    if (head.kind === PACKETS.open) {
      // Messages of one sender come in order: what has not come before this does not come.
      if (head.number > line.heard) this.#breakAndOpen(line, 'gap')
    } else this.#hearPart(line, head, part)
  }

  /** Whether it was said by the session that we know to the one that we are; joins and breaks on the way. */
  #isOfPresentWire(line: Line, { from, to }: PacketHead): boolean {
    const knowsNobody = to.life === 0
    if (line.theirs !== null && isSameSession(from, line.theirs)) {
      if (isSameSession(to, this.#mine(line))) return true
      // It has not heard of us, or is in a wire that we ended before it heard of this one.
      if (knowsNobody) this.#open(line, this.#options.clock.nowMs())
      else this.#breakAndOpen(line, 'renewed')
      return false
    }
    if (line.theirs !== null && isEarlier(from, line.theirs)) {
      this.figures.old++
      return false
    }
    this.#break(line, 'renewed')
    const knowsUs = isSameSession(to, this.#mine(line))
    if (knowsUs || knowsNobody) this.#join(line, from)
    else this.#answer(line)
    // Where joining led to the end of all wires, there is none.
    return knowsUs && line.theirs !== null
  }

  /** It speaks to a session that is gone. */
  #answer(line: Line): void {
    this.figures.old++
    const nowMs = this.#options.clock.nowMs()
    if (nowMs - line.answeredMs < ANSWER_PAUSE_MS) return
    line.answeredMs = nowMs
    this.#open(line, nowMs)
  }

  #hearPart(line: Line, { kind, number }: PacketHead, part: Uint8Array): void {
    // Said twice.
    if (number <= line.heard) return
    if (number > line.heard + 1) return this.#breakAndOpen(line, 'gap')
    line.heard = number
    line.parts.push(part)
    if (kind === PACKETS.more) return
    const { parts, wire } = line
    line.parts = []
    let messages: readonly PeerMessage[]
    try {
      messages = unpackMessages(parts)
    } catch {
      return this.#breakAndOpen(line, 'unreadable')
    }
    wire?.deliver(messages)
  }
}

function subjectOf(crawl: string, share: number): string {
  return `wires.${crawl}.${share}`
}

function bytesOf(message: PeerMessage): number {
  if (message.kind === 'parcel') return MESSAGE_BYTES + message.parcel.entries.length
  if (message.kind !== 'lend-done') return MESSAGE_BYTES
  return message.answers.reduce(
    (bytes, one) => bytes + (one.kind === 'fetched' ? one.answer.wire.length : 0),
    MESSAGE_BYTES,
  )
}

/** One end. What was said in one turn of the event loop crosses together. */
class EngineWire implements Wire {
  readonly #cross: (messages: readonly PeerMessage[]) => void
  #said: PeerMessage[] = []
  #hear: (message: PeerMessage) => void = () => {}
  #isClosed = false

  constructor(cross: (messages: readonly PeerMessage[]) => void) {
    this.#cross = cross
  }

  send(message: PeerMessage): void {
    if (this.#isClosed) return
    this.#said.push(message)
    if (this.#said.length > 1) return
    setImmediate(() => {
      const said = this.#said
      this.#said = []
      if (!this.#isClosed) this.#cross(said)
    })
  }

  listen(hear: (message: PeerMessage) => void): void {
    this.#hear = hear
  }

  deliver(messages: readonly PeerMessage[]): void {
    for (const message of messages) if (!this.#isClosed) this.#hear(message)
  }

  close(): void {
    this.#isClosed = true
    this.#said = []
  }
}
