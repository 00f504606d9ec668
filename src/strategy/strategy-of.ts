import { boundPattern } from '../base/index.ts'
import { BreadthFirst } from './breadth-first.ts'
import type { StrategyOptions } from './options.ts'
import { PriorityRules } from './priority-rules.ts'
import type { Strategy } from './strategy.ts'

/** The strategy that the options ask for. */
export function strategyOf(options: StrategyOptions): Strategy {
  const order = new BreadthFirst()
  if (options.priorities.length === 0) return order
  const rules = options.priorities.map(({ match, band }) => {
    const pattern = boundPattern(match)
    return { matches: (url: string) => pattern.test(url), band }
  })
  return new PriorityRules(rules, order)
}
