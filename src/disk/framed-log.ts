// An append-only log of frames that knows when it is damaged.
//
//    header   magic 8 | version u32 | salt 8 | crc u32                       (24 bytes)
//    frame    salt 8 | length u32 | previous u32 | crc u32 | payload         (20 bytes + payload)
//
// Numbers are little-endian. `crc` covers length, previous and payload, `previous` repeats the crc
// of the frame before: each frame can be judged alone, and a frame that went missing or changed
// places breaks the chain. The salt is random per log, so that no payload can pose as a frame.
//
// A crash leaves a *torn tail*: a last frame that is incomplete, or rubbish where it should be. It was
// never promised, so open() cuts it off and says how many bytes that were. Anything else — a good
// frame after a bad one, a broken chain, a bad header — means that promised bytes were lost: a
// fault, and nothing is touched. (Of frames appended without a sync between them, a loss of power
// may keep the later and lose the earlier, which looks like damage: write one frame per sync.)
//
// What cannot be seen: the last frame lost or spoilt together with its end. It looks torn.

import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { assert, diskFault, Fault, type Random } from '../base/index.ts'
import { AppendFile } from './append-file.ts'
import { writeAtomically } from './atomic-file.ts'
import { WindowReader } from './framed-log-reader.ts'

const MAGIC = Buffer.from('portolog', 'latin1')
const SALT_BYTES = 8
const HEADER_BYTES = MAGIC.length + 4 + SALT_BYTES + 4
const FRAME_HEAD_BYTES = SALT_BYTES + 12
/** A batch of the ledger is some megabytes at most; a length beyond this is damage, not a frame. */
const PAYLOAD_BYTES_MAX = 256 * 2 ** 20
const SEARCH_BYTES = 2 ** 20

export interface FramedLogOptions {
  /** Version of what the payloads mean. A log of another version is refused. */
  readonly version: number
  /** Source of a new log's salt. */
  readonly random: Random
  /** The frame a new log begins with: it is there as soon as the log is, also after a crash. */
  readonly first?: Uint8Array
}

/** What one reading of a log from end to end has found. */
export interface FrameScan {
  readonly path: string
  readonly size: number
  /** Where the good frames end: what stands behind is a torn tail, or damage. */
  readonly end: number
  /** Where a good frame stands behind bad bytes, or out of place: promised bytes were lost. */
  readonly damage: { readonly what: string; readonly nextFrame: number } | null
  readonly salt: Buffer
  /** The checksum of the last good frame. */
  readonly previous: number
}

export class FramedLog {
  readonly #file: AppendFile
  readonly #salt: Buffer
  #previous: number
  /** What a crash had left behind the last good frame, and open() cut off. */
  readonly tornTailBytes: number

  private constructor(file: AppendFile, salt: Buffer, previous: number, tornTailBytes: number) {
    this.#file = file
    this.#salt = salt
    this.#previous = previous
    this.tornTailBytes = tornTailBytes
  }

  /** Checks every frame, cuts off a torn tail, creates the log where there is none. */
  static async open(path: string, options: FramedLogOptions): Promise<FramedLog> {
    if (!existsSync(path)) await writeAtomically(path, newLog(options))
    return await FramedLog.goOn(await scanFrames(path, options.version))
  }

  /** The same for a log that was read already and has not been touched since. */
  static async goOn(scan: FrameScan): Promise<FramedLog> {
    const { path, size, end, damage, salt, previous } = scan
    if (damage !== null) throw damaged(path, end, damage.what)
    const file = await AppendFile.open(path, { committedLength: end })
    return new FramedLog(file, salt, previous, size - end)
  }

  get length(): number {
    return this.#file.length
  }

