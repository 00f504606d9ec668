// Pages beside the numbered ones: a title, a few links, some filler.

import { Answer } from './answer.ts'
import { NO_FRAME } from './frame.ts'
import type { Host } from './host.ts'
import type { Link, WayKind } from './link.ts'
import { writePage } from './markup.ts'

/** Whatever the mean of the web. */
const SMALL_BYTES = 3_000

export function smallPage(links: readonly Link[], title: string, hash: number): Answer {
  const page = { title, language: 'en', head: '', links, hash, bytes: SMALL_BYTES, isFrameset: false } as const
  return new Answer(200, 'text/html', links, (paper) => {
    writePage({ ...page, frame: NO_FRAME }, paper)
  })
}

export function link(host: Host, path: string, kind: WayKind = 'a'): Link {
  return { kind, href: path, url: host.origin + path, isNofollow: false }
}
