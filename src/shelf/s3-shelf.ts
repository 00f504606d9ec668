// A shelf that is a bucket of an S3-compatible store.
//
//   digest of the file and of its parts ─▶ is it there already? ─ yes ─▶ done
//                                                └ no, short ─▶ PUT ──────────────────────────────┐
//                                                └ no, long ──▶ upload in parts: begun, or gone on ─▶ complete
//                                                                with where an earlier one stopped │
//                                                                             HEAD: length, digest, ETag ◀┘
//
// Checked three times: the store compares each body with the SHA-256 it was signed with, and with x-amz-checksum-sha256 where
// it knows that; at the end length, ETag and our own digest (x-amz-meta-sha256) are asked for. An object appears whole or
// not at all: S3 promises that of PUT and of completing an upload.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Fault } from '../base/index.ts'
import { digestFile, type FileDigest } from './file-digest.ts'
import { type FilePart, type S3Answer, type S3Client, S3Refusal } from './s3-client.ts'
import { elementsIn, escapeXml, textIn } from './s3-xml.ts'
import type { Putting, Shelf } from './shelf.ts'
import { EMPTY_SHA256 } from './sigv4.ts'

export interface S3ShelfSettings {
  readonly client: S3Client
  readonly bucket: string
  /** Of all keys; '' or with a slash at its end. */
  readonly prefix: string
  /** Files that are longer go in parts of this size. */
  readonly partBytes: number
}

/** S3 takes no more parts than these of one object. */
const PARTS_MAX = 10_000
const LISTED_PAGES_MAX = 20
const SHA256_META = 'x-amz-meta-sha256'

interface Part {
  readonly number: number
  readonly etag: string
}

export class S3Shelf implements Shelf {
  readonly #client: S3Client
  readonly #prefix: string
  readonly #partBytes: number
  readonly where: string

  constructor({ client, bucket, prefix, partBytes }: S3ShelfSettings) {
    this.#client = client
    this.#prefix = prefix
    this.#partBytes = partBytes
    this.where = `s3://${bucket}/${prefix}`
  }

  async put(name: string, path: string, putting: Putting): Promise<{ bytes: number; sha256: string }> {
    const key = `${this.#prefix}${name}`
    const partBytesOf = (bytes: number): number => Math.max(this.#partBytes, Math.ceil(bytes / PARTS_MAX))
    const digest = await digestFile(path, partBytesOf, putting.signal)
    const { bytes, sha256 } = digest
    if (await this.#isThere(key, digest, null, putting)) return { bytes, sha256 }
    const etag =
      digest.parts.length === 1
        ? await this.#putWhole(key, path, digest, putting)
        : await this.#putParts(key, path, digest, partBytesOf(bytes), putting)
    if (await this.#isThere(key, digest, etag, putting)) return { bytes, sha256 }
    throw new Fault('SHELF_DIFFERS', `${this.where}${name} is not what was put there; is somebody else writing it?`)
  }

  async has(name: string, signal: AbortSignal): Promise<boolean> {
    const question = {
      method: 'HEAD',
      key: `${this.#prefix}${name}`,
      headers: {},
      sha256: EMPTY_SHA256,
      signal,
    } as const
    // As above: 403 is said of what is not there to whoever may not list.
    return (await this.#client.ask(question, [200, 404, 403])).status === 200
  }

  close(): void {
    this.#client.close()
  }

  /** Whether the object is this file. `etag`: what the store called it when it took it. */
  async #isThere(key: string, digest: FileDigest, etag: string | null, { signal }: Putting): Promise<boolean> {
    const headers = { 'x-amz-checksum-mode': 'ENABLED' }
    // Who may not list a bucket is told 403 of what is not there.
    const absent = etag === null ? [404, 403] : [404]
    const question = { method: 'HEAD', key, headers, sha256: EMPTY_SHA256, signal } as const
    const answer = await this.#client.ask(question, [200, ...absent])
    if (answer.status !== 200) return false
    if (answer.headers['content-length'] !== String(digest.bytes)) return false
    if (answer.headers[SHA256_META] !== digest.sha256) return false
    // Of an object in parts it may be the digest of their digests, which some stores do not mark.
    const checksum = answer.headers['x-amz-checksum-sha256']
    if (typeof checksum === 'string' && !checksumsOf(digest).includes(checksum)) return false
    return etag === null || etagOf(answer) === etag
  }

  async #putWhole(key: string, path: string, digest: FileDigest, { signal, onBytes }: Putting): Promise<string | null> {
    const answer = await this.#client.ask({
      method: 'PUT',
      key,
      headers: { [SHA256_META]: digest.sha256, ...checksumHeader(digest.parts[0] as Buffer) },
      body: { path, start: 0, end: digest.bytes },
      sha256: digest.sha256,
      signal,
      onBytes,
    })
    return etagOf(answer)
  }

