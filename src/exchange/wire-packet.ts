// What crosses the engine between two agents: packets, and the messages in them.
//
//   packet    version u8 │ kind u8 │ from: share u16, session │ to: session │ number u48 │ a part of the messages
//   session   epoch u48 │ life u48 │ attempt u32               life 0: nobody is known yet
//   messages  0 or 1 (zstd) │ length u32 │ JSON │ attachments  cut into parts where they are more than a packet takes
//
// Texts of parcels and bodies of errands and lent turns are attached behind the JSON, as they are, and leave their length in their place: quoted
// once more, a URL would take a tenth more bytes and twice the time.

import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { CarriedAnswer } from '../document/index.ts'
import type { ErrandAnswer, LentAnswer, Parcel, PeerMessage, PlainAnswer } from './peer-message.ts'

/** One end of one wire. */
export interface WireSession {
  /** Counts the owners of its share: who has a higher one is the owner. */
  readonly epoch: number
  /** Drawn when its agent began. */
  readonly life: number
  /** Counts the wires that it has had to this peer. */
  readonly attempt: number
}

/** Stands for the other end while none is known, with the epoch that its share is known to have had. */
export function nobodyOf(epoch: number): WireSession {
  return { epoch, life: 0, attempt: 0 }
}

export function isSameSession(one: WireSession, other: WireSession): boolean {
  return one.attempt === other.attempt && one.life === other.life && one.epoch === other.epoch
}

/** Whether it is known to have ended: of two lives in one epoch nobody can say which came first. */
export function isEarlier(one: WireSession, other: WireSession): boolean {
  return (
    one.epoch < other.epoch || (one.epoch === other.epoch && one.life === other.life && one.attempt < other.attempt)
  )
}

export const PACKETS = {
  /** Here I am, and so many packets have I sent you. */
  open: 1,
  /** The last or only part of some messages. */
  last: 2,
  /** Another part follows. */
  more: 3,
} as const

export interface PacketHead {
  readonly kind: number
  readonly share: number
  readonly from: WireSession
  readonly to: WireSession
  /** Of parts: from 1, without gaps. Of open: how many there were. */
  readonly number: number
}

const VERSION = 1
/** How many bytes a packet takes beside its part. */
export const PACKET_HEAD_BYTES = 42

export function packPacket({ kind, share, from, to, number }: PacketHead, part: Uint8Array): Uint8Array {
  const packet = Buffer.allocUnsafe(PACKET_HEAD_BYTES + part.length)
  packet[0] = VERSION
  packet[1] = kind
  packet.writeUInt16BE(share, 2)
  writeSession(packet, 4, from)
  writeSession(packet, 20, to)
  packet.writeUIntBE(number, 36, 6)
  packet.set(part, PACKET_HEAD_BYTES)
  return packet
}

/** Null where it is none of ours, or of another version. */
export function unpackPacket(bytes: Uint8Array): { readonly head: PacketHead; readonly part: Uint8Array } | null {
  if (bytes.length < PACKET_HEAD_BYTES || bytes[0] !== VERSION) return null
  const packet = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const kind = packet[1] as number
  if (kind < PACKETS.open || kind > PACKETS.more) return null
  const head = {
    kind,
    share: packet.readUInt16BE(2),
    from: readSession(packet, 4),
    to: readSession(packet, 20),
    number: packet.readUIntBE(36, 6),
  }
  return { head, part: bytes.subarray(PACKET_HEAD_BYTES) }
}

function writeSession(packet: Buffer, at: number, { epoch, life, attempt }: WireSession): void {
  packet.writeUIntBE(epoch, at, 6)
  packet.writeUIntBE(life, at + 6, 6)
  packet.writeUInt32BE(attempt, at + 12)
}

function readSession(packet: Buffer, at: number): WireSession {
  return {
    epoch: packet.readUIntBE(at, 6),
    life: packet.readUIntBE(at + 6, 6),
    attempt: packet.readUInt32BE(at + 12),
  }
}

/** Below this a call of the compressor costs more than the bytes are worth. */
const ZSTD_BYTES_MIN = 512
const QUICKEST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
/** No batch can hold more: its text would be too long for a string. */
const MESSAGES_BYTES_MAX = 2 ** 29
const PLAIN = 0
const PACKED = 1

