// What happens to URLs that are followed, as nodes of a cluster tell it: kept by whoever looks, since they look, among the events of the
// crawl. Nodes keep theirs in their directories.

import type { TraceMessage } from '../supervise/index.ts'
import { printable } from '../report/index.ts'
import type { CrawlEvent } from './api.ts'

const KEPT_MAX = 1_000

export class ClusterTraces {
  #kept: Omit<CrawlEvent, 'number'>[] = []
  #forgotten = 0

  hear(bytes: Uint8Array): void {
    let said: TraceMessage
    try {
      said = JSON.parse(new TextDecoder().decode(bytes)) as TraceMessage
    } catch {
      // Of something else.
      return
    }
    const { url, step, node, share, at } = said
    this.#kept.push({ at, kind: 'trace', text: printable(`${url} ${step} (share ${share}, node ${node}).`) })
    if (this.#kept.length <= KEPT_MAX) return
    this.#kept.shift()
    this.#forgotten++
  }

  /** Events with these among them, numbered in the order of time: numbers that were told stay, and new ones are higher. */
  among(events: readonly CrawlEvent[]): CrawlEvent[] {
    const from = (events[0]?.number ?? 1) + this.#forgotten
    return [...events, ...this.#kept]
      .sort((one, two) => (one.at < two.at ? -1 : one.at > two.at ? 1 : 0))
      .map((event, index) => ({ ...event, number: from + index }))
  }
}
