// The line store on LevelDB. Chosen for what it costs to install and to run (docs/decisions/0017). It checks next to nothing: its files
// are checked before it sees them (level-check.ts), what it gives back by guarded-store.ts.
//
// Every write is synced: a sync reaches the newest log file only, so what was written before without one could be lost
// with the log before it.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { diskFault, Fault } from '../base/index.ts'
import { makeDirectory, writeAtomically } from '../disk/index.ts'
import { findDamage, leaveWhatIsSound, type LostStretch } from './level-check.ts'
import type { LineStore, StoreBatch } from './line-store.ts'

const CACHE_BYTES = 8 * 2 ** 20
const WRITE_BUFFER_BYTES = 8 * 2 ** 20
/** Records of hosts are small and alike: larger stretches of them compress better. */
const BLOCK_BYTES = 16 * 2 ** 10
/** Tables that are open are mapped, two MiB each, and what was read of them counts as memory of ours. */
const OPEN_FILES_MAX = 128

// Places among keys, to cut them into stretches: their first eight characters, printable ASCII, as a number.
const KEY_CHARACTERS = 8
const FIRST_CHARACTER = 0x20
const CHARACTERS = 96
const KEYS = CHARACTERS ** KEY_CHARACTERS
const LAST_KEY = '\uffff'

/** Says that a first checkpoint was written: a store that has none then has lost it. LevelDB leaves the file alone. */
const MADE = 'made'

/** Makes the directory of a store; true when no store was made in it yet. */
export async function prepareDirectory(directory: string): Promise<boolean> {
  await makeDirectory(directory)
  try {
    await stat(join(directory, MADE))
    return false
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw diskFault(`reading ${directory}`, cause)
    return true
  }
}

export async function markAsMade(directory: string): Promise<void> {
  await writeAtomically(join(directory, MADE), '')
}

export class LevelStore implements LineStore {
  readonly directory: string
  readonly #level: ClassicLevel<string, Uint8Array>
  /** Up to here the keys have been merged in this round. */
  #mergedTo = 0

  private constructor(directory: string, level: ClassicLevel<string, Uint8Array>) {
    this.directory = directory
    this.#level = level
  }

  /** Reads every table once: about two seconds for a GiB, cold, one when the page cache has it. */
  static async open(directory: string): Promise<LevelStore> {
    const damage = await findDamage(directory)
    if (damage !== null) throw levelFault(directory, 'opening', new Error(damage))
    const level = new ClassicLevel<string, Uint8Array>(directory, {
      keyEncoding: 'utf8',
      valueEncoding: 'view',
      cacheSize: CACHE_BYTES,
      writeBufferSize: WRITE_BUFFER_BYTES,
      blockSize: BLOCK_BYTES,
      maxOpenFiles: OPEN_FILES_MAX,
    })
    try {
      await level.open()
    } catch (cause) {
      throw levelFault(directory, 'opening', cause)
    }
    return new LevelStore(directory, level)
  }

  /**
   * Makes a store that cannot be opened one that can, of what is sound of it, and opens it. What it gives for a key within a lost stretch
   * may be what it once was.
   */
  static async rescue(directory: string): Promise<{ store: LevelStore; lost: LostStretch[] }> {
    const lost = await leaveWhatIsSound(directory)
    try {
      await ClassicLevel.repair(directory)
    } catch (cause) {
      throw levelFault(directory, 'opening', cause)
    }
    const store = await LevelStore.open(directory)
    try {
      // A repair puts all tables side by side, where LevelDB takes the one with the highest number for the newest; a merge looks closer.
      await store.#level.compactRange('', LAST_KEY)
    } catch (cause) {
      await store.close()
      throw levelFault(directory, 'writing', cause)
    }
    return { store, lost }
  }

  async getMany(keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    try {
      return await this.#level.getMany(keys as string[])
    } catch (cause) {
      throw levelFault(this.directory, 'reading', cause)
    }
  }

  async *range(from: string, to: string): AsyncIterable<readonly [string, Uint8Array]> {
    try {
      yield* this.#level.iterator({ gte: from, lt: to })
    } catch (cause) {
      throw levelFault(this.directory, 'reading', cause)
    }
  }

  /** The same of a store that may be damaged: all that can be read, and at the end what could not, if anything. */
  async *readable(from: string, to: string): AsyncGenerator<readonly [string, Uint8Array], Fault | null> {
    const iterator = this.#level.iterator({ gte: from, lt: to })
    try {
      for (;;) {
        // One by one: LevelDB steps over a damaged block and complains at the end, with what it gives then.
        const [entry] = await iterator.nextv(1)
        if (entry === undefined) return null
        yield entry
      }
    } catch (cause) {
      return levelFault(this.directory, 'reading', cause)
    } finally {
      await iterator.close().catch(() => undefined)
    }
  }

  batch(): StoreBatch {
    const batch = this.#level.batch()
    return {
      put: (key, value) => void batch.put(key, value),
      delete: (key) => void batch.del(key),
      write: async () => {
        try {
          await batch.write({ sync: true })
        } catch (cause) {
          throw levelFault(this.directory, 'writing', cause)
        }
      },
    }
  }

  /**
   * LevelDB merges when a level is full, which leaves up to twice what is needed. Here stretch by stretch of the keys is merged down to
   * its last level. A stretch need not be exact: LevelDB merges whole tables.
   */
  async merge(bytes: number): Promise<void> {
    const from = keyOf(this.#mergedTo)
    let most = KEYS
    try {
      if ((await this.#level.approximateSize(from, LAST_KEY)) > bytes) {
        for (let least = this.#mergedTo; most - least > 1;) {
          const middle = Math.floor((least + most) / 2)
          if ((await this.#level.approximateSize(from, keyOf(middle))) > bytes) most = middle
          else least = middle
        }
      }
      await this.#level.compactRange(from, most === KEYS ? LAST_KEY : keyOf(most))
    } catch (cause) {
      throw levelFault(this.directory, 'writing', cause)
    }
    this.#mergedTo = most === KEYS ? 0 : most
  }

  async close(): Promise<void> {
    await this.#level.close()
  }
}

/** The n-th of the texts of eight characters, in order: fine enough to tell stretches of keys apart. */
function keyOf(place: number): string {
  let key = ''
  for (let rest = place, i = 0; i < KEY_CHARACTERS; i++) {
    key = String.fromCharCode(FIRST_CHARACTER + (rest % CHARACTERS)) + key
    rest = Math.floor(rest / CHARACTERS)
  }
  return key
}

/** LevelDB says what it met in words; a missing or unreadable file is damage, a full disk is not. */
function levelFault(directory: string, doing: 'opening' | 'reading' | 'writing', cause: unknown): Fault {
  if (cause instanceof Fault) return cause
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  const { code, message } = inner as { readonly code?: string; readonly message?: string }
  const what = `${doing} the waiting URLs in ${directory}`
  if (/no space left|disk quota/i.test(message ?? '')) return diskFault(what, { code: 'ENOSPC' })
  if (/permission denied|read-only/i.test(message ?? '')) return diskFault(what, { code: 'EACCES' })
  if (code === 'LEVEL_LOCKED') return new Fault('LEDGER_LOCKED', `${what}: another process has them open`, cause)
  if (doing === 'writing' && code !== 'LEVEL_CORRUPTION')
    return new Fault('DISK_FAILED', `${what}: ${message ?? code}`, cause)
  return new Fault(
    'LEDGER_CORRUPT',
    `${what}: ${message ?? code ?? 'damaged'}; restore them from a copy, or see what \`portolan repair\` can save`,
    cause,
  )
}