type Attached<Message> = Message extends { readonly kind: 'parcel' }
  ? { readonly kind: 'parcel'; readonly parcel: Omit<Parcel, 'entries'> & { readonly entries: number } }
  : Message extends { readonly kind: 'errand-done' }
    ? { readonly kind: 'errand-done'; readonly id: number; readonly answer: AttachedAnswer }
    : Message extends { readonly kind: 'lend-done' }
      ? Omit<Message, 'answers'> & { readonly answers: readonly AttachedLentAnswer[] }
      : Message
type AttachedLentAnswer =
  | Exclude<LentAnswer, { readonly kind: 'fetched' }>
  | { readonly kind: 'fetched'; readonly answer: Omit<CarriedAnswer, 'wire'> & { readonly wire: number } }
type AttachedAnswer =
  | Exclude<ErrandAnswer, { readonly kind: 'answered' }>
  | { readonly kind: 'answered'; readonly answer: Omit<PlainAnswer, 'body'> & { readonly body: number } }

export function packMessages(messages: readonly PeerMessage[]): Uint8Array {
  const attachments: Uint8Array[] = []
  const attach = (bytes: Uint8Array): number => {
    attachments.push(bytes)
    return bytes.length
  }
  const text = Buffer.from(JSON.stringify(messages.map((message) => attached(message, attach))))
  const head = Buffer.allocUnsafe(5)
  head[0] = PLAIN
  head.writeUInt32BE(text.length, 1)
  const plain = Buffer.concat([head, text, ...attachments])
  if (plain.length < ZSTD_BYTES_MIN) return plain
  const packed = zstdCompressSync(plain.subarray(1), QUICKEST)
  return Buffer.concat([Buffer.of(PACKED), packed])
}

function attached(message: PeerMessage, attach: (bytes: Uint8Array) => number): Attached<PeerMessage> {
  if (message.kind === 'parcel') {
    const { parcel } = message
    return { kind: 'parcel', parcel: { ...parcel, entries: attach(Buffer.from(parcel.entries)) } }
  }
  if (message.kind === 'lend-done') {
    const answers = message.answers.map((one): AttachedLentAnswer => {
      if (one.kind !== 'fetched') return one
      return { kind: 'fetched', answer: { ...one.answer, wire: attach(one.answer.wire) } }
    })
    return { ...message, answers }
  }
  if (message.kind !== 'errand-done' || message.answer.kind !== 'answered') return message as Attached<PeerMessage>
  const { answer } = message.answer
  return { ...message, answer: { kind: 'answered', answer: { ...answer, body: attach(answer.body) } } }
}

/** Throws where they are none. */
export function unpackMessages(parts: readonly Uint8Array[]): readonly PeerMessage[] {
  const whole = parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
  const body = whole.subarray(1)
  const bytes = whole[0] === PACKED ? zstdDecompressSync(body, { maxOutputLength: MESSAGES_BYTES_MAX }) : body
  const plain = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 4 + plain.readUInt32BE(0)
  const take = (length: number): Buffer => plain.subarray(at, (at += length))
  const messages = JSON.parse(plain.toString('utf8', 4, at)) as Attached<PeerMessage>[]
  return messages.map((message) => detached(message, take))
}

function detached(message: Attached<PeerMessage>, take: (length: number) => Buffer): PeerMessage {
  if (message.kind === 'parcel') {
    const { parcel } = message
    return { kind: 'parcel', parcel: { ...parcel, entries: take(parcel.entries).toString() } }
  }
  if (message.kind === 'lend-done') {
    const answers = message.answers.map((one): LentAnswer => {
      if (one.kind !== 'fetched') return one
      return { kind: 'fetched', answer: { ...one.answer, wire: Uint8Array.from(take(one.answer.wire)) } }
    })
    return { ...message, answers }
  }
  if (message.kind !== 'errand-done') return message
  const { id, answer } = message
  if (answer.kind !== 'answered') return { kind: 'errand-done', id, answer }
  const body = Uint8Array.from(take(answer.answer.body))
  return { kind: 'errand-done', id, answer: { kind: 'answered', answer: { ...answer.answer, body } } }
}
