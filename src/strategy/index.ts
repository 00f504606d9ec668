export type { StrategyOptions } from './options.ts'
export { strategyOf } from './strategy-of.ts'
export type { Strategy } from './strategy.ts'
