// The stores that are compared, each behind the few calls the ledger needs. They are loaded from a
// folder outside the repository: none of them is a dependency until it is chosen.

import { createRequire } from 'node:module'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Random } from '../../src/base/index.ts'
import { FramedLog } from '../../src/disk/index.ts'

export interface Operation {
  readonly key: Buffer
  /** Null deletes. */
  readonly value: Buffer | null
}

export interface Store {
  /** Atomic, and durable when it resolves, as far as the store can do that. */
  commit(batch: readonly Operation[]): Promise<void>
  /** One request for many keys, as a refill would ask; how many were found. */
  getMany(keys: readonly Buffer[]): Promise<number>
  /** Up to `limit` entries from `from` on, below `to`. */
  scan(from: Buffer, to: Buffer, limit: number): Promise<Operation[]>
  /** Brings the files to the size they would have at rest, in `copy` where the store cannot do it in place. */
  compact(copy: string): Promise<void>
  close(): Promise<void>
}

export const STORE_NAMES = ['framed-log', 'classic-level', 'rocksdb-native', 'rocksdb-native+flush', 'lmdb'] as const
export type StoreName = (typeof STORE_NAMES)[number]

interface Level {
  open(): Promise<void>
  batch(operations: readonly object[], options: object): Promise<void>
  getMany(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]>
  iterator(options: object): { all(): Promise<[Buffer, Buffer][]> }
  compactRange(from: Buffer, to: Buffer): Promise<void>
  close(): Promise<void>
}

interface Rocks {
  ready(): Promise<void>
  write(): {
    tryPut(key: Buffer, value: Buffer): void
    tryDelete(key: Buffer): void
    flush(): Promise<void>
    destroy(): void
  }
  read(): { get(key: Buffer): Promise<Buffer | null>; flush(): Promise<void>; destroy(): void }
  iterator(range: object): AsyncIterable<{ key: Buffer; value: Buffer }>
  flush(): Promise<void>
  compactRange(): Promise<void>
  close(): Promise<void>
}

interface Lmdb {
  batch(work: () => void): Promise<boolean>
  put(key: Buffer, value: Buffer): Promise<boolean>
  remove(key: Buffer): Promise<boolean>
  readonly flushed: Promise<void>
  getBinary(key: Buffer): Buffer | undefined
  getRange(options: object): Iterable<{ key: Buffer; value: Buffer }>
  backup(path: string, compact: boolean): Promise<void>
  close(): Promise<void>
}

const LOWEST = Buffer.alloc(1)
const HIGHEST = Buffer.alloc(24, 0xff)

async function openLevel(modules: string, path: string, writeBufferSize: number): Promise<Store> {
  const { ClassicLevel } = createRequire(join(modules, 'x.js'))('classic-level') as {
    ClassicLevel: new (path: string, options: object) => Level
  }
  const db = new ClassicLevel(path, { keyEncoding: 'buffer', valueEncoding: 'buffer', writeBufferSize })
  await db.open()
  return {
    commit: (batch) =>
      db.batch(
        batch.map(({ key, value }) => (value === null ? { type: 'del', key } : { type: 'put', key, value })),
        { sync: true },
      ),
    getMany: async (keys) => (await db.getMany(keys)).filter((value) => value !== undefined).length,
    scan: async (gte, lt, limit) =>
      (await db.iterator({ gte, lt, limit }).all()).map(([key, value]) => ({ key, value })),
    compact: () => db.compactRange(LOWEST, HIGHEST),
    close: () => db.close(),
  }
}