  async #putParts(
    key: string,
    path: string,
    digest: FileDigest,
    partBytes: number,
    putting: Putting,
  ): Promise<string | null> {
    const { signal } = putting
    const { uploadId, parts: known } = await this.#goOn(key, path, digest, partBytes, putting)
    const parts: Part[] = []
    for (let number = 1; number <= digest.parts.length; number++) {
      const etag = known.get(number) ?? (await this.#putPart(key, uploadId, number, path, digest, partBytes, putting))
      if (etag === null) throw new Fault('SHELF_REFUSED', `${this.where}: part ${number} got no ETag`)
      parts.push({ number, etag })
    }
    const body = completion(parts, digest)
    try {
      const answer = await this.#client.ask({
        method: 'POST',
        key,
        query: [['uploadId', uploadId]],
        headers: { 'content-type': 'application/xml' },
        body,
        sha256: createHash('sha256').update(body).digest('hex'),
        signal,
      })
      return plainEtag(textIn(answer.text, 'ETag'))
    } catch (fault) {
      signal.throwIfAborted()
      // It may have been done although we were not told.
      if (await this.#isThere(key, digest, null, putting)) return null
      throw fault
    }
  }

  async #putPart(
    key: string,
    uploadId: string,
    number: number,
    path: string,
    digest: FileDigest,
    partBytes: number,
    { signal, onBytes }: Putting,
  ): Promise<string | null> {
    const sha256 = digest.parts[number - 1] as Buffer
    const answer = await this.#client.ask({
      method: 'PUT',
      key,
      query: [
        ['partNumber', String(number)],
        ['uploadId', uploadId],
      ],
      headers: checksumHeader(sha256),
      body: partOf(path, number, partBytes, digest.bytes),
      sha256: sha256.toString('hex'),
      signal,
      onBytes,
    })
    return etagOf(answer)
  }

  /** The upload of an earlier attempt with the parts that are good, or a new one. Others of this key are given up. */
  async #goOn(
    key: string,
    path: string,
    digest: FileDigest,
    partBytes: number,
    putting: Putting,
  ): Promise<{ uploadId: string; parts: ReadonlyMap<number, string> }> {
    const { signal } = putting
    const [last, ...others] = (await this.#uploadsOf(key, signal)).toReversed()
    for (const uploadId of others) await this.#abort(key, uploadId, signal)
    if (last !== undefined) {
      const parts = await this.#partsOf(key, last, path, digest, partBytes, signal)
      if (parts !== null) return { uploadId: last, parts }
      await this.#abort(key, last, signal)
    }
    const answer = await this.#client.ask({
      method: 'POST',
      key,
      query: [['uploads', '']],
      headers: { [SHA256_META]: digest.sha256, 'x-amz-checksum-algorithm': 'SHA256' },
      sha256: EMPTY_SHA256,
      signal,
    })
    const uploadId = textIn(answer.text, 'UploadId')
    if (uploadId === null) throw new Fault('SHELF_REFUSED', `${this.where} begins an upload and gives it no name`)
    return { uploadId, parts: new Map() }
  }

  /** Oldest first. None where we may not ask, or the store cannot tell: then what an earlier run has begun is not gone on with. */
  async #uploadsOf(key: string, signal: AbortSignal): Promise<string[]> {
    try {
      const query = [
        ['prefix', key],
        ['uploads', ''],
      ] as const
      const { text } = await this.#client.ask({ method: 'GET', key: null, query, sha256: EMPTY_SHA256, signal })
      return elementsIn(text, 'Upload')
        .filter((upload) => textIn(upload, 'Key') === key)
        .sort((a, b) => ((textIn(a, 'Initiated') ?? '') < (textIn(b, 'Initiated') ?? '') ? -1 : 1))
        .flatMap((upload) => textIn(upload, 'UploadId') ?? [])
    } catch (fault) {
      if (fault instanceof S3Refusal && (fault.status < 500 || fault.status === 501)) return []
      throw fault
    }
  }

  /**
   * Parts that hold what the file has there. Null where the upload is gone. One that was begun for other bytes of this name
   * (the file was taken back and written again) has other parts, and all are put anew; but its object would bear the digest of
   * that time, so it is given up by whoever finds none.
   */
  async #partsOf(
    key: string,
    uploadId: string,
    path: string,
    digest: FileDigest,
    partBytes: number,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<number, string> | null> {
    const good = new Map<number, string>()
    let marker = '0'
    for (let page = 0; page < LISTED_PAGES_MAX; page++) {
      let text: string
      try {
        const query = [
          ['part-number-marker', marker],
          ['uploadId', uploadId],
        ] as const
        text = (await this.#client.ask({ method: 'GET', key, query, sha256: EMPTY_SHA256, signal })).text
      } catch (fault) {
        if (fault instanceof S3Refusal && (fault.status < 500 || fault.status === 501)) return null
        throw fault
      }
      for (const part of elementsIn(text, 'Part')) {
        const number = Number(textIn(part, 'PartNumber'))
        const etag = plainEtag(textIn(part, 'ETag'))
        const sha256 = digest.parts[number - 1]
        // All or nothing: parts of other bytes mean that it is an upload of another file.
        if (sha256 === undefined || etag === null) return null
        const stretch = partOf(path, number, partBytes, digest.bytes)
        const isWhole = Number(textIn(part, 'Size')) === stretch.end - stretch.start
        const checksum = textIn(part, 'ChecksumSHA256')
        const isSame =
          isWhole && (checksum === null ? etag === (await md5Of(stretch)) : checksum === sha256.toString('base64'))
        if (!isSame) return null
        good.set(number, etag)
      }
      if (textIn(text, 'IsTruncated') !== 'true') break
      marker = textIn(text, 'NextPartNumberMarker') ?? ''
      if (marker === '') break
    }
    return good.size === 0 ? null : good
  }

  /** Its parts take room that is paid for. What cannot be given up is for the rules of the bucket to clear away. */
  async #abort(key: string, uploadId: string, signal: AbortSignal): Promise<void> {
    try {
      const query = [['uploadId', uploadId]] as const
      await this.#client.ask({ method: 'DELETE', key, query, sha256: EMPTY_SHA256, signal }, [200, 204, 404])
    } catch (fault) {
      if (!(fault instanceof S3Refusal)) throw fault
    }
  }
}

