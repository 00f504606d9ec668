// file: for corpora on this machine, below the directories that the operator named (--allow-files) and nowhere else.
//
//   file://localhost/dir/page.html   the file
//   file://localhost/dir/            its entries, written as an FTP server would (MLSD), whose links `parse` reads
//   file://localhost/dir             a redirect to the one with the slash
//
// Always true: what is opened lies below one of the directories after all links are followed, and is a plain file or a
// directory. Links from the web never lead here: `agent` refuses them before they are met.

import { constants, realpathSync } from 'node:fs'
import { type FileHandle, open, readdir, realpath } from 'node:fs/promises'
import { Fault, type Clock } from '../../base/index.ts'
import { FetchedDocument, type Spool, SpooledBody, type Truncation } from '../../document/index.ts'
import type { FetchOutcome, FetchRequest, SchemeFetcher } from '../fetcher.ts'
import { mediaTypeOfName } from '../name-types.ts'
import type { FetchOptions } from '../options.ts'
import { TalkEnd } from '../talk-end.ts'
import { TypeFilter } from '../type-filter.ts'

/** The same as that of FTP, in whose words it is written. */
const LISTING_TYPE = 'text/x-ftp-listing'
const READ_BYTES = 64 * 1024
const SLASH = 47
const THIS_MACHINE = '127.0.0.1'

export class FileFetcher implements SchemeFetcher {
  readonly schemes = ['file'] as const
  readonly #options: FetchOptions
  readonly #spool: Spool
  readonly #clock: Clock
  readonly #filter: TypeFilter
  /** With all links followed; each ends with a slash. */
  readonly #roots: readonly Buffer[]
  #isClosed = false

  /** Throws a Fault when a directory is not there. */
  constructor(options: FetchOptions, spool: Spool, clock: Clock) {
    this.#options = options
    this.#spool = spool
    this.#clock = clock
    this.#filter = new TypeFilter(options.acceptTypes, options.rejectTypes)
    this.#roots = options.allowFiles.map(rootOf)
  }

