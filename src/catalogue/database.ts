// The file of a catalogue: SQLite, one connection that writes and one that reads what is committed, so that questions are answered
// between the steps of a long write.
//
//   meta       how far each file was read, and of which crawl it is
//   segments   which pages (by number) the lists of a segment speak of; merged as they become many (segments.ts)
//   postings   segment, key → numbers of pages: of a cell (host, status, type), of a status and type, of a word, of its beginning
//   places     number of a page → where its line begins
//   cells      host, status, type → how many; host 0: all of them
//   axes       names of statuses, types, kinds and reasons
//   hosts      what is counted of a host, with an index for each order
//   tallies    what is counted of the crawl
//
// Pages are collection 1, failures collection 2: they are found the same way, by kind and reason in place of status and type.
//
// Every row that says something has a checksum; SQLite has none of its own.

import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { damagedUnless } from './damaged.ts'

/** Another one is thrown away. */
export const FORMAT = 1

export const PAGES = 1
export const FAILURES = 2
export type Collection = typeof PAGES | typeof FAILURES

const SCHEMA = `
CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE segments(id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
  chunks INTEGER NOT NULL, sum INTEGER NOT NULL);
CREATE TABLE postings(segment INTEGER, key TEXT, first INTEGER, last INTEGER NOT NULL, ids BLOB NOT NULL,
  PRIMARY KEY(segment, key, first)) WITHOUT ROWID;
CREATE TABLE places(collection INTEGER, chunk INTEGER, bytes BLOB NOT NULL, PRIMARY KEY(collection, chunk)) WITHOUT ROWID;
CREATE TABLE axes(collection INTEGER, axis INTEGER, id INTEGER, name TEXT NOT NULL, sum INTEGER NOT NULL,
  PRIMARY KEY(collection, axis, id)) WITHOUT ROWID;
CREATE TABLE cells(collection INTEGER, host INTEGER, a INTEGER, b INTEGER, count INTEGER NOT NULL, sum INTEGER NOT NULL,
  PRIMARY KEY(collection, host, a, b)) WITHOUT ROWID;
CREATE TABLE hosts(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, pages INTEGER NOT NULL, errors INTEGER NOT NULL,
  bytes INTEGER NOT NULL, ms INTEGER NOT NULL, mean INTEGER NOT NULL, sum INTEGER NOT NULL);
CREATE INDEX hosts_by_pages ON hosts(pages, name);
CREATE INDEX hosts_by_errors ON hosts(errors, name);
CREATE INDEX hosts_by_bytes ON hosts(bytes, name);
CREATE INDEX hosts_by_mean ON hosts(mean, name);
CREATE TABLE tallies(kind TEXT, name TEXT, count INTEGER NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY(kind, name)) WITHOUT ROWID;
`

/** Up to this many bytes all of a file is looked at when it is opened: some hundredths of a second. */
export const CHECKED_BYTES_MAX = 16 * 2 ** 20
/** 4 KiB pages: what waits in the log of writes before it is brought into the file, 4 MiB. Whoever asks meanwhile waits for it. */
const WAITING_PAGES = 1_024
const CACHE_KIB_WRITING = 16 * 2 ** 10
const CACHE_KIB_READING = 8 * 2 ** 10

export interface Connections {
  readonly writer: DatabaseSync
  readonly reader: DatabaseSync
}

export function removeDatabase(path: string): void {
  for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${end}`, { force: true })
}

/** An empty one. */
export function createDatabase(path: string): Connections {
  removeDatabase(path)
  const writer = new DatabaseSync(path)
  try {
    writer.exec('PRAGMA page_size = 4096; PRAGMA auto_vacuum = NONE;')
    writer.exec('PRAGMA journal_mode = WAL')
    prepareWriter(writer)
    writer.exec(`BEGIN; ${SCHEMA} PRAGMA user_version = ${FORMAT}; COMMIT;`)
    return { writer, reader: openReader(path) }
  } catch (cause) {
    writer.close()
    throw cause
  }
}

/** One that is there; throws Damaged, or what SQLite says, where it is not one of ours. */
export function openDatabase(path: string, bytes: number): Connections {
  const writer = new DatabaseSync(path)
  try {
    prepareWriter(writer)
    const version = (writer.prepare('PRAGMA user_version').get() as { user_version: number } | undefined)?.user_version
    damagedUnless(version === FORMAT, `format ${version}`)
    if (bytes <= CHECKED_BYTES_MAX) checkWhole(writer)
    return { writer, reader: openReader(path) }
  } catch (cause) {
    writer.close()
    throw cause
  }
}

/** The cache of a connection, when what it was for is done: a thread may keep many catalogues. */
export function releaseMemory(database: DatabaseSync): void {
  database.exec('PRAGMA shrink_memory')
}

function prepareWriter(writer: DatabaseSync): void {
  // NORMAL: after a loss of power the file is as it was after some commit.
  writer.exec(`PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = ${WAITING_PAGES}; PRAGMA cache_size = -${CACHE_KIB_WRITING};
    PRAGMA busy_timeout = 2000; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF;`)
}

function openReader(path: string): DatabaseSync {
  const reader = new DatabaseSync(path)
  reader.exec(`PRAGMA query_only = ON; PRAGMA cache_size = -${CACHE_KIB_READING}; PRAGMA busy_timeout = 2000;
    PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF;`)
  return reader
}

function checkWhole(database: DatabaseSync): void {
  const found = database.prepare('PRAGMA integrity_check(1)').get() as { integrity_check: string } | undefined
  damagedUnless(found?.integrity_check === 'ok', `integrity: ${found?.integrity_check}`)
  const segments = database.prepare('SELECT id, chunks FROM segments').all() as { id: number; chunks: number }[]
  const count = database.prepare('SELECT count(*) AS chunks FROM postings WHERE segment = ?')
  for (const { id, chunks } of segments) {
    damagedUnless((count.get(id) as { chunks: number }).chunks === chunks, `segment ${id} has lost chunks`)
  }
}

/** Of the values of a row. */
export function rowSum(...values: readonly (string | number)[]): number {
  return crc32(values.join('\0'))
}
