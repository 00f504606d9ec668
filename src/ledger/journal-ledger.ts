// The ledger as a journal: one framed log, a frame per batch, read from the start when a crawl is
// opened. Opening costs time in proportion to the crawl; nothing committed is ever lost.
//
//   state/ledger.log   [ identity ][ batch ][ batch ] …

import { stat } from 'node:fs/promises'
import { assert, Fault, type Random } from '../base/index.ts'
import { FramedLog, readFrames } from '../disk/index.ts'
import { decodeBatch, encodeBatch } from './batch-codec.ts'
import type { CrawlIdentity, Ledger, LedgerBatch } from './ledger.ts'

/** Changes whenever an older Portolan could not read what we write, or we not what it wrote. */
const FORMAT_VERSION = 2

export interface JournalOptions {
  readonly path: string
  readonly random: Random
  /** Called for a crawl that begins. */
  readonly create: () => CrawlIdentity
}

export class JournalLedger implements Ledger {
  readonly identity: CrawlIdentity
  /** Bytes of an unfinished last batch that were cut off: what was in flight when the process died. */
  readonly tornTailBytes: number
  readonly #log: FramedLog
  #isCommitting = false

  private constructor(log: FramedLog, identity: CrawlIdentity) {
    this.#log = log
    this.identity = identity
    this.tornTailBytes = log.tornTailBytes
  }

  static async open({ path, random, create }: JournalOptions): Promise<JournalLedger> {
    const log = await FramedLog.open(path, { version: FORMAT_VERSION, random })
    try {
      for await (const frame of log.frames()) return new JournalLedger(log, decodeIdentity(frame, path))
      const identity = create()
      log.append(Buffer.from(JSON.stringify(identity)))
      await log.sync()
      return new JournalLedger(log, identity)
    } catch (fault) {
      await log.close()
      throw fault
    }
  }

  /** Every batch committed so far, in order. */
  async *history(): AsyncGenerator<LedgerBatch> {
    let isFirst = true
    for await (const frame of this.#log.frames()) {
      if (!isFirst) yield decodeBatch(frame)
      isFirst = false
    }
  }

  async commit(batch: LedgerBatch): Promise<void> {
    assert(!this.#isCommitting, 'a batch is committed while another one is')
    this.#isCommitting = true
    this.#log.append(encodeBatch(batch))
    await this.#log.sync()
    this.#isCommitting = false
  }

  close(): Promise<void> {
    return this.#log.close()
  }
}

function decodeIdentity(frame: Uint8Array, path: string): CrawlIdentity {
  try {
    return JSON.parse(Buffer.from(frame).toString()) as CrawlIdentity
  } catch (cause) {
    throw new Fault('LEDGER_CORRUPT', `${path}: the first record is not that of a crawl`, cause)
  }
}

/** Every batch of a journal that may be in use: for looking, not for going on. */
export async function* readJournal(path: string): AsyncGenerator<LedgerBatch> {
  let isFirst = true
  for await (const frame of readFrames(path, FORMAT_VERSION)) {
    if (!isFirst) yield decodeBatch(frame)
    isFirst = false
  }
}

/** Whether a crawl was begun under this path. */
export async function journalExists(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null)
  return found !== null && found.size > 0
}
