// The index of the archive: one line per response or revisit record, as pywb and warcio write it.
//
//    com,example)/path 20260101000000 {"url":…,"mime":…,"status":"200","digest":…,"length":"…","offset":"…","filename":…}
//
// Lines are appended as records are, unsorted, and sorted into `archive/index.cdxj` when the crawl ends.
// The key is the SURT of the URL; `filename` is relative to the archive's folder, where the index stands.

import { AppendFile, sortLines } from '../disk/index.ts'
import type { Document } from '../document/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { type ArchiveFacts, isRevisit } from './archive.ts'
import type { WarcLocation } from './records.ts'

export interface CdxjSettings {
  /** Where the unsorted lines are kept. */
  readonly path: string
  readonly surt: (url: CanonicalUrl) => string
  readonly committedLength?: number
}

export class CdxjWriter {
  readonly #file: AppendFile
  readonly #surt: (url: CanonicalUrl) => string
  #lastSecond = Number.NaN
  #lastStamp = ''
  #lastFile = ''
  #lastFileQuoted = ''

  private constructor(file: AppendFile, surt: (url: CanonicalUrl) => string) {
    this.#file = file
    this.#surt = surt
  }

  static async open({ path, surt, committedLength }: CdxjSettings): Promise<CdxjWriter> {
    return new CdxjWriter(await AppendFile.open(path, committedLength === undefined ? {} : { committedLength }), surt)
  }

  /** To be committed once sync() has resolved. */
  get length(): number {
    return this.#file.length
  }

  get needsDrain(): boolean {
    return this.#file.needsDrain
  }

  append(document: Document, facts: ArchiveFacts, location: WarcLocation): void {
    const mime = isRevisit(document, facts) ? 'warc/revisit' : (document.mediaType ?? 'unk')
    // Written out, because most of its parts cannot need escaping.
    this.#file.append(
      `${this.#surt(document.url)} ${this.#stampOf(document.fetchedAtMs)} {"url":${quoted(document.url)},"mime":${mime === 'text/html' ? '"text/html"' : quoted(mime)},` +
        `"status":"${document.status}","digest":"${facts.payloadDigest}","length":"${location.length}",` +
        `"offset":"${location.offset}","filename":${this.#nameOf(location.file)}}\n`,
    )
  }

  /** Fourteen digits. Pages come many to a second, so the last answer is kept. */
  #stampOf(wallMs: number): string {
    const second = Math.floor(wallMs / 1_000)
    if (second !== this.#lastSecond) {
      this.#lastSecond = second
      this.#lastStamp = new Date(second * 1_000).toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)
    }
    return this.#lastStamp
  }

  /** The name of a file as JSON, without its folder. Thousands of records stand in one. */
  #nameOf(file: string): string {
    if (file !== this.#lastFile) {
      this.#lastFile = file
      this.#lastFileQuoted = quoted(file.slice(file.lastIndexOf('/') + 1))
    }
    return this.#lastFileQuoted
  }

  drained(): Promise<void> {
    return this.#file.drained()
  }

  sync(): Promise<void> {
    return this.#file.sync()
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}

/** A JSON string. */
function quoted(text: string): string {
  return /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/.test(text) ? `"${text}"` : JSON.stringify(text)
}

/** Sorts the lines of all agents into one index, without those of files that are lost. The inputs stay, so that a crawl can go on. */
export async function sortCdxj(
  inputs: readonly string[],
  output: string,
  lostFiles: ReadonlySet<string> = new Set(),
): Promise<void> {
  if (lostFiles.size === 0) return void (await sortLines(inputs, output))
  // The name stands last in a line, and names are plain ASCII.
  const lost = new Set([...lostFiles].map((file) => quoted(file.slice(file.lastIndexOf('/') + 1))))
  const keeps = (line: string): boolean => !lost.has(/"filename":("[^"]*")\}$/.exec(line.trimEnd())?.[1] ?? '')
  await sortLines(inputs, output, { keeps })
}
