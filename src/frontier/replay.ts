// What the journal says happened after the checkpoint, gathered host by host until all of it is told.
//
// A URL waits once at most, so a verdict is for the one that was offered last: either in this replay, then it is as if it
// never had been, or before, then it is on disk. What comes back after a verdict goes to the end of its line.

import type { CanonicalUrl, HostKey } from '../url/index.ts'
import type { DiskHost } from './disk-host.ts'
import type { EntryLines } from './entry-lines.ts'
import type { FrontierEntry } from './frontier.ts'
import type { GuardedStore } from './guarded-store.ts'
import type { HostReader } from './host-reader.ts'
import { Segment } from './segment.ts'

interface ReplayedHost {
  /** In the order of their lines. */
  readonly offered: Map<CanonicalUrl, FrontierEntry>
  /** On disk, and done with. */
  readonly omitted: Set<CanonicalUrl>
  pages: number
  restMs: number
  /** It was offered something, if only what has its verdict by now. */
  wasOffered: boolean
}

export class Replay {
  readonly hosts = new Map<HostKey, ReplayedHost>()

  offer(entry: FrontierEntry): void {
    const host = this.#hostOf(entry.host)
    host.wasOffered = true
    host.offered.set(entry.url, entry)
  }

  omit(key: HostKey, url: CanonicalUrl, isPage: boolean): void {
    const host = this.#hostOf(key)
    if (isPage) host.pages++
    if (!host.offered.delete(url)) host.omitted.add(url)
  }

  rest(key: HostKey, restMs: number): void {
    const host = this.#hostOf(key)
    host.restMs = Math.max(host.restMs, restMs)
  }

  #hostOf(key: HostKey): ReplayedHost {
    let host = this.hosts.get(key)
    if (host === undefined) {
      host = { offered: new Map(), omitted: new Set(), pages: 0, restMs: 0, wasOffered: false }
      this.hosts.set(key, host)
    }
    return host
  }
}

/**
 * Takes URLs that have their verdict out of the lines of a host, which is at hand; returns how many. They were taken
 * shortly before the end, so they are near the front, and no more is read than up to the last of them.
 */
export async function omitStored(
  host: DiskHost,
  urls: ReadonlySet<CanonicalUrl>,
  lines: EntryLines,
  reader: HostReader,
  store: GuardedStore,
): Promise<number> {
  const sought = new Set(urls)
  for (let line = host.best; line !== null && sought.size > 0; line = line.worse) {
    const segments = [...line.segments()]
    line.first = null
    line.last = null
    for (const segment of segments) {
      segment.next = null
      if (sought.size === 0) {
        line.append(segment)
        continue
      }
      const entries = segment.isUnread
        ? await reader.readWhole(host.key, segment)
        : [...lines.entries(segment, host.key)]
      const kept = entries.filter((entry) => !sought.delete(entry.url))
      if (kept.length === entries.length) {
        line.append(segment)
        continue
      }
      lines.keepFirst(segment, 0)
      lines.charged -= segment.cost
      if (segment.block > 0) host.spent.push({ band: line.band, block: segment.block })
      line.waiting -= entries.length - kept.length
      host.waiting -= entries.length - kept.length
      if (kept.length === 0) continue
      const rest = new Segment(line.band)
      lines.charged += rest.cost
      for (const entry of kept) lines.push(rest, entry)
      line.append(rest)
    }
  }
  host.dropEmptyLines()
  for (const url of sought) throw store.damaged(`${url} has its verdict, but did not wait`)
  return urls.size
}
