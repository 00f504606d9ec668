// All of them, by name. Names are those under which others know the case, where there are such.

import type { Behaviour } from './behaviour.ts'
import { CHUNKS } from './chunks.ts'
import { CONNECTIONS } from './connections.ts'
import { CONTENT_CODINGS } from './content-codings.ts'
import { COOKIES } from './cookies.ts'
import { HEADERS } from './headers.ts'
import { HTTP2 } from './http2.ts'
import { LENGTHS } from './lengths.ts'
import { REDIRECTS } from './redirects.ts'
import { SIZES_AND_TIMES } from './sizes-and-times.ts'
import { STATUS_LINES } from './status-lines.ts'
import { TLS } from './tls.ts'

export const BEHAVIOURS: ReadonlyMap<string, Behaviour> = new Map(
  [
    STATUS_LINES,
    HEADERS,
    LENGTHS,
    CHUNKS,
    SIZES_AND_TIMES,
    CONTENT_CODINGS,
    REDIRECTS,
    COOKIES,
    CONNECTIONS,
    TLS,
    HTTP2,
  ].flatMap((some) => Object.entries(some)),
)
