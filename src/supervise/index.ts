export { CrawlNode, type NodeCare, type NodeEvent, type NodePlan, USUAL_CARE } from './node.ts'
export { RestartBudget } from './restart-budget.ts'
