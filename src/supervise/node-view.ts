// The crawl's own pages.jsonl and failures.jsonl, brought to what its agents have committed: while they work, and whole when they
// have closed.

import { CrawlView, lookAtCommits, type ShareCommit } from '../view/index.ts'
import type { AgentStatus } from './agent-messages.ts'

export class NodeView {
  readonly #dir: string
  /** By agent, inside of the directory. */
  readonly #names: readonly string[]
  readonly #view: CrawlView
  #advancing: Promise<void> | null = null

  private constructor(dir: string, names: readonly string[], view: CrawlView) {
    this.#dir = dir
    this.#names = names
    this.#view = view
  }

  static async open(dir: string, names: readonly string[]): Promise<NodeView> {
    return new NodeView(dir, names, await CrawlView.open(dir))
  }

  /** Brings the files to what the agents said last. Nothing is done while that is not known of all. */
  async advance(statuses: readonly (AgentStatus | null)[]): Promise<void> {
    const commits: Record<string, ShareCommit> = {}
    for (const [agent, name] of this.#names.entries()) {
      const status = statuses[agent] ?? null
      if (status === null) return
      commits[name] = { pages: status.pagesLength, failures: status.failures }
    }
    await this.#view.advance(commits)
  }

  /** The same beside everything else, unless it is being done. */
  advanceSoon(statuses: readonly (AgentStatus | null)[], onFault: (fault: unknown) => void): void {
    this.#advancing ??= this.advance(statuses)
      .catch(onFault)
      .finally(() => {
        this.#advancing = null
      })
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await this.#advancing
  }

  /** All agents have closed: the files have what their journals say. */
  async finish(): Promise<void> {
    await this.#advancing
    await this.#view.advance(await lookAtCommits(this.#dir))
  }

  close(): Promise<void> {
    return this.#view.close()
  }
}