  /** Adds a frame; durable after sync(). */
  append(payload: Uint8Array): void {
    assert(payload.length <= PAYLOAD_BYTES_MAX, `a frame of ${payload.length} bytes is above ${PAYLOAD_BYTES_MAX}`)
    const head = frameHead(this.#salt, this.#previous, payload)
    this.#previous = head.readUInt32LE(SALT_BYTES + 8)
    this.#file.append(head)
    this.#file.append(payload)
  }

  sync(): Promise<void> {
    return this.#file.sync()
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  /** The payloads in order, as far as they were appended before the call. */
  async *frames(): AsyncGenerator<Buffer> {
    await this.#file.flush()
    const end = this.#file.length
    const path = this.#file.path
    const handle = await open(path, 'r')
    try {
      const reader = new WindowReader(path, handle, end)
      for (let at = HEADER_BYTES; at < end;) {
        const frame = await readFrame(reader, at, this.#salt)
        if (frame === null) throw damaged(path, at, 'it could be read a moment ago')
        at += FRAME_HEAD_BYTES + frame.payload.length
        yield frame.payload
      }
    } finally {
      await handle.close()
    }
  }
}

/**
 * Reads a log from end to end, hands every good frame on with the byte it ends at, and says what it
 * found behind them. Changes nothing; only a header that is not ours is thrown.
 */
export function scanFrames(
  path: string,
  version: number,
  onFrame: (payload: Buffer, end: number) => void = () => {},
): Promise<FrameScan> {
  return withFile(path, async (reader) => {
    const { size } = reader
    const salt = await readHeader(reader, version)
    let previous = 0
    let end = HEADER_BYTES
    for (;;) {
      const frame = await readFrame(reader, end, salt)
      if (frame === null) break
      if (frame.previous !== previous) {
        const damage = { what: 'a frame before it is missing or out of place', nextFrame: end }
        return { path, size, end, damage, salt, previous }
      }
      previous = frame.crc
      end += FRAME_HEAD_BYTES + frame.payload.length
      onFrame(frame.payload, end)
    }
    const nextFrame = await findFrame(reader, end + 1, salt)
    const what = `unreadable, although a good frame follows at byte ${nextFrame}`
    return { path, size, end, damage: nextFrame === null ? null : { what, nextFrame }, salt, previous }
  })
}

/** Where the first frame of a log begins. */
export const LOG_START = HEADER_BYTES

/** How much of a log the frame of a payload takes. */
export function frameBytes(payload: Uint8Array): number {
  return FRAME_HEAD_BYTES + payload.length
}

/**
 * The payloads of a log that may be written by another process meanwhile, from a byte on at which a
 * frame begins: touches nothing, and ends without complaint where the readable part does, because a
 * frame may just be on its way.
 */
export async function* readFrames(path: string, version: number, from = HEADER_BYTES): AsyncGenerator<Buffer> {
  const handle = await open(path, 'r').catch((cause: unknown) => {
    throw diskFault(`reading ${path}`, cause)
  })
  try {
    const reader = new WindowReader(path, handle, (await handle.stat()).size)
    const salt = await readHeader(reader, version)
    for (let at = from; ;) {
      const frame = await readFrame(reader, at, salt)
      if (frame === null) return
      at += FRAME_HEAD_BYTES + frame.payload.length
      yield frame.payload
    }
  } finally {
    await handle.close()
  }
}

interface Frame {
  readonly previous: number
  readonly crc: number
  readonly payload: Buffer
}

function newLog(options: FramedLogOptions): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  MAGIC.copy(header)
  header.writeUInt32LE(options.version, 8)
  header.writeUInt32LE(options.random.next32(), 12)
  header.writeUInt32LE(options.random.next32(), 16)
  header.writeUInt32LE(crc32(header.subarray(0, 20)), 20)
  const { first } = options
  return first === undefined ? header : Buffer.concat([header, frameHead(header.subarray(12, 20), 0, first), first])
}

function frameHead(salt: Buffer, previous: number, payload: Uint8Array): Buffer {
  const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES)
  salt.copy(head)
  head.writeUInt32LE(payload.length, SALT_BYTES)
  head.writeUInt32LE(previous, SALT_BYTES + 4)
  head.writeUInt32LE(frameCrc(head, payload), SALT_BYTES + 8)
  return head
}

async function readHeader(reader: WindowReader, version: number): Promise<Buffer> {
  const header = await reader.readAt(0, HEADER_BYTES)
  const isWhole = header.length === HEADER_BYTES && header.readUInt32LE(20) === crc32(header.subarray(0, 20))
  if (!isWhole || !header.subarray(0, 8).equals(MAGIC)) throw damaged(reader.path, 0, 'the header is not that of a log')
  const found = header.readUInt32LE(8)
  if (found !== version) {
    throw new Fault(
      'LEDGER_VERSION',
      `${reader.path} has format ${found}, this version of Portolan reads ${version}; go on with the version that wrote it, or start in a new directory`,
    )
  }
  return Buffer.from(header.subarray(12, 20))
}

/** The frame at a byte, judged alone; null when there is no good one. */
async function readFrame(reader: WindowReader, at: number, salt: Buffer): Promise<Frame | null> {
  if (at + FRAME_HEAD_BYTES > reader.size) return null
  const head = await reader.readAt(at, FRAME_HEAD_BYTES)
  if (head.length < FRAME_HEAD_BYTES || !head.subarray(0, SALT_BYTES).equals(salt)) return null
  const length = head.readUInt32LE(SALT_BYTES)
  if (length > PAYLOAD_BYTES_MAX || at + FRAME_HEAD_BYTES + length > reader.size) return null
  const payload = await reader.readAt(at + FRAME_HEAD_BYTES, length)
  const crc = head.readUInt32LE(SALT_BYTES + 8)
  if (payload.length < length || frameCrc(head, payload) !== crc) return null
  return { previous: head.readUInt32LE(SALT_BYTES + 4), crc, payload }
}

/** The byte of the first good frame at or after `from`, in bounded memory; null when there is none. */
async function findFrame(reader: WindowReader, from: number, salt: Buffer): Promise<number | null> {
  for (let base = from; base + FRAME_HEAD_BYTES <= reader.size; base += SEARCH_BYTES) {
    // Windows overlap by a salt less one byte: a salt across their border is found once.
    const window = await reader.readAt(base, SEARCH_BYTES + SALT_BYTES - 1)
    for (let i = window.indexOf(salt); i !== -1; i = window.indexOf(salt, i + 1)) {
      if ((await readFrame(reader, base + i, salt)) !== null) return base + i
    }
  }
  return null
}

function frameCrc(head: Buffer, payload: Uint8Array): number {
  return crc32(payload, crc32(head.subarray(SALT_BYTES, SALT_BYTES + 8)))
}

async function withFile<T>(path: string, use: (reader: WindowReader) => Promise<T>): Promise<T> {
  try {
    const handle = await open(path, 'r')
    try {
      return await use(new WindowReader(path, handle, (await handle.stat()).size))
    } finally {
      await handle.close()
    }
  } catch (cause) {
    throw diskFault(`reading ${path}`, cause)
  }
}

function damaged(path: string, at: number, what: string): Fault {
  return new Fault(
    'LEDGER_CORRUPT',
    `${path} is damaged at byte ${at}: ${what}. Nothing was changed; restore the file from a copy, or see what \`portolan repair\` can save`,
  )
}
