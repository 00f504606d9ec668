// Batches of a journal as one stream of bytes, for the object of a snapshot:  number u48 | digest 16 | length u32 | body

import { Fault } from '../base/index.ts'
import { type BatchRecord, chainDigest, type PreparedBatch } from '../ledger/index.ts'

const HEAD_BYTES = 6 + 16 + 4
const CHUNK_BYTES = 2 ** 20

/** The records, which must be without a gap from `after` on. */
export async function* packRecords(records: AsyncIterable<BatchRecord>, after: number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let bytes = 0
  let last = after
  for await (const { number, follows, body } of records) {
    if (number !== last + 1) throw new Fault('LEDGER_CORRUPT', `batch ${last + 1} is missing in the journal`)
    last = number
    const head = Buffer.allocUnsafe(HEAD_BYTES)
    head.writeUIntLE(number, 0, 6)
    chainDigest(number, follows, body).copy(head, 6)
    head.writeUInt32LE(body.length, 22)
    parts.push(head, Buffer.from(body))
    bytes += HEAD_BYTES + body.length
    if (bytes < CHUNK_BYTES) continue
    yield Buffer.concat(parts, bytes)
    parts = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(parts, bytes)
}

export async function* unpackRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<PreparedBatch> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (rest.length >= HEAD_BYTES) {
      const end = HEAD_BYTES + rest.readUInt32LE(22)
      if (rest.length < end) break
      yield {
        number: rest.readUIntLE(0, 6),
        digest: Buffer.from(rest.subarray(6, 22)),
        body: Buffer.from(rest.subarray(HEAD_BYTES, end)),
      }
      rest = rest.subarray(end)
    }
  }
  if (rest.length > 0) throw new Fault('LEDGER_CORRUPT', 'the batches of a snapshot end in the middle of one')
}
