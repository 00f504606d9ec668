// What must be true of the files of a store before LevelDB may see them, and how a damaged copy of one is made so.
//
// LevelDB aborts the process over a table that is damaged where it does not look (level-table.ts), reading as well as merging and
// repairing. So every table that belongs to the store is read once, checksum by checksum, each time it is opened: about half a second of
// CPU for a GiB, and as much to read it, or several times that where memory for the page cache is dear: a large store is read past
// it (docs/decisions/0035). Tables that the manifest does not name are what a kill leaves; LevelDB deletes them unread.
//
// Memory: FILES_AHEAD files at a time, one that is checked and others that are being read, of FILE_BYTES_MAX at most.

import { mkdir, open, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { diskFault, Fault } from '../base/index.ts'
import { BlockBuffers, readPastCache } from '../disk/index.ts'
import { logOf, logRecords } from './level-log.ts'
import { type LevelFiles, readLevelFiles } from './level-manifest.ts'
import { KEY_TRAILER_BYTES, readTable, tableOf } from './level-table.ts'

/** Tables are of 2 MiB, or of what a log holds; one host's batch can make a log larger, but not by so much. */
const FILE_BYTES_MAX = 2 ** 30
/** To read one takes several steps, each of which waits for a check to end: with one ahead hardly anything is read meanwhile. */
const FILES_AHEAD = 4
/** A store of so many bytes would fill the page cache with what is looked at once. A smaller one may be there from before, and is good to have there. */
const PAST_CACHE_FROM_BYTES = 2 ** 30
/** Larger tables are few. */
const PAST_CACHE_TABLE_BYTES_MAX = 4 * 2 ** 20
const TABLE = /^(\d+)\.(?:ldb|sst)$/
const LOG = /^\d+\.log$/
const LOST = 'lost'

/** Keys between which something is lost, both included, as LevelDB orders them: byte by byte (latin1). */
export interface LostStretch {
  readonly from: string
  readonly to: string
}

const EVERYTHING: LostStretch = { from: '', to: '\u{100}' }

interface TableFile {
  readonly name: string
  readonly expectedBytes: number
}

/** What is wrong with a store, in words; null when LevelDB may open it. A directory without a store is right. */
export async function findDamage(
  directory: string,
  pastCacheFromBytes: number = PAST_CACHE_FROM_BYTES,
): Promise<string | null> {
  const names = await namesIn(directory)
  if (!names.includes('CURRENT')) {
    // LevelDB would begin anew, and delete all tables first.
    const left = names.find((name) => TABLE.test(name) || LOG.test(name))
    return left === undefined ? null : `CURRENT is missing, but there is ${left}`
  }
  const known = await levelFiles(directory)
  if (known instanceof Fault) return known.message
  const files = new Map(names.flatMap((name) => (TABLE.test(name) ? [[Number.parseInt(name, 10), name] as const] : [])))
  const tables: TableFile[] = []
  for (const [number, { bytes }] of known.tables) {
    const name = files.get(number)
    if (name === undefined) return `table ${number} is missing`
    tables.push({ name, expectedBytes: bytes })
  }
  // Of a store that is not in the page cache reading takes as long as checking: one goes on beside the other.
  const bytes = tables.reduce((sum, { expectedBytes }) => sum + expectedBytes, 0)
  const blocks = bytes < pastCacheFromBytes ? null : new BlockBuffers(FILES_AHEAD, PAST_CACHE_TABLE_BYTES_MAX)
  const readers = Array.from({ length: FILES_AHEAD }, () => new FileReader(directory, blocks?.take()))
  const readings: Promise<Buffer | string>[] = []
  try {
    for (const [at, { name, expectedBytes }] of tables.entries()) {
      for (let ahead = at + readings.length; ahead < Math.min(at + FILES_AHEAD, tables.length); ahead++) {
        const reading = (readers[ahead % FILES_AHEAD] as FileReader).read((tables[ahead] as TableFile).name)
        // Whoever waits for it hears of its fault; if nobody does, nobody need.
        reading.catch(() => undefined)
        readings.push(reading)
      }
      const damage = damageOf((await readings.shift()) as Buffer | string, expectedBytes)
      if (damage !== null) return `${name}: ${damage}`
    }
    return null
  } finally {
    await Promise.allSettled(readings)
  }
}

function damageOf(table: Buffer | string, expectedBytes: number): string | null {
  if (typeof table === 'string') return table
  if (table.length !== expectedBytes) return `it has ${table.length} bytes, not ${expectedBytes}`
  return readTable(table).damage
}

/**
 * Leaves of a damaged store what is sound: whole blocks of tables, whole records of logs; the rest lies in lost/. Sizes in the manifest
 * may be wrong afterwards: it is to be made anew by LevelDB's repair. Files are replaced and not written to, for they may be links.
 */
export async function leaveWhatIsSound(directory: string): Promise<LostStretch[]> {
  const names = await namesIn(directory)
  const read = await levelFiles(directory)
  const known = read instanceof Fault ? null : read
  const lost: LostStretch[] = []
  const reader = new FileReader(directory)
  const present = new Set<number>()
  for (const name of names) {
    const number = Number.parseInt(name, 10)
    if (TABLE.test(name)) {
      present.add(number)
      const isNeeded = known === null || known.tables.has(number)
      const gone = await mendTable(directory, reader, name)
      if (isNeeded) lost.push(...gone.map((stretch) => stretch ?? stretchOf(known, number)))
    } else if (LOG.test(name)) {
      await mendLog(directory, reader, name)
    }
  }
  for (const number of known?.tables.keys() ?? []) if (!present.has(number)) lost.push(stretchOf(known, number))
  return lost
}

/** What its keys said is lost now; null for all that the table had. */
async function mendTable(directory: string, reader: FileReader, name: string): Promise<(LostStretch | null)[]> {
  const bytes = await reader.read(name)
  const { damage, blocks } = typeof bytes === 'string' ? { damage: bytes, blocks: null } : readTable(bytes)
  if (damage === null) return []
  const table = typeof bytes === 'string' || blocks === null ? null : tableOf(bytes, blocks)
  await setAside(directory, name)
  if (table === null || blocks === null) return [null]
  await replaceFile(directory, name, table)
  return blocks.flatMap(({ isSound, lastKey }, i) =>
    isSound ? [] : [{ from: nameOf(blocks[i - 1]?.lastKey), to: nameOf(lastKey) }],
  )
}

/** LevelDB's repair takes the records of a log for true, and may abort over their numbers. What is lost here leaves a gap of markers. */
async function mendLog(directory: string, reader: FileReader, name: string): Promise<void> {
  const bytes = await reader.read(name)
  let isDamaged = typeof bytes === 'string'
  const records = typeof bytes === 'string' ? [] : [...logRecords(bytes, () => (isDamaged = true))]
  if (!isDamaged) return
  const log = logOf(records)
  await setAside(directory, name)
  await replaceFile(directory, name, log)
}

/** What the user calls the key. A key can go on in the next block with what it was before: so both ends of a stretch count. */
function nameOf(key: Buffer | undefined): string {
  return key?.toString('latin1', 0, key.length - KEY_TRAILER_BYTES) ?? ''
}

function stretchOf(files: LevelFiles | null, number: number): LostStretch {
  const table = files?.tables.get(number)
  if (table === undefined) return EVERYTHING
  return { from: table.smallest.toString('latin1'), to: table.largest.toString('latin1') }
}

/** What the manifest says, or what is wrong with it. */
async function levelFiles(directory: string): Promise<LevelFiles | Fault> {
  try {
    return await readLevelFiles(directory)
  } catch (cause) {
    if (cause instanceof Fault) return cause
    const { code } = cause as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'EIO') throw diskFault(`reading the manifest of ${directory}`, cause)
    return new Fault(
      'LEDGER_CORRUPT',
      code === 'ENOENT' ? 'there is no manifest' : 'the manifest cannot be read',
      cause,
    )
  }
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw diskFault(`reading ${directory}`, cause)
  }
}

