export { type CrewCare, USUAL_CARE } from './agent-crew.ts'
export { CrawlNode, type NodeEvent, type NodePlan } from './node.ts'
export { RestartBudget } from './restart-budget.ts'