function partOf(path: string, number: number, partBytes: number, bytes: number): FilePart {
  const start = (number - 1) * partBytes
  return { path, start, end: Math.min(bytes, start + partBytes) }
}

function checksumHeader(sha256: Buffer): Record<string, string> {
  return { 'x-amz-checksum-sha256': sha256.toString('base64') }
}

function checksumsOf(digest: FileDigest): string[] {
  const whole = Buffer.from(digest.sha256, 'hex').toString('base64')
  if (digest.parts.length === 1) return [whole]
  const ofParts = createHash('sha256').update(Buffer.concat(digest.parts)).digest('base64')
  return [whole, ofParts, `${ofParts}-${digest.parts.length}`]
}

function completion(parts: readonly Part[], digest: FileDigest): string {
  const rows = parts.map(({ number, etag }) => {
    const sha256 = (digest.parts[number - 1] as Buffer).toString('base64')
    return `<Part><ETag>"${escapeXml(etag)}"</ETag><ChecksumSHA256>${sha256}</ChecksumSHA256><PartNumber>${number}</PartNumber></Part>`
  })
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${rows.join('')}</CompleteMultipartUpload>`
}

function etagOf({ headers }: S3Answer): string | null {
  return plainEtag(headers.etag ?? null)
}

function plainEtag(etag: string | null): string | null {
  return etag === null ? null : etag.replaceAll('"', '')
}

async function md5Of({ path, start, end }: FilePart): Promise<string> {
  const digest = createHash('md5')
  for await (const piece of createReadStream(path, { start, end: end - 1 })) digest.update(piece as Buffer)
  return digest.digest('hex')
}