async function setAside(directory: string, name: string): Promise<void> {
  try {
    await mkdir(join(directory, LOST), { recursive: true })
    await rename(join(directory, name), join(directory, LOST, name))
  } catch (cause) {
    throw diskFault(`moving ${name} of ${directory} aside`, cause)
  }
}

async function replaceFile(directory: string, name: string, bytes: Buffer): Promise<void> {
  try {
    await writeFile(join(directory, name), bytes, { flag: 'wx' })
  } catch (cause) {
    throw diskFault(`writing what is left of ${name} in ${directory}`, cause)
  }
}

/** Reads one file after the other into the same memory. */
class FileReader {
  readonly #directory: string
  /** To read past the page cache into. */
  readonly #block: Buffer | null
  #memory = Buffer.alloc(0)

  constructor(directory: string, block: Buffer | null = null) {
    this.#directory = directory
    this.#block = block
  }

  /** Good until the next one is read; in words what is wrong with one that cannot be. */
  async read(name: string): Promise<Buffer | string> {
    const path = join(this.#directory, name)
    try {
      const length = this.#block === null ? null : await readPastCache(path, this.#block)
      if (this.#block !== null && length !== null) return this.#block.subarray(0, length)
      const handle = await open(path)
      try {
        const { size } = await handle.stat()
        if (size > FILE_BYTES_MAX) return `it has ${size} bytes, more than LevelDB writes`
        if (this.#memory.length < size) this.#memory = Buffer.allocUnsafeSlow(size)
        for (let at = 0; at < size;) {
          const { bytesRead } = await handle.read(this.#memory, at, size - at, at)
          if (bytesRead === 0) return this.#memory.subarray(0, at)
          at += bytesRead
        }
        return this.#memory.subarray(0, size)
      } finally {
        await handle.close()
      }
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'EIO') return 'the disk cannot give it back'
      throw diskFault(`reading ${path}`, cause)
    }
  }
}
