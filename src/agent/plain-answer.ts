// A robots.txt as it travels from the agent that fetched it to the one that asked for it.

import { type Document, locationOf } from '../document/index.ts'
import type { PlainAnswer } from '../exchange/index.ts'
import { ROBOTS_BYTES_MAX } from '../robots/index.ts'

/** With bytes of its own: it crosses after the document is released, whose memory is another's then. */
export function plainAnswer(document: Document): PlainAnswer {
  const isLong = document.body.length > ROBOTS_BYTES_MAX
  return {
    url: document.url,
    status: document.status,
    location: locationOf(document),
    cacheControl: document.header('cache-control'),
    body: Uint8Array.from(document.body.bytes(ROBOTS_BYTES_MAX)),
    isCut: document.truncated !== null || isLong,
  }
}
