// The frontier in memory: the plain one, fast, and the definition of correct for the one on disk.
//
// A host is known for ever once offered (about 300 bytes), because forgetting it would forget its
// rest, its Crawl-delay and its address.

import { assert } from '../base/index.ts'
import type { HostKey } from '../url/index.ts'
import type { FrontierEntry, HostState } from './frontier.ts'
import { FrontierOfHosts } from './frontier-of-hosts.ts'
import { HostLines } from './host-lines.ts'

export class MemoryFrontier extends FrontierOfHosts<HostLines> {
  /** What an earlier run knew. */
  restorePages(key: HostKey, pages: number): void {
    this.hostOf(key).pages = pages
  }

  /** Every entry without a verdict, waiting or out, host by host, in the order it would be handed out. */
  *entries(): Iterable<FrontierEntry> {
    for (const host of this.hosts.values()) {
      yield* host.unconcluded
      yield* host.entries(this.lines)
    }
  }

  /** The state of every host known. */
  *hostStates(): Iterable<HostState> {
    this.bench.advance(this.clock.nowMs())
    for (const host of this.hosts.values()) yield this.stateOf(host)
  }

  protected override makeHost(key: HostKey): HostLines {
    return new HostLines(key)
  }

  override assertSound(): void {
    super.assertSound()
    const counted = this.lines.count + this.entriesOut
    assert(counted === this.waitingCount, `${counted} entries wait or are out, ${this.waitingCount} counted`)
  }
}