/** Its writes cannot ask for a sync. `isFlushed` empties the memory table into a synced file after each batch instead. */
async function openRocks(modules: string, path: string, writeBufferSize: number, isFlushed: boolean): Promise<Store> {
  const RocksDB = createRequire(join(modules, 'x.js'))('rocksdb-native') as new (path: string, options: object) => Rocks
  const db = new RocksDB(path, { writeBufferSize })
  await db.ready()
  return {
    async commit(batch) {
      const write = db.write()
      for (const { key, value } of batch) {
        if (value === null) write.tryDelete(key)
        else write.tryPut(key, value)
      }
      await write.flush()
      write.destroy()
      if (isFlushed) await db.flush()
    },
    async getMany(keys) {
      const read = db.read()
      const values = keys.map((key) => read.get(key))
      await read.flush()
      read.destroy()
      return (await Promise.all(values)).filter((value) => value !== null).length
    },
    async scan(gte, lt, limit) {
      const found: Operation[] = []
      const capacity = Math.min(limit, 4_096)
      for await (const { key, value } of db.iterator({ gte, lt, limit, capacity })) found.push({ key, value })
      return found
    },
    compact: () => db.compactRange(),
    close: () => db.close(),
  }
}

function openLmdb(modules: string, path: string): Store {
  const lmdb = createRequire(join(modules, 'x.js'))('lmdb') as { open(options: object): Lmdb }
  const db = lmdb.open({ path, keyEncoding: 'binary', encoding: 'binary', cache: false, mapSize: 64 * 2 ** 30 })
  return {
    async commit(batch) {
      await db.batch(() => {
        for (const { key, value } of batch) {
          if (value === null) void db.remove(key)
          else void db.put(key, value)
        }
      })
      await db.flushed
    },
    getMany: async (keys) => keys.reduce((found, key) => found + (db.getBinary(key) === undefined ? 0 : 1), 0),
    scan: async (start, end, limit) =>
      Array.from(db.getRange({ start, end, limit, snapshot: false }), ({ key, value }) => ({ key, value })),
    async compact(copy) {
      mkdirSync(copy)
      await db.backup(copy, true)
    },
    close: () => db.close(),
  }
}

/** Append and sync only: what a batch costs where nothing is looked up. */
async function openFramedLog(path: string): Promise<Store> {
  mkdirSync(path, { recursive: true })
  const log = await FramedLog.open(join(path, 'ledger.log'), { version: 1, random: new Random('bench') })
  return {
    async commit(batch) {
      log.append(packed(batch))
      await log.sync()
    },
    getMany: async () => 0,
    async scan() {
      const found: Operation[] = []
      for await (const frame of log.frames()) unpack(frame, found)
      return found
    },
    compact: async () => {},
    close: () => log.close(),
  }
}

function packed(batch: readonly Operation[]): Buffer {
  let bytes = 0
  for (const { key, value } of batch) bytes += 2 + key.length + (value?.length ?? 0)
  const frame = Buffer.allocUnsafe(bytes)
  let at = 0
  for (const { key, value } of batch) {
    frame[at++] = key.length
    frame[at++] = value === null ? 255 : value.length
    at += key.copy(frame, at)
    if (value !== null) at += value.copy(frame, at)
  }
  return frame
}

function unpack(frame: Buffer, into: Operation[]): void {
  for (let at = 0; at < frame.length;) {
    const keyBytes = frame[at++] as number
    const valueBytes = frame[at++] as number
    const key = frame.subarray(at, (at += keyBytes))
    into.push({ key, value: valueBytes === 255 ? null : frame.subarray(at, (at += valueBytes)) })
  }
}

/** Writes held in memory before they become a table, the same for all stores that have such a thing. */
const WRITE_BUFFER_BYTES = 16 * 2 ** 20

export async function openStore(
  name: StoreName,
  modules: string,
  path: string,
  writeBufferBytes: number = WRITE_BUFFER_BYTES,
): Promise<Store> {
  if (name === 'framed-log') return openFramedLog(path)
  if (name === 'classic-level') return openLevel(modules, path, writeBufferBytes)
  if (name === 'lmdb') return openLmdb(modules, path)
  return openRocks(modules, path, writeBufferBytes, name === 'rocksdb-native+flush')
}
