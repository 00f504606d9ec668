export { Crawl, type CrawlPlan, type CrawlSettings, type CrawlSnapshot } from './crawl.ts'
export { CrawlFigures } from './figures.ts'
export { type AgentOptions, agentOptions } from './options.ts'
export { RETRY_TABLE } from './retry-table.ts'
