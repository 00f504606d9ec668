// What agents have told each other, after one of them has lost the end of its journal.
//
//   a   … 48 49 50 ✂ 51 52            b   holds 52 of a          b must not take the 51 that comes for one it has
//   a   settled up to 50              b   … ✂ holds 40 of a      a must tell b once more what it told after 40
//
// A batch that others hold is durable before they hear of it, so they never hold more than there is: where they do, it was lost.

import type { ExchangeState } from '../exchange/index.ts'
import type { PartFinding } from './crawl-inspection.ts'

/** An agent as its journal has it, or will when it is repaired. */
export interface AgentEnd {
  readonly share: string | null
  /** Its first and last batch; 0 where it has none. */
  readonly first: number
  readonly last: number
  readonly exchange: ExchangeState | null
  readonly hasLostEnd: boolean
}

export interface MendedExchange {
  readonly findings: readonly PartFinding[]
  /** By agent, what its next batch must say; null where that is what it said. */
  readonly states: readonly (ExchangeState | null)[]
}

export function mendExchange(agents: readonly AgentEnd[]): MendedExchange {
  const findings: PartFinding[] = []
  const holdsOf = (agent: number, other: number): number => agents[agent]?.exchange?.holds[other] ?? 0
  const hasLost = agents.map(({ last, hasLostEnd }, agent) => {
    const known = Math.max(0, ...agents.map((_, other) => (other === agent ? 0 : holdsOf(other, agent))))
    if (known > last) {
      const what = `its journal ends with batch ${last}, but others hold batch ${known} of it: it has lost its end`
      const remedy = 'the others take what it tells them from there on; pages since then are fetched again'
      findings.push({ share: agents[agent]?.share ?? null, part: 'exchange', state: 'damaged', what, remedy })
    }
    return hasLostEnd || known > last
  })
  const states = agents.map(({ share, first, exchange }, agent): ExchangeState | null => {
    if (exchange === null) return null
    const holds = exchange.holds.map((number, other) => Math.min(number, agents[other]?.last ?? 0))
    let { settled } = exchange
    for (const other of agents.keys()) {
      if (other === agent || hasLost[other] !== true) continue
      const from = holdsOf(other, agent)
      if (settled <= from) continue
      const what = `agent ${other} has lost its end: it is told again what was found for it`
      const gone = from < first - 1 ? `; links found before batch ${first}, and lost by it, are not known any more` : ''
      findings.push({ share, part: 'exchange', state: 'whole', what: `${what}${gone}`, remedy: '' })
      settled = Math.min(settled, Math.max(from, first - 1))
    }
    const isSame = settled === exchange.settled && holds.every((number, other) => number === exchange.holds[other])
    return isSame ? null : { ...exchange, settled, holds }
  })
  return { findings, states }
}
