// An answer on its way from the agent that fetched it to the one whose page it is: heads and payload as they came, so that the
// other makes of it what it would have made of it itself.

import { type CarriedAnswer, type Document, FetchedDocument, parseContentType } from '../document/index.ts'
import { headerValues, type Spool, SpooledBody } from '../document/index.ts'
import { decodeContent, parseCodings } from './content-coding.ts'
import type { FetchOptions } from './options.ts'

/** Null where it does not travel: too long, no answer of HTTP, or coded for its way in a manner that only its head knows. */
export function carryAnswer(document: Document, bytesMax: number): CarriedAnswer | null {
  const { httpVersion, wire, rawHeaders } = document
  if (httpVersion === null || wire.length > bytesMax) return null
  if (headerValues(rawHeaders, 'transfer-encoding').some((value) => value.trim().toLowerCase() !== 'chunked'))
    return null
  return {
    url: document.url,
    requestHead: document.requestHead,
    httpVersion,
    status: document.status,
    statusText: document.statusText,
    rawHeaders,
    responseHead: document.responseHead,
    // A copy: the document is released before this is sent.
    wire: Uint8Array.from(wire.bytes()),
    wireTruncated: document.wireTruncated,
    fetchedAtMs: document.fetchedAtMs,
    firstByteMs: document.firstByteMs,
    durationMs: document.durationMs,
    ip: document.ip,
  }
}

/** The document that it was; whoever opens it releases it. */
export async function openAnswer(carried: CarriedAnswer, options: FetchOptions, spool: Spool): Promise<Document> {
  const { wire: bytes, wireTruncated, rawHeaders } = carried
  const wire = SpooledBody.of(bytes, spool)
  const codings = parseCodings(headerValues(rawHeaders, 'content-encoding'))
  const lengthMax = Math.min(options.decodedMax, Math.max(options.ratioFrom, wire.length * options.ratioMax))
  const { body, decoding, isCut } = await decodeContent(wire, codings, spool, lengthMax, wireTruncated === null)
  return new FetchedDocument({
    ...carried,
    contentType: parseContentType(headerValues(rawHeaders, 'content-type')),
    wire,
    body,
    decoding,
    truncated: wireTruncated ?? (isCut ? 'length' : null),
  })
}
