// How fast the agents of a crawl may go: what was said for all of them is shared out, and kept for those that are started again.

import { type CrawlSettings, openFilesAllowed, planSockets, shareOfSpeed, type Speed } from '../agent/index.ts'
import { Fault } from '../base/index.ts'

export class Speeds {
  readonly #openFiles: number
  /** By agent: what was changed since the start. */
  readonly #changes: Partial<Speed>[]

  constructor(agents: number, openFiles = openFilesAllowed()) {
    this.#openFiles = openFiles
    this.#changes = Array.from({ length: agents }, () => ({}))
  }

  /** Settings with as many connections as the system allows: sockets are files. */
  affordable(settings: CrawlSettings, onWarning: (what: string) => void): CrawlSettings {
    const { agent, fetch } = settings
    const plan = planSockets(agent.connections, fetch.connectionsKept, this.#openFiles)
    if (plan.warning !== null) onWarning(plan.warning)
    const { connections, connectionsKept } = plan
    return { ...settings, agent: { ...agent, connections }, fetch: { ...fetch, connectionsKept } }
  }

  /**
   * Takes note of other limits: of the crawl, which its agents share; or of one agent, to whom they belong whole.
   * Returns what each that is concerned must be told. Throws a Fault where a limit is none.
   */
  change(change: Partial<Speed>, agent: number | null): ReadonlyMap<number, Partial<Speed>> {
    for (const [name, value] of Object.entries(change)) {
      const isLimit = (typeof value === 'number' && value > 0) || (value === null && name !== 'connections')
      const isWhole = name !== 'connections' || Number.isInteger(value)
      if (!isLimit || !isWhole) throw new Fault('CONFIG_INVALID', `${name} cannot be ${value}`)
    }
    const { connections } = change
    const allowed =
      connections === undefined
        ? change
        : { ...change, connections: planSockets(connections, 0, this.#openFiles).connections }
    const told = new Map<number, Partial<Speed>>()
    for (const [one, before] of this.#changes.entries()) {
      if (agent !== null && agent !== one) continue
      const own = agent === null ? shareOfSpeed(allowed, this.#changes.length, one) : allowed
      this.#changes[one] = { ...before, ...own }
      told.set(one, own)
    }
    return told
  }

  /** All that an agent must hear when it is started again. */
  of(agent: number): Partial<Speed> {
    return this.#changes[agent] ?? {}
  }
}