  async fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchOutcome> {
    const startMs = this.#clock.nowMs()
    try {
      return { kind: 'fetched', document: await this.#read(request, signal) }
    } catch (error) {
      if (error instanceof Fault || !(error instanceof Error)) throw error
      const durationMs = this.#clock.nowMs() - startMs
      if (!(error instanceof TalkEnd)) {
        const { code } = error as NodeJS.ErrnoException
        if (code === undefined) throw error
        return { kind: 'failed', code: 'FETCH_NOT_AVAILABLE', detail: code, durationMs }
      }
      const { code, detail } = error
      if (code === 'FETCH_NOT_AVAILABLE' || code === 'FETCH_CONNECTION_LOST') {
        return { kind: 'failed', code, detail, durationMs }
      }
      return { kind: 'skipped', reason: code as 'files-not-allowed', detail }
    }
  }

  /** Nothing is kept between files. */
  forget(): void {}

  async close(): Promise<void> {
    this.#isClosed = true
  }

  async #read(request: FetchRequest, signal: AbortSignal): Promise<FetchedDocument> {
    if (this.#roots.length === 0) throw new TalkEnd('files-not-allowed', '--allow-files names no directory')
    const path = pathOf(request.url)
    const real = await realpath(path, { encoding: 'buffer' })
    if (!this.#isBelowRoot(real)) throw new TalkEnd('files-not-allowed', 'outside the directories of --allow-files')
    // The last name is no link any more; a pipe must not make us wait.
    const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const status = await handle.stat()
      const modified = status.mtime.toUTCString()
      // One name for each: what links lead to is called by its own, and a directory ends with a slash. So no way is endless.
      const own = urlOf(real, status.isDirectory())
      if (own !== urlOf(path, false)) return this.#document(request, null, 301, ['Location', own], null, null)
      if (status.isDirectory()) {
        const body = await this.#listing(real)
        return this.#document(request, body, 200, ['Last-Modified', modified], LISTING_TYPE, null)
      }
      if (!status.isFile()) throw new TalkEnd('FETCH_NOT_AVAILABLE', 'not a plain file')
      const mediaType = mediaTypeOfName(path.toString('latin1'))
      if (request.purpose === 'page' && !this.#filter.wants(mediaType)) {
        throw new TalkEnd('type-filtered', mediaType ?? '')
      }
      if (status.size > this.#options.announcedMax) throw new TalkEnd('size-filtered', `${status.size} bytes`)
      const { body, truncated } = await this.#content(handle, signal)
      return this.#document(request, body, 200, ['Last-Modified', modified], mediaType, truncated)
    } finally {
      await handle.close()
    }
  }

  #isBelowRoot(real: Buffer): boolean {
    return this.#roots.some((root) => {
      const isRoot = real.length === root.length - 1 && root.subarray(0, -1).equals(real)
      return isRoot || real.subarray(0, root.length).equals(root)
    })
  }

  async #content(
    handle: FileHandle,
    signal: AbortSignal,
  ): Promise<{ readonly body: SpooledBody; readonly truncated: Truncation | null }> {
    const body = new SpooledBody(this.#spool, this.#options.bodyMax, 0)
    const piece = Buffer.allocUnsafe(READ_BYTES)
    try {
      for (;;) {
        if (this.#isClosed || signal.aborted) throw new TalkEnd('FETCH_CONNECTION_LOST', 'stopped')
        const { bytesRead } = await handle.read(piece, 0, READ_BYTES, null)
        if (bytesRead === 0) return { body, truncated: null }
        if (body.appendCopy(piece, 0, bytesRead) < bytesRead) return { body, truncated: 'length' }
      }
    } catch (error) {
      body.release()
      throw error
    }
  }

  /** In the order of names, so that the same directory is the same text. A name with a line end cannot be told. */
  async #listing(path: Buffer): Promise<SpooledBody> {
    const entries = await readdir(path, { withFileTypes: true, encoding: 'buffer' })
    const lines = entries
      .map((entry) => ({ entry, name: entry.name.toString('latin1') }))
      .filter(({ name }) => !/[\r\n]/.test(name))
      .map(({ entry, name }) => {
        if (entry.isDirectory()) return `type=dir; ${name}\r\n`
        return entry.isSymbolicLink() ? `type=OS.unix=symlink; ${name}\r\n` : `type=file; ${name}\r\n`
      })
      .toSorted()
    const body = new SpooledBody(this.#spool, this.#options.bodyMax, 0)
    body.append(Buffer.from(lines.join(''), 'latin1'))
    return body
  }

  #document(
    request: FetchRequest,
    given: SpooledBody | null,
    status: number,
    rawHeaders: readonly string[],
    mediaType: string | null,
    truncated: Truncation | null,
  ): FetchedDocument {
    const body = given ?? new SpooledBody(this.#spool, 0, 0)
    body.finish()
    return new FetchedDocument({
      url: request.url,
      requestHead: '',
      httpVersion: null,
      status,
      statusText: '',
      rawHeaders,
      responseHead: null,
      contentType: mediaType === null ? null : { mediaType, charset: null },
      wire: body,
      body,
      decoding: 'none',
      truncated,
      wireTruncated: truncated,
      fetchedAtMs: this.#clock.wallMs(),
      // A disk is nobody's server, and needs no rest in proportion to its work.
      firstByteMs: 0,
      durationMs: 0,
      ip: THIS_MACHINE,
    })
  }
}

function rootOf(directory: string): Buffer {
  try {
    const real = realpathSync(directory, { encoding: 'buffer' })
    return real.at(-1) === SLASH ? real : Buffer.concat([real, Buffer.of(SLASH)])
  } catch (cause) {
    throw new Fault('CONFIG_INVALID', `--allow-files: there is no directory '${directory}'`, cause)
  }
}

/** Bytes: a file system knows no encoding. */
function pathOf(url: string): Buffer {
  const path = url.slice(url.indexOf('/', 'file://'.length))
  const text = path.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  if (text.includes('\0')) throw new TalkEnd('FETCH_NOT_AVAILABLE', 'no file has a NUL in its name')
  return Buffer.from(text, 'latin1')
}

function urlOf(path: Buffer, isDirectory: boolean): string {
  const escaped = path
    .toString('latin1')
    .replaceAll(
      /[^0-9A-Za-z._~/-]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
  return `file://localhost${escaped}${isDirectory && !escaped.endsWith('/') ? '/' : ''}`
}
