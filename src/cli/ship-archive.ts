// A crawl's archive on its way to where --archive-to says. Loads what ships only where something is to be shipped.

import { randomBytes } from 'node:crypto'
import { formatDuration, Random, systemClock } from '../base/index.ts'
import type { CrawlConfig } from '../config/index.ts'
import type { CrawlIdentity } from '../ledger/index.ts'
import { type ArchiveFigures, printable } from '../report/index.ts'
import type { Shipping, ShippingEvent } from '../shelf/index.ts'
import { archiveStanding } from '../store/index.ts'

/** Put there when a crawl ends: a reader of the archive needs the index, and pages.jsonl says where everything stands. */
const LAST_FILES = ['archive/index.cdxj', 'pages.jsonl']

export class ArchiveShipment {
  readonly #dir: string
  readonly #config: CrawlConfig
  /** Of a cluster; null where one machine does it all. */
  readonly #node: string | null
  readonly #tell: (line: string) => void
  #shipping: Shipping | null = null
  #isStopped = false
  #figures: ArchiveFigures | null = null

  constructor(dir: string, config: CrawlConfig, node: string | null, tell: (line: string) => void) {
    this.#dir = dir
    this.#config = config
    this.#node = node
    this.#tell = tell
  }

  /** The crawl is open, and its directory ours. Trouble with the shelf is told, and none of the crawl's. */
  async begin(identity: CrawlIdentity): Promise<void> {
    const { shelf: options } = this.#config
    if (options.to === '') return
    const { folderOf, openShelf, Shipping } = await import('../shelf/index.ts')
    const random = new Random(randomBytes(4).readInt32LE())
    const clock = systemClock
    const node = this.#node
    const shelf = await openShelf({ options, folder: folderOf(identity), environment: process.env, clock, random })
    this.#shipping = await Shipping.begin({
      dir: this.#dir,
      shelf,
      keep: options.keep,
      parallel: options.parallel,
      clock,
      random,
      // All nodes of a crawl have one folder there.
      ...(node === null ? {} : { lastName: (file) => file.replace(/\.\w+$/, (ending) => `-${node}${ending}`) }),
      onEvent: (event) => this.#tell(describe(event, shelf.where)),
    })
    if (this.#isStopped) await this.#shipping.stop()
  }

  /** All files of the crawl are as they stay: ships the rest, unless it was stopped. */
  async finish(): Promise<void> {
    if (this.#shipping === null || this.#isStopped) return
    this.#figures = await this.#shipping.finish(LAST_FILES, this.#config.shelf.patience)
  }

  /** Cuts off what is under way; the next run goes on with it. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#shipping?.stop()
  }

  async figures(): Promise<ArchiveFigures> {
    const { shipped, onlyHere, onlyThere, to, missing, trouble } =
      this.#figures ??
      (this.#shipping === null
        ? { ...(await archiveStanding(this.#dir)), to: null, missing: [], trouble: null }
        : await this.#shipping.figures())
    return { to, shipped, onlyHere, onlyThere, missing, trouble }
  }
}

function describe(event: ShippingEvent, where: string): string {
  switch (event.kind) {
    case 'trouble':
      return `The archive cannot be copied to ${printable(where)} (${printable(event.why)}). The crawl goes on, and so do the tries.`
    case 'recovered':
      return `The archive is copied to ${printable(where)} again, after ${formatDuration(Math.round(event.afterMs / 1_000) * 1_000)}.`
  }
}
