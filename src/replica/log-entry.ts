// An entry of a share's log as bytes.
//
//   entry    format u8 | format of batches u8 | length of head u32 | head, JSON | payload
//
// Every head repeats who holds the share and what the last whole batch is, this entry included: so the last entry alone tells how
// the share stands, however long the log is.

import { Fault } from '../base/index.ts'
import { ENTRY_BYTES_MAX } from '../engine/index.ts'
import { SEGMENT_FORMAT_VERSION } from '../ledger/index.ts'

/** Changes whenever an older Portolan could not read what we append. */
const ENTRY_FORMAT_VERSION = 1
const FIXED_BYTES = 6
/** Names of nodes, digests and numbers fit by far. */
const HEAD_BYTES_MAX = 4_096

/** What an entry may carry beside its head. */
export const PAYLOAD_BYTES_MAX = ENTRY_BYTES_MAX - FIXED_BYTES - HEAD_BYTES_MAX

/** One life of a node. */
export interface Holder {
  readonly node: string
  readonly incarnation: string
}

/** Where a share stands in its log. */
export interface LogState {
  /** Of the last whole batch; 0 before the first. */
  readonly last: number
  /** Stands for it and all before it, as in the journal; empty before the first. */
  readonly digest: string
  /** Where the last snapshot is; 0 for none. */
  readonly snapshotAt: number
  /** Bytes of the entries that come after it. */
  readonly since: number
}

export interface SnapshotMark {
  /** Name of the object that says what belongs to it. */
  readonly manifest: string
  /** The last batch that it holds, */
  readonly upTo: number
  /** and where that one ends: what comes after this place completes it. */
  readonly from: number
}

export type EntryKind =
  | { readonly kind: 'begin' }
  | { readonly kind: 'release' }
  /** One part of a set of batches, in order; a set counts when its last part is there. */
  | {
      readonly kind: 'batch'
      readonly part: number
      readonly isLast: boolean
      readonly first: number
      /** Digest of the batch before the first. */
      readonly before: string
    }
  | { readonly kind: 'snapshot'; readonly mark: SnapshotMark; readonly former: SnapshotMark | null }

export type EntryHead = EntryKind &
  Holder &
  LogState & {
    readonly epoch: number
    /** The place it was appended after. */
    readonly after: number
  }

export interface ReadEntry {
  readonly at: number
  readonly head: EntryHead
  readonly payload: Uint8Array
}

export function encodeEntry(head: EntryHead, payload: Uint8Array): Buffer {
  const text = Buffer.from(JSON.stringify(head))
  const entry = Buffer.allocUnsafe(FIXED_BYTES + text.length + payload.length)
  entry[0] = ENTRY_FORMAT_VERSION
  entry[1] = SEGMENT_FORMAT_VERSION
  entry.writeUInt32LE(text.length, 2)
  text.copy(entry, FIXED_BYTES)
  entry.set(payload, FIXED_BYTES + text.length)
  return entry
}

export function decodeEntry(log: string, at: number, bytes: Uint8Array): ReadEntry {
  const entry = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (entry[0] !== ENTRY_FORMAT_VERSION || entry[1] !== SEGMENT_FORMAT_VERSION) {
    throw new Fault(
      'LEDGER_VERSION',
      `entry ${at} of ${log} has format ${entry[0]}.${entry[1]}, this version of Portolan reads ${ENTRY_FORMAT_VERSION}.${SEGMENT_FORMAT_VERSION}; all nodes of a crawl must run the version that began it`,
    )
  }
  try {
    const end = FIXED_BYTES + entry.readUInt32LE(2)
    const head = JSON.parse(entry.toString('utf8', FIXED_BYTES, end)) as EntryHead
    return { at, head, payload: entry.subarray(end) }
  } catch (cause) {
    throw new Fault('LEDGER_CORRUPT', `entry ${at} of ${log} cannot be read`, cause)
  }
}
